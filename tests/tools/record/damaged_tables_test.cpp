// A program whose unwind tables are damaged runs recorded as it runs alone; its stacks end early.
#include <elf.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "recording.hpp"

namespace acre::tool {
namespace {

namespace fs = std::filesystem;

/// Bytes of a program's file, from the head of its unwind tables to the end of the segment that has them.
class program_copy {
public:
    explicit program_copy(const fs::path& from) {
        std::ifstream file{from, std::ios::binary};
        bytes_.assign(std::istreambuf_iterator<char>{file}, {});
        const auto head = at<Elf64_Ehdr>(0);
        for (std::size_t i = 0; i < head.e_phnum; ++i) {
            const std::size_t place = head.e_phoff + i * sizeof(Elf64_Phdr);
            if (at<Elf64_Phdr>(place).p_type == PT_GNU_EH_FRAME) segment_ = place;
        }
        tables_ = at<Elf64_Phdr>(segment_).p_offset;
        for (std::size_t i = 0; i < head.e_phnum; ++i) {
            const auto each = at<Elf64_Phdr>(head.e_phoff + i * sizeof(Elf64_Phdr));
            const bool has_tables = each.p_offset <= tables_ && tables_ < each.p_offset + each.p_filesz;
            if (each.p_type == PT_LOAD && has_tables) end_ = each.p_offset + each.p_filesz;
        }
    }

    std::size_t tables() const { return tables_; }
    std::size_t end() const { return end_; }

    template <typename T>
    T at(std::size_t place) const {
        T value;
        std::memcpy(&value, bytes_.data() + place, sizeof value);
        return value;
    }
    template <typename T>
    void put(std::size_t place, T value) {
        std::memcpy(bytes_.data() + place, &value, sizeof value);
    }
    void fill(std::size_t begin, std::size_t end, char with) {
        std::fill(bytes_.data() + begin, bytes_.data() + end, with);
    }

    /// The tables are said to be at an address of the program that it does not have.
    void move_tables(std::uint64_t address) {
        auto moved = at<Elf64_Phdr>(segment_);
        moved.p_vaddr = address;
        put(segment_, moved);
    }

    void write(const fs::path& to) const {
        std::ofstream{to, std::ios::binary} << bytes_;
        fs::permissions(to, fs::perms::owner_all);
    }

private:
    std::string bytes_;
    std::size_t segment_ = 0;  // the place of the program header of the tables
    std::size_t tables_ = 0;
    std::size_t end_ = 0;
};

class damaged_tables : public recording {
protected:
    void expect_no_harm(const program_copy& program) {
        const fs::path path = directory_.path() / "damaged";
        program.write(path);
        ASSERT_EQ(::system(path.c_str()), 0);
        const loaded_trace trace = run({path});
        EXPECT_EQ(result_.exit_status, 0);
        EXPECT_EQ(trace.allocations(7'654'321), 1u);
        EXPECT_EQ(trace.frees(7'654'321), 1u);
        for (const event& each : trace.events) EXPECT_FALSE(trace.stack_of(each).empty());
    }

    program_copy program_{INLINED};
    std::mt19937 random_{16};
};

TEST_F(damaged_tables, of_one_byte_repeated) {
    for (const char byte : {'\0', '\1', '\x3b', '\x7f', '\xff'}) {
        program_copy damaged = program_;
        damaged.fill(damaged.tables(), damaged.end(), byte);
        expect_no_harm(damaged);
        damaged = program_;
        damaged.fill(damaged.tables() + 12, damaged.end(), byte);  // behind a valid head
        expect_no_harm(damaged);
    }
}

TEST_F(damaged_tables, of_random_bytes) {
    for (int i = 0; i < 6; ++i) {
        program_copy damaged = program_;
        for (std::size_t at = damaged.tables() + (i % 2 == 0 ? 0 : 12); at < damaged.end(); ++at) {
            damaged.put(at, static_cast<char>(random_()));
        }
        expect_no_harm(damaged);
    }
}

TEST_F(damaged_tables, with_a_huge_count) {
    for (const std::uint32_t count : {0x7fff'ffffu, 0xffff'ffffu}) {
        program_copy damaged = program_;
        damaged.put(damaged.tables() + 8, count);
        expect_no_harm(damaged);
        damaged.put(damaged.tables() + 2, std::uint8_t{0});  // a count of 8 bytes, half of them offsets
        expect_no_harm(damaged);
    }
}

TEST_F(damaged_tables, that_lead_out_of_the_program) {
    for (const std::uint32_t offset : {0x7fff'fff0u, 0x8000'0000u, 0xffff'0000u}) {
        program_copy damaged = program_;
        const auto count = damaged.at<std::uint32_t>(damaged.tables() + 8);
        for (std::size_t i = 0; i < count; ++i) damaged.put(damaged.tables() + 16 + i * 8, offset);
        expect_no_harm(damaged);
    }
}

TEST_F(damaged_tables, that_are_not_in_the_program) {
    for (const std::uint64_t address :
         {std::uint64_t{0x7000'0000}, ~std::uint64_t{0} - 0xfff, std::uint64_t{1} << 62}) {
        program_copy damaged = program_;
        damaged.move_tables(address);
        expect_no_harm(damaged);
    }
}

}  // namespace
}  // namespace acre::tool

// Unwind tables of any content, cut off anywhere, are read without a fault and in bounded time.
#include "record/preload/unwind_rule.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>

#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace {

using acre::recorder::find_unwind_rule;
using acre::recorder::module_memory;
using acre::recorder::readable_pages;
using acre::recorder::unwind_rule;

constexpr std::size_t page = 4096;

bool same(const unwind_rule& a, const unwind_rule& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// The first byte of this program's .eh_frame_hdr, and all that follows in its segment, above all .eh_frame.
std::span<const std::uint8_t> tables_of_this_program() {
    std::span<const std::uint8_t> found;
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* out) {
            const std::span segments{module->dlpi_phdr, module->dlpi_phnum};
            std::uintptr_t header = 0;
            for (const auto& each : segments) {
                if (each.p_type == PT_GNU_EH_FRAME) header = module->dlpi_addr + each.p_vaddr;
            }
            for (const auto& each : segments) {
                const std::uintptr_t begin = module->dlpi_addr + each.p_vaddr;
                if (each.p_type != PT_LOAD || header < begin || header >= begin + each.p_filesz) continue;
                *static_cast<std::span<const std::uint8_t>*>(out) = {reinterpret_cast<const std::uint8_t*>(header),
                                                                     begin + each.p_filesz - header};
            }
            return 1;  // the program is the first
        },
        &found);
    return found;
}

/// A copy of tables that ends where a page that cannot be read begins.
class copied_tables {
public:
    explicit copied_tables(std::span<const std::uint8_t> from)
        : bytes_((from.size() + page - 1) / page * page), size_(from.size()) {
        void* mapped = ::mmap(nullptr, bytes_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) throw std::bad_alloc{};
        memory_ = static_cast<std::uint8_t*>(mapped);
        ::mprotect(memory_ + bytes_, page, PROT_NONE);
        std::memcpy(header(), from.data(), size_);
    }
    ~copied_tables() { ::munmap(memory_, bytes_ + page); }
    copied_tables(const copied_tables&) = delete;
    copied_tables& operator=(const copied_tables&) = delete;

    std::uint8_t* header() { return memory_ + bytes_ - size_; }
    std::size_t size() const { return size_; }

    /// The rule at an offset from the header. The module has the page that cannot be read, as a module with a hole has.
    unwind_rule rule_at(std::int64_t offset) {
        const auto at = reinterpret_cast<std::uintptr_t>(header());
        module_memory memory{pages_, reinterpret_cast<std::uintptr_t>(memory_),
                             reinterpret_cast<std::uintptr_t>(memory_) + bytes_ + page};
        return find_unwind_rule(memory, at, at + static_cast<std::uintptr_t>(offset));
    }

    /// The same, where the module has all addresses.
    unwind_rule rule_anywhere(std::int64_t offset) {
        const auto at = reinterpret_cast<std::uintptr_t>(header());
        module_memory memory{pages_, 0, ~std::uintptr_t{0}};
        return find_unwind_rule(memory, at, at + static_cast<std::uintptr_t>(offset));
    }

private:
    std::size_t bytes_;
    std::size_t size_;
    std::uint8_t* memory_ = nullptr;
    readable_pages pages_{};
};

struct function {
    std::int32_t begin;        // offset from the header
    std::int32_t description;  // likewise
};

class unwind_tables : public testing::Test {
protected:
    static constexpr std::size_t table = 12;

    unwind_tables() {
        std::uint32_t count = 0;
        std::memcpy(&count, original_.data() + 8, sizeof count);
        functions_.resize(count);
        std::memcpy(functions_.data(), original_.data() + table, count * sizeof(function));
    }

    template <typename T>
    void put(std::size_t offset, T value) {
        if (offset + sizeof value <= copy_.size()) std::memcpy(copy_.header() + offset, &value, sizeof value);
    }
    void restore() { std::memcpy(copy_.header(), original_.data(), original_.size()); }

    /// Asks for rules where the mutation may matter.
    void ask(std::size_t index) {
        const function& at = functions_[index];
        for (const std::int64_t offset : {1, 5, 40, 400}) copy_.rule_at(at.begin + offset);
        copy_.rule_anywhere(at.begin + 5);
    }

    std::size_t any_of(std::size_t count) { return random_() % count; }

    std::span<const std::uint8_t> original_ = tables_of_this_program();
    copied_tables copy_{original_};
    std::vector<function> functions_;
    std::mt19937 random_{16};
};

TEST_F(unwind_tables, have_a_rule_for_most_functions) {
    std::size_t known = 0;
    for (const function& each : functions_) {
        known += copy_.rule_at(each.begin + 1).frame == unwind_rule::frame_from::stack ? 1u : 0u;
    }
    EXPECT_GT(functions_.size(), 100u);
    EXPECT_GT(known, functions_.size() * 9 / 10);
}

TEST_F(unwind_tables, may_have_any_head) {
    for (int kind = 0; kind < 256; ++kind) {
        for (const std::size_t byte : {0u, 1u, 2u, 3u}) {
            put(byte, static_cast<std::uint8_t>(kind));
            ask(functions_.size() / 2);
            ask(functions_.size() - 1);
            restore();
        }
    }
    for (const std::uint32_t count : {0u, 1u, 2u, 0x7fff'ffffu, 0x8000'0000u, 0xffff'ffffu}) {
        for (const int encoding : {0x03, 0x0b, 0x04, 0x00, 0x01, 0x1b, 0x3b}) {
            put(2, static_cast<std::uint8_t>(encoding));
            put(8, count);
            put(12, static_cast<std::uint32_t>(random_()));
            ask(functions_.size() - 1);
            restore();
        }
    }
}

TEST_F(unwind_tables, may_lead_anywhere) {
    for (int i = 0; i < 2000; ++i) {
        const std::size_t index = any_of(functions_.size());
        function led = functions_[index];
        const std::int32_t near = static_cast<std::int32_t>(copy_.size()) - static_cast<std::int32_t>(any_of(24));
        led.description = i % 2 == 0 ? static_cast<std::int32_t>(random_()) : near;
        put(table + index * sizeof led, led);
        ask(index);
        restore();
    }
}

TEST_F(unwind_tables, may_have_entries_of_any_length_and_any_common_entry) {
    for (int i = 0; i < 4000; ++i) {
        const std::size_t index = any_of(functions_.size());
        const auto entry = static_cast<std::size_t>(functions_[index].description);
        constexpr std::uint32_t lengths[] = {0, 1, 4, 8, 0xffff'ffff, 0xffff'fff0, 0x7fff'ffff, 0x10'0000, 0x0f'ffff};
        const std::uint32_t value =
            i % 3 == 0 ? static_cast<std::uint32_t>(random_()) : lengths[any_of(std::size(lengths))];
        put(entry + (i % 2 == 0 ? 0 : 4), value);
        ask(index);
        restore();
    }
}

TEST_F(unwind_tables, may_have_any_bytes) {
    std::size_t different = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::size_t index = any_of(functions_.size());
        const auto entry = static_cast<std::size_t>(functions_[index].description);
        std::uint32_t distance = 0;
        std::memcpy(&distance, original_.data() + entry + 4, sizeof distance);
        const std::size_t common = entry + 4 - distance;
        const unwind_rule before = copy_.rule_at(functions_[index].begin + 5);
        for (std::size_t change = 0; change < 1 + any_of(4); ++change) {
            const std::size_t base = any_of(2) == 0 ? entry : common;
            put(base + any_of(40), static_cast<std::uint8_t>(random_()));
        }
        ask(index);
        if (!same(before, copy_.rule_at(functions_[index].begin + 5))) ++different;
        std::memcpy(copy_.header() + entry, original_.data() + entry, std::min<std::size_t>(48, copy_.size() - entry));
        std::memcpy(copy_.header() + common, original_.data() + common, 48);
    }
    EXPECT_GT(different, 1000u);  // the changes were where they matter
}

TEST_F(unwind_tables, may_be_cut_off_anywhere) {
    for (std::size_t bytes = 1; bytes < original_.size(); bytes += 1 + bytes / 8) {
        copied_tables cut{original_.first(bytes)};
        for (const function& each : {functions_.front(), functions_[functions_.size() / 2], functions_.back()}) {
            cut.rule_at(each.begin + 5);
            cut.rule_anywhere(each.begin + 5);
        }
    }
}

/// All of the zeros are instructions that do nothing.
TEST_F(unwind_tables, may_have_very_long_entries) {
    std::vector<std::uint8_t> large(original_.begin(), original_.end());
    const function last = functions_.back();
    large.resize(large.size() + (std::size_t{2} << 20));
    for (const std::uint32_t length : {0x10'0000u, 0x10'0001u, 0x7fff'ffffu}) {
        std::memcpy(large.data() + last.description, &length, sizeof length);
        copied_tables tables{large};
        const bool refused = tables.rule_at(last.begin + 1).frame == unwind_rule::frame_from::nowhere;
        EXPECT_EQ(refused, length > 0x10'0000);
    }
}

}  // namespace

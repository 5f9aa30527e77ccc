#include "unwind_rule.hpp"

namespace acre::recorder {
namespace {

// DWARF register numbers of x86-64.
constexpr std::uint64_t rbp_register = 6;
constexpr std::uint64_t rsp_register = 7;
constexpr std::uint64_t return_address = 16;

// The length of an entry of .eh_frame; those of the largest functions are some hundred kilobytes.
constexpr std::uint32_t longest_entry = 1 << 20;

/// Sums and products wrap around: those of damaged tables may be anything.
constexpr std::int64_t sum(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t product(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Reads DWARF encodings from a module's memory. Past the end, and where memory cannot be read, it reads zeros and
/// becomes bad().
class cursor {
public:
    cursor(module_memory& memory, std::uintptr_t at, std::uintptr_t end) : memory_(&memory), at_(at), end_(end) {}

    std::uintptr_t at() const { return at_; }
    bool more() const { return at_ < end_ && !bad_; }
    bool bad() const { return bad_; }
    void skip_all() { at_ = end_; }

    template <typename T>
    T fixed() {
        T value{};
        if (!has_room(sizeof value) || !memory_->read(at_, value)) {
            fail();
            return value;
        }
        at_ += sizeof value;
        return value;
    }

    std::uint64_t leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = fixed<std::uint8_t>();
            if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) return value;
        }
    }

    std::int64_t signed_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const auto byte = fixed<std::uint8_t>();
            if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            shift += 7;
            if ((byte & 0x80) != 0) continue;
            if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
            return static_cast<std::int64_t>(value);
        }
    }

    /// A pointer in one of the encodings of .eh_frame.
    std::uintptr_t pointer(std::uint8_t encoding, std::uintptr_t data_base = 0) {
        const std::uintptr_t field_address = at_;
        std::uintptr_t value = pointer_value(encoding & 0x0f);
        switch (encoding & 0x70) {
            case 0x00:
                break;
            case 0x10:
                value += field_address;
                break;
            case 0x30:
                value += data_base;
                break;
            default:
                bad_ = true;
        }
        if ((encoding & 0x80) != 0) bad_ = true;
        return value;
    }

    /// The next bytes, as a cursor of their own.
    cursor take(std::uint64_t bytes) {
        if (!has_room(bytes)) {
            fail();
            return {*memory_, end_, end_};
        }
        const std::uintptr_t begin = at_;
        at_ += bytes;
        return {*memory_, begin, at_};
    }

private:
    bool has_room(std::uint64_t bytes) const { return bytes <= end_ - at_; }

    void fail() {
        bad_ = true;
        at_ = end_;
    }

    std::uintptr_t pointer_value(std::uint8_t format) {
        switch (format) {
            case 0x00:
            case 0x04:
            case 0x0c:
                return fixed<std::uint64_t>();
            case 0x01:
                return leb();
            case 0x02:
                return fixed<std::uint16_t>();
            case 0x03:
                return fixed<std::uint32_t>();
            case 0x09:
                return static_cast<std::uintptr_t>(signed_leb());
            case 0x0a:
                return static_cast<std::uintptr_t>(std::int64_t{fixed<std::int16_t>()});
            case 0x0b:
                return static_cast<std::uintptr_t>(std::int64_t{fixed<std::int32_t>()});
            default:
                bad_ = true;
                return 0;
        }
    }

    module_memory* memory_;
    std::uintptr_t at_;
    std::uintptr_t end_;
    bool bad_ = false;
};

// What an offset is relative to: a register's number, or one of these.
constexpr std::uint64_t frame_base = 0x100;  // the CFA
constexpr std::uint64_t no_base = 0x101;
constexpr std::uint64_t other_base = 0x102;  // a number that no register has

/// Location of a value: register plus offset, or memory at that address. Small, since the program's stack may be, too.
struct location {
    enum class sort : std::uint8_t { unchanged, undefined, value, memory, unknown };

    location() = default;
    /// An offset too large for a rule makes the location unknown.
    location(sort what, std::uint64_t relative_to, std::int64_t distance)
        : is(distance == static_cast<std::int32_t>(distance) ? what : sort::unknown),
          base(static_cast<std::uint16_t>(relative_to < other_base ? relative_to : other_base)),
          offset(static_cast<std::int32_t>(distance)) {}

    sort is = sort::unchanged;
    std::uint16_t base = 0;
    std::int32_t offset = 0;
};

/// Evaluates expressions that are a register plus a constant, with at most one memory read, at the end.
class expression {
public:
    explicit expression(std::uintptr_t address) : address_(address) {}

    location evaluate(cursor code) {
        while (code.more() && !failed_) step(code);
        if (failed_ || code.bad() || depth_ == 0) return {location::sort::unknown, 0, 0};
        const term& result = stack_[depth_ - 1];
        return {result.in_memory ? location::sort::memory : location::sort::value, result.base, result.offset};
    }

private:
    /// Register plus offset, or memory at that address.
    struct term {
        std::int64_t offset = 0;
        std::uint16_t base = no_base;
        bool in_memory = false;
    };

    void step(cursor& code) {
        const auto operation = code.fixed<std::uint8_t>();
        if (operation >= 0x30 && operation <= 0x4f) return push_constant(operation - 0x30);
        if (operation >= 0x70 && operation <= 0x8f) {  // register plus offset
            const std::uint64_t base = operation - 0x70u;
            const std::int64_t offset = code.signed_leb();
            if (base == return_address) return push_constant(sum(static_cast<std::int64_t>(address_), offset));
            return push({offset, static_cast<std::uint16_t>(base), false});
        }
        switch (operation) {
            case 0x06:
                return dereference();
            case 0x08:
                return push_constant(code.fixed<std::uint8_t>());
            case 0x09:
                return push_constant(code.fixed<std::int8_t>());
            case 0x0a:
                return push_constant(code.fixed<std::uint16_t>());
            case 0x0b:
                return push_constant(code.fixed<std::int16_t>());
            case 0x10:
                return push_constant(static_cast<std::int64_t>(code.leb()));
            case 0x11:
                return push_constant(code.signed_leb());
            case 0x1a:
                return combine([](std::int64_t a, std::int64_t b) { return a & b; });
            case 0x22:
                return add();
            case 0x23:
                push_constant(static_cast<std::int64_t>(code.leb()));
                return add();
            case 0x24:
                return combine([](std::int64_t a, std::int64_t b) {
                    return b < 64 && b >= 0 ? product(a, std::int64_t{1} << b) : 0;
                });
            case 0x2a:
                return combine([](std::int64_t a, std::int64_t b) { return std::int64_t{a >= b}; });
            default:
                failed_ = true;
        }
    }

    void push(term value) {
        if (depth_ == 8) {
            failed_ = true;
            return;
        }
        stack_[depth_++] = value;
    }
    void push_constant(std::int64_t value) { push({value, no_base, false}); }

    bool pop_two(term& a, term& b) {
        if (depth_ < 2) return !(failed_ = true);
        b = stack_[--depth_];
        a = stack_[--depth_];
        return true;
    }

    void add() {
        term a;
        term b;
        if (!pop_two(a, b)) return;
        if (a.in_memory || b.in_memory || (a.base != no_base && b.base != no_base)) {
            failed_ = true;
            return;
        }
        push({sum(a.offset, b.offset), a.base != no_base ? a.base : b.base, false});
    }

    template <typename Operation>
    void combine(Operation operation) {
        term a;
        term b;
        if (!pop_two(a, b)) return;
        if (a.base != no_base || b.base != no_base || a.in_memory || b.in_memory) failed_ = true;
        push_constant(operation(a.offset, b.offset));
    }

    void dereference() {
        if (depth_ == 0 || stack_[depth_ - 1].in_memory) {
            failed_ = true;
            return;
        }
        stack_[depth_ - 1].in_memory = true;
    }

    std::uintptr_t address_;
    term stack_[8];
    int depth_ = 0;
    bool failed_ = false;
};

/// One row of the table that a frame description encodes, for the tracked registers.
struct frame_row {
    location cfa;
    location rbp;
    location caller;  // the return address
};

/// A common information entry, to which frame descriptions refer.
struct common_information {
    cursor program;
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    std::uint8_t pointer_encoding = 0;
    bool augmented = false;
    bool signal_frame = false;
};

/// An entry of .eh_frame without its length; empty if there is none.
cursor entry_at(module_memory& memory, std::uintptr_t at) {
    cursor entry{memory, at, at + sizeof(std::uint32_t)};
    const auto length = entry.fixed<std::uint32_t>();
    if (entry.bad() || length > longest_entry) return {memory, at, at};
    return {memory, entry.at(), entry.at() + length};
}

/// Skips a text; false if it has no end.
bool skip_text(cursor& entry) {
    while (entry.fixed<std::uint8_t>() != 0) {
    }
    return !entry.bad();
}

/// Reads what the letters of an augmentation after the first say about `data`; false if one of them is not known.
bool read_augmentation(cursor letters, cursor data, common_information& out) {
    for (auto letter = letters.fixed<std::uint8_t>(); letter != 0; letter = letters.fixed<std::uint8_t>()) {
        if (letter == 'R') {
            out.pointer_encoding = data.fixed<std::uint8_t>();
        } else if (letter == 'P') {
            const auto encoding = data.fixed<std::uint8_t>();
            data.pointer(encoding & 0x7f);
        } else if (letter == 'L') {
            data.fixed<std::uint8_t>();
        } else if (letter == 'S') {
            out.signal_frame = true;
        } else if (letter != 'B') {
            return false;
        }
    }
    return !data.bad();
}

bool read_common(cursor entry, common_information& out) {
    if (entry.fixed<std::uint32_t>() != 0) return false;
    const auto version = entry.fixed<std::uint8_t>();
    if (version != 1 && version != 3) return false;
    cursor letters = entry;
    if (!skip_text(entry)) return false;
    out.code_factor = entry.leb();
    out.data_factor = entry.signed_leb();
    const std::uint64_t column = version == 1 ? entry.fixed<std::uint8_t>() : entry.leb();
    if (entry.bad() || column != return_address) return false;
    const auto first = letters.fixed<std::uint8_t>();
    out.augmented = first == 'z';
    if (first != 'z' && first != 0) return false;
    if (out.augmented) {
        const std::uint64_t bytes = entry.leb();
        if (!read_augmentation(letters, entry.take(bytes), out)) return false;
    }
    out.program = entry;
    return !entry.bad();
}

/// Executes call frame instructions up to an address.
class frame_program {
public:
    frame_program(const common_information& common, std::uintptr_t begin, std::uintptr_t wanted)
        : common_(common), location_(begin), wanted_(wanted) {}

    bool run(cursor description) {
        if (!run_all(common_.program)) return false;
        initial_ = row_;
        return run_all(description);
    }

    const frame_row& row() const { return row_; }

private:
    bool run_all(cursor code) {
        while (code.more() && location_ <= wanted_) {
            if (!step(code)) return false;
        }
        return !code.bad();
    }

    void advance(std::uint64_t amount, cursor& code) {
        location_ += amount * common_.code_factor;
        if (location_ > wanted_) code.skip_all();
    }

    location* slot(std::uint64_t number) {
        if (number == rbp_register) return &row_.rbp;
        return number == return_address ? &row_.caller : nullptr;
    }
    void set(std::uint64_t number, location where) {
        if (location* known = slot(number)) *known = where;
    }
    void restore(std::uint64_t number) {
        if (number == rbp_register) row_.rbp = initial_.rbp;
        if (number == return_address) row_.caller = initial_.caller;
    }
    location saved_at(std::int64_t factored) const {
        return {location::sort::memory, frame_base, product(factored, common_.data_factor)};
    }
    void set_expression(std::uint64_t number, cursor& code, bool in_memory) {
        const std::uint64_t bytes = code.leb();
        const cursor body = code.take(bytes);
        location* known = slot(number);
        if (known == nullptr) return;
        location where = expression{wanted_}.evaluate(body);
        if (in_memory) {
            where.is = where.is == location::sort::value ? location::sort::memory : location::sort::unknown;
        }
        *known = where;
    }

    bool step(cursor& code) {
        const auto operation = code.fixed<std::uint8_t>();
        const std::uint64_t low = operation & 0x3f;
        switch (operation & 0xc0) {
            case 0x40:
                advance(low, code);
                return true;
            case 0x80:
                set(low, saved_at(static_cast<std::int64_t>(code.leb())));
                return true;
            case 0xc0:
                restore(low);
                return true;
            default:
                return extended(operation, code);
        }
    }

    bool extended(std::uint8_t operation, cursor& code) {
        switch (operation) {
            case 0x00:
                return true;
            case 0x01:
                return set_location(code);
            case 0x02:
                advance(code.fixed<std::uint8_t>(), code);
                return true;
            case 0x03:
                advance(code.fixed<std::uint16_t>(), code);
                return true;
            case 0x04:
                advance(code.fixed<std::uint32_t>(), code);
                return true;
            case 0x0a:
                return remember();
            case 0x0b:
                return recall();
            case 0x0c:
            case 0x0d:
            case 0x0e:
            case 0x0f:
            case 0x12:
            case 0x13:
                return define_frame(operation, code);
            case 0x2d:
                return true;  // window save: not on this machine
            case 0x2e:
                code.leb();
                return true;
            default:
                return define_register(operation, code);
        }
    }

    bool set_location(cursor& code) {
        location_ = code.pointer(common_.pointer_encoding);
        if (location_ > wanted_) code.skip_all();
        return true;
    }

    bool remember() {
        if (remembered_ == 8) return false;
        memory_[remembered_++] = row_;
        return true;
    }

    bool recall() {
        if (remembered_ == 0) return false;
        row_ = memory_[--remembered_];
        return true;
    }

    bool define_frame(std::uint8_t operation, cursor& code) {
        location& cfa = row_.cfa;
        switch (operation) {
            case 0x0c: {
                const std::uint64_t number = code.leb();
                cfa = {location::sort::value, number, static_cast<std::int64_t>(code.leb())};
                break;
            }
            case 0x12: {
                const std::uint64_t number = code.leb();
                cfa = {location::sort::value, number, product(code.signed_leb(), common_.data_factor)};
                break;
            }
            case 0x0d:
                cfa = {cfa.is, code.leb(), cfa.offset};
                break;
            case 0x0e:
                cfa = {cfa.is, cfa.base, static_cast<std::int64_t>(code.leb())};
                break;
            case 0x13:
                cfa = {cfa.is, cfa.base, product(code.signed_leb(), common_.data_factor)};
                break;
            default: {
                const std::uint64_t bytes = code.leb();
                cfa = expression{wanted_}.evaluate(code.take(bytes));
            }
        }
        return true;
    }

    bool define_register(std::uint8_t operation, cursor& code) {
        const std::uint64_t number = code.leb();
        switch (operation) {
            case 0x05:
                set(number, saved_at(static_cast<std::int64_t>(code.leb())));
                return true;
            case 0x06:
                restore(number);
                return true;
            case 0x07:
                set(number, {location::sort::undefined, 0, 0});
                return true;
            case 0x08:
                set(number, {});
                return true;
            case 0x09:
                code.leb();
                set(number, {location::sort::unknown, 0, 0});
                return true;
            case 0x10:
                set_expression(number, code, true);
                return true;
            case 0x11:
                set(number, saved_at(code.signed_leb()));
                return true;
            case 0x14:
                code.leb();
                set(number, {location::sort::unknown, 0, 0});
                return true;
            case 0x15:
                code.signed_leb();
                set(number, {location::sort::unknown, 0, 0});
                return true;
            case 0x16:
                set_expression(number, code, false);
                return true;
            default:
                return false;
        }
    }

    const common_information& common_;
    std::uintptr_t location_;
    std::uintptr_t wanted_;
    frame_row row_;
    frame_row initial_;
    frame_row memory_[8];
    int remembered_ = 0;
};

/// The table of .eh_frame_hdr: pairs of 4-byte offsets from the header, sorted.
class description_table {
public:
    description_table(module_memory& memory, std::uintptr_t header) : memory_(memory), header_(header) {
        constexpr std::uint8_t sorted_pairs = 0x3b;
        constexpr std::size_t longest_head = 4 + 2 * 10;
        cursor head{memory, header, header + longest_head};
        const auto version = head.fixed<std::uint8_t>();
        const auto frame_encoding = head.fixed<std::uint8_t>();
        const auto count_encoding = head.fixed<std::uint8_t>();
        const auto table_encoding = head.fixed<std::uint8_t>();
        if (version != 1 || table_encoding != sorted_pairs) return;
        head.pointer(frame_encoding, header);
        const std::uint64_t count = head.pointer(count_encoding, header);
        if (head.bad() || count > memory.end() / sizeof(pair)) return;
        first_ = head.at();
        count_ = count;
    }

    /// The frame description whose first address is the last one not above `address`; 0 if there is none.
    std::uintptr_t find(std::uintptr_t address) const {
        if (count_ == 0) return 0;
        const auto wanted = static_cast<std::int64_t>(address - header_);
        pair found;
        std::uint64_t low = 0;
        for (std::uint64_t high = count_; high - low > 1;) {
            const std::uint64_t middle = low + (high - low) / 2;
            if (!read(middle, found)) return 0;
            (found.begin <= wanted ? low : high) = middle;
        }
        if (!read(low, found) || found.begin > wanted) return 0;
        return header_ + static_cast<std::uintptr_t>(std::intptr_t{found.description});
    }

private:
    struct pair {
        std::int32_t begin;
        std::int32_t description;
    };

    bool read(std::uint64_t index, pair& out) const { return memory_.read(first_ + index * sizeof out, out); }

    module_memory& memory_;
    std::uintptr_t header_;
    std::uintptr_t first_ = 0;
    std::uint64_t count_ = 0;
};

template <typename Small>
bool fits(std::int64_t value) {
    return value == static_cast<Small>(value);
}

/// Converts a row to a rule; if no rule can express it, the stack ends here.
unwind_rule make_rule(const frame_row& row, bool signal_frame) {
    using from = unwind_rule::frame_from;
    if (signal_frame) return {0, 0, from::signal, unwind_rule::rbp_from::unchanged};
    const bool caller_in_place =
        row.caller.is == location::sort::memory && row.caller.base == frame_base && row.caller.offset == -8;
    if (!caller_in_place || !fits<std::int16_t>(row.rbp.offset)) return {};
    unwind_rule rule;
    rule.cfa_offset = row.cfa.offset;
    rule.rbp_offset = static_cast<std::int16_t>(row.rbp.offset);
    if (row.cfa.is == location::sort::value && row.cfa.base == rsp_register) {
        rule.frame = from::stack;
    } else if (row.cfa.is == location::sort::value && row.cfa.base == rbp_register) {
        rule.frame = from::rbp;
    } else if (row.cfa.is == location::sort::memory && row.cfa.base == rbp_register) {
        rule.frame = from::through_rbp;
    } else {
        return {};
    }
    if (row.rbp.is == location::sort::memory) {
        if (row.rbp.base != frame_base && row.rbp.base != rbp_register) return {};
        rule.saved_rbp = row.rbp.base == frame_base ? unwind_rule::rbp_from::frame : unwind_rule::rbp_from::rbp;
    } else if (row.rbp.is != location::sort::unchanged && row.rbp.is != location::sort::undefined) {
        return {};
    }
    return rule;
}

}  // namespace

unwind_rule find_unwind_rule(module_memory& memory, std::uintptr_t header, std::uintptr_t address) {
    const std::uintptr_t wanted = address - 1;
    const std::uintptr_t description = description_table{memory, header}.find(wanted);
    if (description == 0) return {};
    cursor entry = entry_at(memory, description);
    const std::uintptr_t common_base = entry.at();
    const auto common_distance = entry.fixed<std::uint32_t>();
    common_information common{{memory, 0, 0}};
    if (common_distance == 0 || !read_common(entry_at(memory, common_base - common_distance), common)) return {};
    const std::uintptr_t begin = entry.pointer(common.pointer_encoding);
    const std::uintptr_t length = entry.pointer(common.pointer_encoding & 0x0f);
    if (entry.bad() || wanted < begin || wanted - begin >= length) return {};
    if (common.augmented) {
        const std::uint64_t bytes = entry.leb();
        entry.take(bytes);
    }
    frame_program program{common, begin, wanted};
    if (!program.run(entry)) return {};
    return make_rule(program.row(), common.signal_frame);
}

}  // namespace acre::recorder

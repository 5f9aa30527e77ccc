// A ladder of whole numbers that others are rounded up to: 1 to 16, then eight numbers per doubling (18, 20, .. 32, 36,
// ..). It rounds up by less than an eighth.
//
// Used by acre::realtime_heap for the sizes of slots and of runs of arenas, not directly. Everything is constexpr, and
// constant time without a table: the place of the highest bit and the three bits below it say the class, as in TLSF
// (Masmano, Ripoll, Crespo and Real, 2004). A table would be shorter by two instructions and cost a cache miss at
// worst.
#pragma once

#include <bit>
#include <cstddef>

namespace acre::detail {

/// Classes of numbers.
struct geometric_classes {
    /// The class that `number`, at least 1, is rounded up to.
    [[gnu::always_inline]] static constexpr std::size_t class_of(std::size_t number) noexcept {
        return class_of_last(number - 1);
    }
    /// The same, of `last` + 1.
    [[gnu::always_inline]] static constexpr std::size_t class_of_last(std::size_t last) noexcept {
        // Up to 16, the classes of the doubling from 8 to 16 continue downwards.
        const std::size_t doubling = static_cast<unsigned>(std::bit_width(last | 8)) - 4U;
        return doubling * 8 + (last >> doubling);
    }

    /// The number that class `index` stands for, its largest.
    static constexpr std::size_t number_of(std::size_t index) noexcept {
        if (index < 16) return index + 1;
        return (index % 8 + 9) << (index / 8 - 1);
    }

    /// The last class whose number is at most `number`, at least 1.
    static constexpr std::size_t class_below(std::size_t number) noexcept {
        const std::size_t index = class_of(number);
        return number_of(index) == number ? index : index - 1;
    }
};

}  // namespace acre::detail

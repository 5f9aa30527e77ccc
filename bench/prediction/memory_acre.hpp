// The memory of a round of work: an arena that is reset at each round, as `acre advise` suggests it.
#pragma once

#include <acre/acre.hpp>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace prediction {

template <class T>
using in_arena = acre::allocator<T, acre::arena>;

using text = std::basic_string<char, std::char_traits<char>, in_arena<char>>;
template <class T>
using list = std::vector<T, in_arena<T>>;
template <class Key, class Value>
using table = std::map<Key, Value, std::less<>, in_arena<std::pair<const Key, Value>>>;

/// The memory of a round of work.
class round_memory {
public:
    /// An empty text, list or table.
    template <class Container>
    Container make() {
        return Container{typename Container::allocator_type{arena_}};
    }

    /// Creates an object that lives until the round ends. The arena frees all of them, so none is destroyed one by one.
    template <class T>
    class kept {
    public:
        kept(round_memory& memory, T value)
            : value_{::new(memory.arena_.allocate(sizeof(T), alignof(T))) T(std::move(value))} {}
        T& operator*() { return *value_; }

    private:
        T* value_;
    };

    void end_of_round() { arena_.reset(); }

private:
    acre::arena arena_{{.first_block_bytes = std::size_t{64} << 10, .max_block_bytes = std::size_t{1} << 20}};
};

}  // namespace prediction

// The memory of a round of work: malloc, as in most programs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace prediction {

using text = std::string;
template <class T>
using list = std::vector<T>;
template <class Key, class Value>
using table = std::map<Key, Value, std::less<>>;

/// The memory of a round of work.
class round_memory {
public:
    /// An empty text, list or table.
    template <class Container>
    Container make() {
        return Container{};
    }

    /// Creates an object that lives until the round ends.
    template <class T>
    class kept {
    public:
        kept(round_memory&, T value) : value_{std::move(value)} {}
        T& operator*() { return value_; }

    private:
        T value_;
    };

    void end_of_round() {}
};

}  // namespace prediction

// A string in an arena, which grows in place while it is the arena's last allocation.
//
// Use it to build text in an arena. Use arena::copy and arena::format for text that is known at once, std::string_view
// to pass it on: after detach() the characters stay as long as the arena does.
//
// Cost and thread rules are those of acre::arena_vector<char>. The characters are always followed by a zero byte.
//
//     acre::arena_string path{level};
//     for (std::string_view part : parts) path.append("/").append(part);
//     open(path.c_str());
//     std::string_view kept = path.detach();   // until the arena is reset
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/resource.hpp>
#include <compare>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace acre {

/// Characters in a resource R.
template <class R>
class basic_arena_string {
    static_assert(resizable_resource<R>, "acre::basic_arena_string: its resource has try_resize, as acre::arena");

public:
    /// Empty; takes no memory.
    explicit basic_arena_string(R& owner) noexcept : characters_(owner) {}
    /// A copy of `text`. Throws what the resource throws.
    basic_arena_string(std::string_view text, R& owner) : characters_(owner) { append(text); }
    /// Of a pointer to the resource, or of a handle. Throws bad_option for null.
    template <detail::stands_for<R> From>
    explicit basic_arena_string(From&& from) : characters_(std::forward<From>(from)) {}
    template <detail::stands_for<R> From>
    basic_arena_string(std::string_view text, From&& from) : characters_(std::forward<From>(from)) {
        append(text);
    }

    /// Appends `text`, which may be part of this string. Throws what the resource throws; then nothing has changed.
    basic_arena_string& append(std::string_view text) {
        const std::size_t before = size();
        const bool own = is_own(text);
        const std::size_t offset = own ? static_cast<std::size_t>(text.data() - data()) : 0;
        make_room(text.size());
        const char* source = own ? data() + offset : text.data();
        resize_within_capacity(before + text.size());
        std::memmove(characters_.data() + before, source, text.size());
        return *this;
    }
    basic_arena_string& append(std::size_t count, char character) {
        const std::size_t before = size();
        make_room(count);
        resize_within_capacity(before + count);
        std::memset(characters_.data() + before, character, count);
        return *this;
    }
    void push_back(char character) {
        make_room(1);
        if (!characters_.empty()) characters_.pop_back();
        characters_.emplace_back(character);
        characters_.emplace_back('\0');
    }
    basic_arena_string& operator+=(std::string_view text) { return append(text); }
    basic_arena_string& operator+=(char character) { return push_back(character), *this; }

    /// As append, but false, and nothing changed, when there is no memory.
    bool try_append(std::string_view text) noexcept {
        const bool own = is_own(text);
        const std::size_t offset = own ? static_cast<std::size_t>(text.data() - data()) : 0;
        if (!characters_.try_reserve(with_zero(size(), text.size()))) return false;
        append(own ? view().substr(offset, text.size()) : text);
        return true;
    }

    /// Uses the same storage if it is large enough. The text may be part of this string. Throws what the resource
    /// throws; then nothing has changed.
    basic_arena_string& operator=(std::string_view text) {
        if (is_own(text)) {
            const std::size_t count = text.size();
            if (count != 0) std::memmove(characters_.data(), text.data(), count);
            truncate(count);
            return *this;
        }
        reserve(text.size());
        clear();
        return append(text);
    }

    /// Keeps the first `count` characters.
    void truncate(std::size_t count) noexcept {
        if (count < size()) resize_within_capacity(count);
    }
    void clear() noexcept { truncate(0); }
    /// Storage for at least `count` characters and the zero byte.
    void reserve(std::size_t count) { characters_.reserve(with_zero(0, count)); }
    void shrink_to_fit() noexcept { characters_.shrink_to_fit(); }

    std::size_t size() const noexcept { return characters_.empty() ? 0 : characters_.size() - 1; }
    bool empty() const noexcept { return size() == 0; }
    /// Characters that fit in the storage, without the zero byte.
    std::size_t capacity() const noexcept { return characters_.capacity() == 0 ? 0 : characters_.capacity() - 1; }
    const char* data() const noexcept { return c_str(); }
    const char* c_str() const noexcept { return characters_.empty() ? "" : characters_.data(); }
    char& operator[](std::size_t index) noexcept { return characters_[index]; }
    char operator[](std::size_t index) const noexcept { return characters_[index]; }
    const char* begin() const noexcept { return data(); }
    const char* end() const noexcept { return data() + size(); }

    std::string_view view() const noexcept { return {data(), size()}; }
    operator std::string_view() const noexcept { return view(); }

    /// The text; its characters stay in the arena until it takes everything back. Leaves the string empty.
    std::string_view detach() noexcept {
        shrink_to_fit();
        const std::string_view text = view();
        characters_.detach();
        return text;
    }

    friend bool operator==(const basic_arena_string& a, const basic_arena_string& b) noexcept {
        return a.view() == b.view();
    }
    friend auto operator<=>(const basic_arena_string& a, const basic_arena_string& b) noexcept {
        return a.view() <=> b.view();
    }
    friend bool operator==(const basic_arena_string& a, std::string_view b) noexcept { return a.view() == b; }
    friend auto operator<=>(const basic_arena_string& a, std::string_view b) noexcept { return a.view() <=> b; }

private:
    bool is_own(std::string_view text) const noexcept {
        return !characters_.empty() && text.data() >= data() && text.data() <= data() + size();
    }

    void make_room(std::size_t more) { characters_.reserve(with_zero(size(), more)); }

    // Bytes of the characters and a zero byte; SIZE_MAX, which is refused, when that overflows.
    static std::size_t with_zero(std::size_t count, std::size_t more) noexcept {
        return more > max_request - count - 1 ? SIZE_MAX : count + more + 1;
    }

    void resize_within_capacity(std::size_t count) noexcept {
        characters_.resize(count);
        characters_.emplace_back('\0');
    }

    arena_vector<char, R> characters_;  // with the zero byte, or empty
};

/// A string in an arena.
using arena_string = basic_arena_string<arena>;

}  // namespace acre

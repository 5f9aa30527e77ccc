// A string in an arena, which grows in place while it is the arena's last allocation.
//
// Use it to build text in an arena. Use arena::copy and arena::format for text that is known at once, std::string_view
// to pass it on: after detach() the characters stay as long as the arena does.
//
// It is text wherever a std::string is: for streams, std::format, std::hash, algorithms and std::string_view. getline
// is found by its arguments, so write getline(in, text) without std::.
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
#include <acre/core/detail/formatter_name.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/resource.hpp>
#include <cassert>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <iosfwd>
#include <string_view>
#include <utility>

namespace acre {

/// Characters in a resource R.
template <class R>
class basic_arena_string {
    static_assert(resizable_resource<R>, "acre::basic_arena_string: its resource has try_resize, as acre::arena");

public:
    using traits_type = std::char_traits<char>;
    using view_type = std::string_view;
    using value_type = char;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = char&;
    using const_reference = const char&;
    using pointer = char*;
    using const_pointer = const char*;
    using iterator = char*;
    using const_iterator = const char*;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;
    static constexpr size_type npos = std::string_view::npos;

    /// Empty; takes no memory.
    explicit basic_arena_string(R& owner) noexcept : characters_(owner) {}
    /// A copy of `text`. Throws what the resource throws.
    basic_arena_string(std::string_view text, R& owner) : characters_(owner) { append(text); }
    /// Refused by a sentence: no arena, and a text without one.
    __attribute__((unavailable("acre: give the string its arena, s{level}"))) basic_arena_string();
    template <std::convertible_to<std::string_view> Text>
        requires(!std::same_as<Text, basic_arena_string>)
    __attribute__((unavailable("acre: give the string its arena, s{text, level}"))) explicit basic_arena_string(
        const Text&);

    /// Of a pointer to the resource, or of a handle. Throws bad_option for null.
    template <detail::stands_for<R> From>
    explicit basic_arena_string(From&& from) : characters_(std::forward<From>(from)) {}
    template <detail::stands_for<R> From>
    basic_arena_string(std::string_view text, From&& from) : characters_(std::forward<From>(from)) {
        append(text);
    }

    /// Appends `text`, which may be part of this string. Throws what the resource throws; then nothing has changed.
    basic_arena_string& append(std::string_view text) {
        // An empty view may be null, which memmove does not take.
        if (text.empty()) return *this;
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
        const std::size_t before = size();
        make_room(1);
        resize_within_capacity(before + 1);
        characters_.begin_[before] = character;
    }
    basic_arena_string& operator+=(std::string_view text) { return append(text); }
    basic_arena_string& operator+=(char character) { return push_back(character), *this; }

    /// Inserts `text`, which may be part of this string, before the character `index`. Linear in the characters behind
    /// it. Throws what the resource throws; then nothing has changed.
    basic_arena_string& insert(std::size_t index, std::string_view text) {
        assert(index <= size());
        if (empty()) return append(text);
        characters_.insert(characters_.begin() + index, text.begin(), text.end());
        return *this;
    }
    iterator insert(const_iterator position, char character) {
        const auto index = static_cast<std::size_t>(position - c_str());
        insert(index, {&character, 1});
        return data() + index;
    }
    /// Removes up to `count` characters from `index` on. Linear in the characters behind them.
    basic_arena_string& erase(std::size_t index = 0, std::size_t count = npos) noexcept {
        assert(index <= size());
        count = detail::min(count, size() - index);
        std::memmove(data() + index, data() + index + count, size() - index - count);
        truncate(size() - count);
        return *this;
    }
    iterator erase(const_iterator first, const_iterator last) noexcept {
        const auto index = static_cast<std::size_t>(first - c_str());
        erase(index, static_cast<std::size_t>(last - first));
        return data() + index;
    }
    iterator erase(const_iterator position) noexcept { return erase(position, position + 1); }
    /// Removes the last character. Requires that there is one.
    void pop_back() noexcept { truncate(size() - 1); }
    /// Keeps the first `count` characters, or appends copies of `character` up to `count`.
    void resize(std::size_t count, char character = '\0') {
        if (count > size()) append(count - size(), character);
        truncate(count);
    }

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
    // Without storage only the zero byte is there, which nobody may change.
    char* data() noexcept { return const_cast<char*>(c_str()); }
    const char* data() const noexcept { return c_str(); }
    const char* c_str() const noexcept { return characters_.empty() ? "" : characters_.data(); }
    char& operator[](std::size_t index) noexcept { return characters_[index]; }
    char operator[](std::size_t index) const noexcept { return characters_[index]; }
    char& front() noexcept { return characters_.front(); }
    char front() const noexcept { return characters_.front(); }
    char& back() noexcept { return characters_[size() - 1]; }
    char back() const noexcept { return characters_[size() - 1]; }
    iterator begin() noexcept { return data(); }
    iterator end() noexcept { return data() + size(); }
    const_iterator begin() const noexcept { return data(); }
    const_iterator end() const noexcept { return data() + size(); }
    const_iterator cbegin() const noexcept { return begin(); }
    const_iterator cend() const noexcept { return end(); }
    reverse_iterator rbegin() noexcept { return reverse_iterator{end()}; }
    reverse_iterator rend() noexcept { return reverse_iterator{begin()}; }
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator{end()}; }
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator{begin()}; }

    /// As those of view(), which has the others.
    size_type find(std::string_view text, std::size_t from = 0) const noexcept { return view().find(text, from); }
    size_type find(char character, std::size_t from = 0) const noexcept { return view().find(character, from); }
    bool starts_with(std::string_view text) const noexcept { return view().starts_with(text); }
    bool ends_with(std::string_view text) const noexcept { return view().ends_with(text); }

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

    // Streams are templates here, so that this header does not need them complete.
    template <std::same_as<char> Character>
    friend std::basic_ostream<Character>& operator<<(std::basic_ostream<Character>& out,
                                                     const basic_arena_string& text) {
        return out << text.view();
    }
    /// Reads a word, as into a std::string. Throws what the resource throws; the string then holds what fits.
    template <std::same_as<char> Character>
    friend std::basic_istream<Character>& operator>>(std::basic_istream<Character>& in, basic_arena_string& text) {
        const auto width = static_cast<std::size_t>(in.width(0));
        const auto max = width == 0 ? npos : width;
        const bool read = text.read(in, false, [&](char c) { return text.size() == max || isspace(c, in.getloc()); });
        if (read && text.empty()) in.setstate(in.failbit);
        return in;
    }
    /// Reads a line up to `end`, which is taken from the stream and left out of the string, as std::getline does.
    template <std::same_as<char> Character>
    friend std::basic_istream<Character>& getline(std::basic_istream<Character>& in, basic_arena_string& text,
                                                  char end = '\n') {
        if (!text.read(in, true, [end](char c) { return c == end; })) return in;
        if (!in.eof()) {
            in.rdbuf()->sbumpc();
        } else if (text.empty()) {
            in.setstate(in.failbit);
        }
        return in;
    }

private:
    // Replaces the text by the characters up to one that `ends` says, which stays in the stream, or up to its end.
    // False where the stream is not ready.
    template <class Stream, class Ends>
    bool read(Stream& in, bool with_leading_space, Ends ends) {
        const typename Stream::sentry ready{in, with_leading_space};
        if (!ready) return false;
        clear();
        using traits = typename Stream::traits_type;
        auto next = in.rdbuf()->sgetc();
        while (!traits::eq_int_type(next, traits::eof())) {
            const char character = traits::to_char_type(next);
            if (ends(character)) return true;
            push_back(character);
            next = in.rdbuf()->snextc();
        }
        in.setstate(in.eofbit);
        return true;
    }

    bool is_own(std::string_view text) const noexcept {
        return !characters_.empty() && text.data() >= data() && text.data() <= data() + size();
    }

    void make_room(std::size_t more) { characters_.reserve(with_zero(size(), more)); }

    // Bytes of the characters and a zero byte; SIZE_MAX, which is refused, when that overflows.
    static std::size_t with_zero(std::size_t count, std::size_t more) noexcept {
        return more > max_request - count - 1 ? SIZE_MAX : count + more + 1;
    }

    void resize_within_capacity(std::size_t count) noexcept {
        characters_.end_ = characters_.begin_ + count + 1;
        characters_.end_[-1] = '\0';
    }

    arena_vector<char, R> characters_;  // with the zero byte, or empty
};

/// A string in an arena.
using arena_string = basic_arena_string<arena>;

}  // namespace acre

// NOLINTBEGIN(cert-dcl58-cpp): for a type of acre, which the standard allows.
/// The code of a string: that of its view, so containers with std::equal_to<> find keys by any text.
template <class R>
struct std::hash<acre::basic_arena_string<R>> {
    using is_transparent = void;
    /// As that of the view.
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// Formats a string as its view. Its base is complete where a program includes <format>.
template <class R>
struct std::formatter<acre::basic_arena_string<R>, char>
    : std::formatter<typename acre::basic_arena_string<R>::view_type, char> {
    /// As that of the view.
    template <class Context>
    auto format(const acre::basic_arena_string<R>& text, Context& context) const {
        return std::formatter<typename acre::basic_arena_string<R>::view_type, char>::format(text.view(), context);
    }
};
// NOLINTEND(cert-dcl58-cpp)

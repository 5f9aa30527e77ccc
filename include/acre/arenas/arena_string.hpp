// A string in an arena, which grows in place while it is the arena's last allocation.
//
// Use it to build text in an arena. Use arena::copy and arena::format for text that is known at once, std::string_view
// to pass it on: after detach() the characters stay as long as the arena does.
//
// It is text wherever a std::string is: for streams, std::format, std::hash, algorithms and std::string_view. getline,
// erase and erase_if are found by their arguments, so write getline(in, text) without std::. Code for both types writes
// `using std::getline;` before. substr returns a view.
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
#include <acre/arenas/detail/sequence_face.hpp>
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

namespace detail {
template <class Text>
concept text_or_character = std::convertible_to<const Text&, std::string_view> || std::same_as<Text, char>;
}  // namespace detail

/// Characters in a resource R.
template <class R>
class basic_arena_string : public detail::sequence_face<basic_arena_string<R>, char, R> {
    using face = detail::sequence_face<basic_arena_string, char, R>;
    static_assert(resizable_resource<R>, "acre::basic_arena_string: its resource has try_resize, as acre::arena");

public:
    using traits_type = std::char_traits<char>;
    using view_type = std::string_view;
    using face::append, face::assign, face::erase, face::insert;
    using face::begin, face::end;
    using typename face::const_iterator;
    using typename face::iterator;
    using typename face::size_type;
    static constexpr size_type npos = std::string_view::npos;

    /// Empty; takes no memory.
    explicit basic_arena_string(R& owner) noexcept : characters_(owner) {}
    /// A copy of `text`. Throws what the resource throws.
    basic_arena_string(std::string_view text, R& owner) : characters_(owner) { append(text); }
    /// Refused by a sentence: no arena, and a text without one.
    __attribute__((unavailable("acre: give the string its arena, s{level}"))) basic_arena_string();
    __attribute__((unavailable("acre: give the string its arena, s(5, 'x', level)"))) basic_arena_string(std::size_t,
                                                                                                         char);
    template <std::convertible_to<std::string_view> Text>
        requires(!std::same_as<Text, basic_arena_string>)
    __attribute__((unavailable("acre: give the string its arena, s{text, level}"))) explicit basic_arena_string(
        const Text&);

    /// Of a pointer to the resource, or of a handle. Throws bad_option for null.
    template <detail::stands_for<R> From>
    explicit basic_arena_string(From&& from) : characters_(std::forward<From>(from)) {}
    template <class Other>
    explicit basic_arena_string(const allocator<Other, R>& memory) : characters_(memory) {}
    /// The same characters that a std::string is made of, and where they lie.
    template <detail::memory_of<R> Memory>
    basic_arena_string(std::string_view text, Memory&& memory) : characters_(std::forward<Memory>(memory)) {
        append(text);
    }
    template <detail::memory_of<R> Memory>
    basic_arena_string(const char* text, std::size_t count, Memory&& memory)
        : basic_arena_string(std::string_view{text, count}, std::forward<Memory>(memory)) {}
    template <detail::memory_of<R> Memory>
    basic_arena_string(std::size_t count, char character, Memory&& memory) : characters_(std::forward<Memory>(memory)) {
        append(count, character);
    }
    template <class First, class Last, detail::memory_of<R> Memory>
        requires detail::iterator_and_end<First, Last>
    basic_arena_string(First first, Last last, Memory&& memory) : characters_(std::forward<Memory>(memory)) {
        append(first, last);
    }
    template <detail::memory_of<R> Memory>
    basic_arena_string(std::initializer_list<char> characters, Memory&& memory)
        : basic_arena_string(characters.begin(), characters.end(), std::forward<Memory>(memory)) {}

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
    template <class First, class Last>
        requires detail::iterator_and_end<First, Last>
    basic_arena_string& append(First first, Last last) {
        if constexpr (std::is_constructible_v<std::string_view, First, Last>) {
            append(std::string_view{first, last});
        } else {
            for (; first != last; ++first) push_back(*first);
        }
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
    basic_arena_string& operator+=(std::initializer_list<char> characters) { return append(characters); }

    /// Replaces up to `count` characters from `index` on by `text`, which may be part of this string. Linear in the
    /// characters behind them. Throws std::out_of_range if `index` is behind the end, and what the resource throws;
    /// then nothing has changed.
    basic_arena_string& replace(std::size_t index, std::size_t count, std::string_view text) {
        if (text.empty()) return erase(index, count);
        if (is_own(text)) {
            count = detail::min(count, behind(index));
            this->insert_appended(begin() + index + count, [&] { append(text); });
            return erase(index, count);
        }
        std::memcpy(gap(index, count, text.size()), text.data(), text.size());
        return *this;
    }
    basic_arena_string& replace(std::size_t index, std::size_t count, std::size_t copies, char character) {
        std::memset(gap(index, count, copies), character, copies);
        return *this;
    }
    template <std::convertible_to<const_iterator> Position>
    basic_arena_string& replace(Position first, const_iterator last, std::string_view text) {
        return replace(index_of(first), static_cast<std::size_t>(last - first), text);
    }
    /// Inserts `text`, which may be part of this string, before the character `index`. Throws as replace.
    basic_arena_string& insert(std::size_t index, std::string_view text) { return replace(index, 0, text); }
    basic_arena_string& insert(std::size_t index, std::size_t copies, char character) {
        return replace(index, 0, copies, character);
    }
    iterator insert(const_iterator position, char character) {
        const std::size_t index = index_of(position);
        insert(index, {&character, 1});
        return data() + index;
    }
    /// Removes up to `count` characters from `index` on. Linear in the characters behind them. Throws std::out_of_range
    /// if `index` is behind the end.
    basic_arena_string& erase(std::size_t index = 0, std::size_t count = npos) {
        const std::size_t rest = behind(index);
        count = detail::min(count, rest);
        std::memmove(data() + index, data() + index + count, rest - count);
        truncate(size() - count);
        return *this;
    }
    template <std::convertible_to<const_iterator> Position>
    iterator erase(Position first, const_iterator last) {
        const std::size_t index = index_of(first);
        erase(index, static_cast<std::size_t>(last - first));
        return data() + index;
    }

    // The other forms in which std::string takes text.
    basic_arena_string& append(const char* text, std::size_t count) { return append(std::string_view{text, count}); }
    basic_arena_string& append(std::string_view text, std::size_t index, std::size_t count = npos) {
        return append(text.substr(index, count));
    }
    basic_arena_string& assign(const char* text, std::size_t count) { return assign(std::string_view{text, count}); }
    basic_arena_string& assign(std::string_view text, std::size_t index, std::size_t count = npos) {
        return assign(text.substr(index, count));
    }
    basic_arena_string& insert(std::size_t index, const char* text, std::size_t count) {
        return replace(index, 0, {text, count});
    }
    basic_arena_string& insert(std::size_t index, std::string_view text, std::size_t from, std::size_t count = npos) {
        return replace(index, 0, text.substr(from, count));
    }
    basic_arena_string& replace(std::size_t index, std::size_t count, const char* text, std::size_t length) {
        return replace(index, count, {text, length});
    }
    basic_arena_string& replace(std::size_t index, std::size_t count, std::string_view text, std::size_t from,
                                std::size_t length = npos) {
        return replace(index, count, text.substr(from, length));
    }
    basic_arena_string& assign(std::string_view text) { return *this = text; }

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

    basic_arena_string& operator=(char character) { return *this = std::string_view{&character, 1}; }
    basic_arena_string& operator=(std::initializer_list<char> characters) { return assign(characters); }

    /// Keeps the first `count` characters.
    void truncate(std::size_t count) noexcept {
        if (count < size()) resize_within_capacity(count);
    }
    void clear() noexcept { truncate(0); }
    /// Storage for at least `count` characters and the zero byte.
    void reserve(std::size_t count) { characters_.reserve(with_zero(0, count)); }
    void shrink_to_fit() noexcept { characters_.shrink_to_fit(); }
    /// As of C++23: `write(data(), count)` writes characters and returns how many the text has, at most `count`.
    template <class Write>
    void resize_and_overwrite(std::size_t count, Write write) {
        reserve(count);
        resize_within_capacity(static_cast<std::size_t>(std::move(write)(characters_.data(), count)));
    }
    /// Constant time. Aborts where the resources differ.
    void swap(basic_arena_string& other) noexcept { characters_.swap(other.characters_); }

    std::size_t size() const noexcept { return characters_.empty() ? 0 : characters_.size() - 1; }
    std::size_t length() const noexcept { return size(); }
    static constexpr std::size_t max_size() noexcept { return arena_vector<char, R>::max_size() - 1; }
    bool empty() const noexcept { return size() == 0; }
    /// Characters that fit in the storage, without the zero byte.
    std::size_t capacity() const noexcept { return characters_.capacity() == 0 ? 0 : characters_.capacity() - 1; }
    // Without storage only the zero byte is there, which nobody may change.
    char* data() noexcept { return const_cast<char*>(c_str()); }
    const char* data() const noexcept { return c_str(); }
    const char* c_str() const noexcept { return characters_.empty() ? "" : characters_.data(); }
    /// The character `index`; that at size() is the zero byte.
    char& operator[](std::size_t index) noexcept { return assert(index <= size()), data()[index]; }
    const char& operator[](std::size_t index) const noexcept { return assert(index <= size()), c_str()[index]; }

    /// The resource that the characters lie in.
    R& referred() const noexcept { return characters_.referred(); }

    // As those of view(), which has further forms.
    size_type find(std::string_view text, size_type at = 0) const noexcept { return view().find(text, at); }
    size_type find(char c, size_type at = 0) const noexcept { return view().find(c, at); }
    size_type rfind(std::string_view text, size_type at = npos) const noexcept { return view().rfind(text, at); }
    size_type rfind(char c, size_type at = npos) const noexcept { return view().rfind(c, at); }
    size_type find_first_of(std::string_view text, size_type at = 0) const noexcept {
        return view().find_first_of(text, at);
    }
    size_type find_first_of(char c, size_type at = 0) const noexcept { return view().find_first_of(c, at); }
    size_type find_last_of(std::string_view text, size_type at = npos) const noexcept {
        return view().find_last_of(text, at);
    }
    size_type find_last_of(char c, size_type at = npos) const noexcept { return view().find_last_of(c, at); }
    size_type find_first_not_of(std::string_view text, size_type at = 0) const noexcept {
        return view().find_first_not_of(text, at);
    }
    size_type find_first_not_of(char c, size_type at = 0) const noexcept { return view().find_first_not_of(c, at); }
    size_type find_last_not_of(std::string_view text, size_type at = npos) const noexcept {
        return view().find_last_not_of(text, at);
    }
    size_type find_last_not_of(char c, size_type at = npos) const noexcept { return view().find_last_not_of(c, at); }
    int compare(std::string_view text) const noexcept { return view().compare(text); }
    int compare(size_type at, size_type count, std::string_view text) const { return view().compare(at, count, text); }
    bool starts_with(std::string_view text) const noexcept { return view().starts_with(text); }
    bool starts_with(char c) const noexcept { return view().starts_with(c); }
    bool ends_with(std::string_view text) const noexcept { return view().ends_with(text); }
    bool ends_with(char c) const noexcept { return view().ends_with(c); }
    bool contains(std::string_view text) const noexcept { return find(text) != npos; }
    bool contains(char c) const noexcept { return find(c) != npos; }
    /// A view of up to `count` characters from `index` on, unlike that of std::string. Throws std::out_of_range if
    /// `index` is behind the end.
    std::string_view substr(std::size_t index = 0, std::size_t count = npos) const {
        return view().substr(index, count);
    }
    size_type copy(char* to, std::size_t count, std::size_t index = 0) const { return view().copy(to, count, index); }

    std::string_view view() const noexcept { return {data(), size()}; }
    operator std::string_view() const noexcept { return view(); }

    /// The text; its characters stay in the arena until it takes everything back. Leaves the string empty.
    std::string_view detach() noexcept {
        shrink_to_fit();
        const std::string_view text = view();
        characters_.detach();
        return text;
    }

    /// A copy in the same resource, or `before` itself if it is a temporary, with `after` appended.
    template <detail::text_or_character After>
    friend basic_arena_string operator+(basic_arena_string before, const After& after) {
        before += after;
        return before;
    }
    template <detail::text_or_character Before>
        requires(!std::same_as<Before, basic_arena_string>)
    friend basic_arena_string operator+(const Before& before, const basic_arena_string& after) {
        basic_arena_string both{after.referred()};
        both += before;
        both += after;
        return both;
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

    std::size_t index_of(const_iterator position) const noexcept {
        return static_cast<std::size_t>(position - c_str());
    }
    // Characters from `index` on.
    std::size_t behind(std::size_t index) const { return view().substr(index).size(); }

    // Room for `more` characters in place of up to `count` ones from `index` on.
    char* gap(std::size_t index, std::size_t count, std::size_t more) {
        const std::size_t rest = behind(index);
        count = detail::min(count, rest);
        make_room(more > count ? more - count : 0);
        char* const place = characters_.data() + index;
        std::memmove(place + more, place + count, rest - count);
        resize_within_capacity(index + more + rest - count);
        return place;
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

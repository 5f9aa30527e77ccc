// Thrift's compact protocol, as much of it as Parquet's metadata needs: structs of numbered fields, written in order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/byte_sink.hpp"

namespace acre::tool {

class thrift_sink {
public:
    /// A struct that is nobody's field: the outermost, or an element of a list.
    void begin() { last_fields_.push_back(0); }
    void end() {
        bytes_.byte(0);
        last_fields_.pop_back();
    }

    /// A struct that is a field.
    void begin(int field) {
        head(field, struct_type);
        begin();
    }

    /// A field that is a struct without fields, as unions have them.
    void empty(int field) {
        begin(field);
        end();
    }

    void truth(int field, bool value) { head(field, value ? true_type : false_type); }
    void number8(int field, std::uint8_t value) {
        head(field, number8_type);
        bytes_.byte(value);
    }
    void number32(int field, std::int64_t value) {
        head(field, number32_type);
        bytes_.signed_number(value);
    }
    void number64(int field, std::int64_t value) {
        head(field, number64_type);
        bytes_.signed_number(value);
    }
    void text(int field, std::string_view value) {
        head(field, text_type);
        bytes_.text(value);
    }

    /// The elements follow: as many begin() ... end(), number_element() or text_element().
    void structs(int field, std::size_t count) { list(field, struct_type, count); }
    void numbers32(int field, std::size_t count) { list(field, number32_type, count); }
    void texts(int field, std::size_t count) { list(field, text_type, count); }
    void number_element(std::int64_t value) { bytes_.signed_number(value); }
    void text_element(std::string_view value) { bytes_.text(value); }

    const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_.bytes(); }

private:
    static constexpr std::uint8_t true_type = 1;
    static constexpr std::uint8_t false_type = 2;
    static constexpr std::uint8_t number8_type = 3;
    static constexpr std::uint8_t number32_type = 5;
    static constexpr std::uint8_t number64_type = 6;
    static constexpr std::uint8_t text_type = 8;
    static constexpr std::uint8_t list_type = 9;
    static constexpr std::uint8_t struct_type = 12;
    static constexpr std::size_t long_list = 15;

    /// Field numbers rise by 15 at most within a struct, so that a byte holds the step and the type.
    void head(int field, std::uint8_t type) {
        const int step = field - last_fields_.back();
        bytes_.byte(static_cast<std::uint8_t>(step << 4 | type));
        last_fields_.back() = field;
    }

    void list(int field, std::uint8_t type, std::size_t count) {
        head(field, list_type);
        const std::size_t shown = count < long_list ? count : long_list;
        bytes_.byte(static_cast<std::uint8_t>(shown << 4 | type));
        if (shown == long_list) bytes_.number(count);
    }

    byte_sink bytes_;
    std::vector<int> last_fields_;
};

}  // namespace acre::tool

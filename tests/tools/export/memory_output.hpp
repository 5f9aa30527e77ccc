// Keeps an export in memory.
#pragma once

#include <string>

#include "export/byte_output.hpp"

namespace acre::test {

class memory_output : public acre::tool::byte_output {
public:
    using byte_output::write;
    void write(std::span<const std::uint8_t> bytes) override { text.append(bytes.begin(), bytes.end()); }
    void finish() override { finished = true; }

    std::string text;
    bool finished = false;
};

}  // namespace acre::test

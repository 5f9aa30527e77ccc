// Makes sections with any payload, for invalid trace files.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "trace/format.hpp"

namespace acre::test {

namespace format = acre::tool::format;

/// A valid section around any payload; padded to at least that many compressed bytes.
inline std::string section(format::section_kind kind, const std::string& raw, std::size_t min_bytes = 0) {
    std::string compressed(ZSTD_compressBound(raw.size()), '\0');
    compressed.resize(ZSTD_compress(compressed.data(), compressed.size(), raw.data(), raw.size(), 1));
    if (compressed.size() < min_bytes) {
        // A frame that zstd skips.
        const std::uint32_t skipped[] = {0x184d'2a50, static_cast<std::uint32_t>(min_bytes)};
        compressed.append(reinterpret_cast<const char*>(skipped), sizeof skipped).append(min_bytes, '\0');
    }
    std::string head(format::section_head_bytes, '\0');
    const std::uint64_t compressed_bytes = compressed.size();
    const std::uint64_t raw_bytes = raw.size();
    std::memcpy(head.data(), &kind, 4);
    std::memcpy(head.data() + 8, &compressed_bytes, 8);
    std::memcpy(head.data() + 16, &raw_bytes, 8);
    const auto bytes_of = [](const std::string& text, std::size_t count) {
        return std::span{reinterpret_cast<const std::uint8_t*>(text.data()), count};
    };
    const std::uint64_t checksum =
        format::checksum(bytes_of(compressed, compressed.size()), format::checksum(bytes_of(head, 24)));
    std::memcpy(head.data() + 24, &checksum, 8);
    return head + compressed;
}

}  // namespace acre::test

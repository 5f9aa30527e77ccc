// Names as they may go into files of other formats.
#pragma once

#include <string>
#include <string_view>

namespace acre::tool {

/// The text as UTF-8 without zero bytes, which most formats demand: each byte that is wrong becomes U+FFFD. Of a text
/// of more than a MiB, the beginning.
std::string valid_text(std::string_view text);

}  // namespace acre::tool

// An ELF note, by which `acre record` knows a program that the recorder is linked into, stripped or not. See
// ../raw_log.hpp.
#include "../raw_log.hpp"

namespace acre::recorder {

struct recorder_note {
    std::uint32_t name_bytes;
    std::uint32_t content_bytes;
    std::uint32_t type;
    char name[(sizeof raw::note_name + 3) & ~std::size_t{3}];
    std::uint32_t version;
};

[[gnu::used, gnu::section(".note.acre"), gnu::aligned(4)]] extern constexpr recorder_note note_of_recorder{
    sizeof raw::note_name, sizeof(std::uint32_t), raw::note_type, {'a', 'c', 'r', 'e'}, raw::file_version};

}  // namespace acre::recorder

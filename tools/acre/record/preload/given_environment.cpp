#include "given_environment.hpp"

#include <cstring>

#include "../raw_log.hpp"

namespace acre::recorder {
namespace {

/// The entry with the same name as `entry`, or null. A null environment is an empty one.
const char* find(char* const* environment, const char* entry) {
    const char* end = std::strchr(entry, '=');
    const std::size_t bytes = end != nullptr ? static_cast<std::size_t>(end - entry) : std::strlen(entry);
    for (char* const* each = environment; each != nullptr && *each != nullptr; ++each) {
        if (std::strncmp(*each, entry, bytes) == 0 && (*each)[bytes] == '=') return *each;
    }
    return nullptr;
}

}  // namespace

void given_environment::keep_entry(const char* entry) {
    if (entry == nullptr) return;
    const std::size_t bytes = std::strlen(entry) + 1;
    if (bytes > sizeof text_ - used_) return;
    entries_[count_++] = static_cast<char*>(std::memcpy(text_ + used_, entry, bytes));
    used_ += bytes;
}

void given_environment::keep(char* const* environment) {
    for (const char* name : {raw::directory_variable, raw::process_variable, raw::options_variable, "LD_PRELOAD"}) {
        keep_entry(find(environment, name));
    }
}

std::size_t given_environment::lacking_in(char* const* environment, char** lacking) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        if (find(environment, entries_[i]) == nullptr) lacking[count++] = entries_[i];
    }
    return count;
}

}  // namespace acre::recorder

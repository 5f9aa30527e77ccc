#include "given_environment.hpp"

#include <cstring>

#include "../raw_log.hpp"
#include "small_text.hpp"

namespace acre::recorder {
namespace {

constexpr char preload_name[] = "LD_PRELOAD";
constexpr const char* names[] = {raw::directory_variable, raw::process_variable, raw::options_variable,
                                 raw::memory_variable, raw::library_variable};

/// The value of an entry with that name, or null.
const char* value_if(const char* entry, const char* name) {
    const std::size_t bytes = std::strlen(name);
    return std::strncmp(entry, name, bytes) == 0 && entry[bytes] == '=' ? entry + bytes + 1 : nullptr;
}

/// The first entry with that name, or null. A null environment is an empty one.
const char* find(char* const* environment, const char* name) {
    for (char* const* each = environment; each != nullptr && *each != nullptr; ++each) {
        if (value_if(*each, name) != nullptr) return *each;
    }
    return nullptr;
}

}  // namespace

void given_environment::keep_entry(const char* entry) {
    if (entry == nullptr) return;
    const std::size_t bytes = std::strlen(entry) + 1;
    if (bytes > sizeof text_ - used_) return;
    entries_[count_] = static_cast<char*>(std::memcpy(text_ + used_, entry, bytes));
    if (const char* library = value_if(entries_[count_], raw::library_variable)) library_ = library;
    ++count_;
    used_ += bytes;
}

void given_environment::keep(char* const* environment) {
    for (const char* name : names) keep_entry(find(environment, name));
}

bool given_environment::is_ours(const char* entry) const {
    for (const char* name : names) {
        if (value_if(entry, name) != nullptr) return true;
    }
    return false;
}

/// What a value of LD_PRELOAD holds besides the recorder, which comes first if it is there; null if it holds only the
/// recorder. Behind a separator it may be empty, as the user's value was.
const char* given_environment::others_preloaded(const char* preload) const {
    const std::size_t bytes = library_ != nullptr ? std::strlen(library_) : 0;
    if (bytes == 0 || std::strncmp(preload, library_, bytes) != 0) return preload;
    if (preload[bytes] == 0) return nullptr;
    return preload[bytes] == ':' || preload[bytes] == ' ' ? preload + bytes + 1 : preload;
}

void given_environment::remove_from(char** environment) const {
    char** kept = environment;
    for (char** each = environment; *each != nullptr; ++each) {
        if (is_ours(*each)) continue;
        if (const char* preload = value_if(*each, preload_name)) {
            const char* others = others_preloaded(preload);
            if (others == nullptr) continue;
            std::memmove(*each + sizeof preload_name, others, std::strlen(others) + 1);
        }
        *kept++ = *each;
    }
    *kept = nullptr;
}

given_environment::space given_environment::space_for(char* const* environment) const {
    space needed{max_entries + 2, sizeof preload_name + 2};  // LD_PRELOAD and the null pointer
    if (library_ != nullptr) needed.text += std::strlen(library_);
    for (char* const* each = environment; each != nullptr && *each != nullptr; ++each) ++needed.entries;
    if (const char* preload = find(environment, preload_name)) needed.text += std::strlen(preload);
    return needed;
}

bool given_environment::is_in(char* const* environment) const {
    for (char* const* each = environment; each != nullptr && *each != nullptr; ++each) {
        const char* preload = value_if(*each, preload_name);
        if (is_ours(*each) || (preload != nullptr && others_preloaded(preload) != preload)) return true;
    }
    return false;
}

char* const* given_environment::composed(char* const* environment, bool recorded, char** at) const {
    const space needed = space_for(environment);
    char** const entries = at;
    char* text = reinterpret_cast<char*>(at + needed.entries);
    const char* const end = text + needed.text;
    const char* others = nullptr;
    std::size_t used = 0;
    for (char* const* each = environment; each != nullptr && *each != nullptr; ++each) {
        if (is_ours(*each)) continue;
        if (const char* preload = value_if(*each, preload_name)) {
            if (others == nullptr) others = others_preloaded(preload);
            continue;
        }
        entries[used++] = *each;
    }
    for (std::size_t i = 0; recorded && i < count_; ++i) entries[used++] = entries_[i];
    const bool preloads = recorded && library_ != nullptr;
    if (preloads || others != nullptr) {
        entries[used++] = text;
        text = append_text(text, end, preload_name);
        *text++ = '=';
        if (preloads) text = append_text(text, end, library_);
        if (preloads && others != nullptr) *text++ = ':';
        if (others != nullptr) text = append_text(text, end, others);
        *text = 0;
    }
    entries[used] = nullptr;
    return entries;
}

const char* given_environment::memory_path() const {
    for (std::size_t i = 0; i < count_; ++i) {
        if (const char* path = value_if(entries_[i], raw::memory_variable)) return path;
    }
    return nullptr;
}

}  // namespace acre::recorder

#include "scope_names.hpp"

namespace acre::recorder {

/// FNV-1a, except for the two keys that published_table reserves.
std::uint64_t scope_names::hash_of(text name) {
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
    for (std::size_t i = 0; i < name.bytes; ++i) {
        hash = (hash ^ static_cast<unsigned char>(name.at[i])) * 0x0000'0100'0000'01b3;
    }
    return hash == 0 || hash == published_table<entry>::forgotten ? 1 : hash;
}

const scope_names::entry* scope_names::find(std::uint64_t hash, text name) const {
    return entries_
        .find(spread(hash),
              [&](std::uint64_t key, const entry& each) {
                  return key == hash && each.bytes == name.bytes && std::memcmp(each.at, name.at, name.bytes) == 0;
              })
        .entry;
}

char* scope_names::copy(text name) {
    if (block_left_ < name.bytes) {
        block_ = static_cast<char*>(take_pages(block_bytes));
        block_left_ = block_ == nullptr ? 0 : block_bytes;
    }
    if (block_ == nullptr) return nullptr;
    char* const copied = block_;
    std::memcpy(copied, name.at, name.bytes);
    block_ += name.bytes;
    block_left_ -= name.bytes;
    return copied;
}

std::uint32_t scope_names::add(std::uint64_t hash, text name, log_file& log) {
    const lock_guard guard{changing_};
    // Another thread may have added it meanwhile.
    if (const entry* found = find(hash, name); found != nullptr) return found->number;
    if (count_ == raw::max_scope_names || !entries_.make_room()) return 0;
    const char* const copied = copy(name);
    if (copied == nullptr) return 0;
    const raw::scope_name_record record{++count_, static_cast<std::uint32_t>(name.bytes)};
    const log_file::piece pieces[] = {{&record, sizeof record}, {copied, name.bytes}};
    log.append(raw::chunk_kind::scope_name, pieces, 2);
    entries_.add(hash, {copied, record.text_bytes, record.number});
    return record.number;
}

std::uint32_t scope_names::number_of(const char* name, log_file& log) {
    const text wanted{name, strnlen(name, max_bytes)};
    const std::uint64_t hash = hash_of(wanted);
    const entry* found = find(hash, wanted);
    return found != nullptr ? found->number : add(hash, wanted, log);
}

}  // namespace acre::recorder

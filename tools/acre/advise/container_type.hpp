// The type of a container whose memory comes from a resource of acre, for code to paste.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace acre::tool {

/// A container, and what code calls the same with acre's allocator.
struct named_type {
    std::string container;
    std::string alias;
};

/// "std::map<int, long, std::less<int>, acre::allocator<std::pair<int const, long>, acre::arena>>" for
/// "std::map<int, long>" and "acre::arena". Containers in it that have an alias are written so: acre's allocator passes
/// itself on to them. Nothing where code cannot say the name, or the container has an allocator of its own.
/// `owner` of the resource, if not empty, stands in place of each std::unique_ptr in it; "{}" is what that owns: "{}*".
std::optional<std::string> with_allocator(std::string_view container, std::string_view resource,
                                          std::span<const named_type> aliases, std::string_view owner = {});

/// Whether a container takes a std::pmr::memory_resource, or is one itself.
bool takes_memory_resource(std::string_view container);
bool is_memory_resource(std::string_view container);

/// Whether a type is a std::unique_ptr that deletes, or has such a type among its arguments.
bool has_unique_ptr(std::string_view type);

/// "map" of "std::map<int, long>".
std::string family_of(std::string_view container);

/// The name as code says it; nothing where code cannot, as for lambdas.
std::optional<std::string> name_in_code(std::string_view type);

}  // namespace acre::tool

// Boost.JSON's values in any resource: acre::boost_pmr is the memory_resource that a storage_ptr refers to.
//
// Over an acre::arena, Boost.JSON neither frees nor destroys the values: the arena's reset frees them. Use
// boost::json::make_shared_resource<acre::boost_pmr<acre::arena>>() where the values should own their memory, and
// acre::multi_pool for values that change for long. Cost: a virtual call, and that of the resource. Thread rules: those
// of the resource; values that share a storage_ptr share the resource.
//
//     #include <boost/json.hpp>
//     acre::arena request;
//     acre::boost_pmr memory{request};
//     boost::json::value order = boost::json::parse(text, &memory);
#pragma once

#include <acre/adapt/hooks/boost_container.hpp>
#include <acre/arenas/arena.hpp>
#include <boost/json/memory_resource.hpp>
#include <type_traits>

namespace boost::json {

/// Storage of an arena need not be freed.
template <class R>
    requires std::is_base_of_v<acre::arena, std::remove_reference_t<R>>
struct is_deallocate_trivial<acre::boost_pmr<R>> {
    static constexpr bool value = true;
};

}  // namespace boost::json

// libxml2's memory from this thread's resource (acre::ambient), for the whole program.
//
// Call it first in main, before any other function of libxml2; what libxml2 keeps for the program is made by it, in the
// heap (xmlInitParser). Then a document that is read in a scope of acre::arena is
// freed at the price of a walk, and at no price without xmlFreeDoc: the arena's end frees it. Use acre::multi_pool for
// documents that are edited, and acre::limited around either for documents of strangers: the parse ends with
// XML_ERR_NO_MEMORY.
//
// Cost: that of acre::malloc_face<acre::ambient>, 16 bytes a block. Thread rules: a document under a resource that
// threads do not share is used and freed in the thread that made it; acre::ambient refuses the rest with a sentence.
//
//     acre::use_in_libxml2();  // first in main
//     acre::arena request;
//     acre::use_resource use{request};
//     xmlDocPtr document = xmlReadFile("request.xml", nullptr, 0);
#pragma once

#include <libxml/parser.h>
#include <libxml/xmlmemory.h>

#include <acre/adapt/ambient.hpp>
#include <acre/adapt/detail/malloc_functions.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <cstring>

namespace acre {

/// Gives libxml2 the memory functions of an R without state, this thread's resource if none is named, and initialises
/// it: what it keeps for the program lies in the heap, also where the call is in a scope. False when libxml2 does not
/// take them.
template <stateless_resource R = ambient>
bool use_in_libxml2() noexcept {
    using functions = detail::malloc_functions<R>;
    const auto copy = [](const char* text) noexcept -> char* {
        const std::size_t bytes = std::strlen(text) + 1;
        void* p = functions::malloc(bytes);
        return p == nullptr ? nullptr : static_cast<char*>(std::memcpy(p, text, bytes));
    };
    if (xmlMemSetup(functions::free, functions::malloc, functions::realloc, copy) != 0) return false;
    const use_resource use{detail::ambient_heap};
    xmlInitParser();
    return true;
}

}  // namespace acre

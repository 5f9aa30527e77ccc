// Expat's memory from this thread's resource (acre::ambient): the suite that XML_ParserCreate_MM takes.
//
// Expat passes its memory functions no context, so that the resource is the one that this thread uses when Expat
// allocates. Use acre::arena when one parser reads one document: XML_ParserFree then has nothing to look up. Use
// acre::multi_pool for a parser that is reset and used for many documents: an arena keeps what Expat frees on the way.
// Put acre::limited around either for documents of strangers: the parse ends with XML_ERROR_NO_MEMORY.
//
// Cost: that of acre::malloc_face<acre::ambient>, 16 bytes a block. Thread rules: a parser under a resource that
// threads do not share is used and freed in the thread that created it; acre::ambient refuses the rest with a sentence.
//
//     acre::arena document;
//     acre::use_resource use{document};
//     const XML_Memory_Handling_Suite memory = acre::expat_memory();
//     XML_Parser parser = XML_ParserCreate_MM(nullptr, &memory, nullptr);
#pragma once

#include <expat.h>

#include <acre/adapt/ambient.hpp>
#include <acre/adapt/detail/malloc_functions.hpp>

namespace acre {

/// The memory functions of an R without state, this thread's resource if none is named. Expat copies them.
template <stateless_resource R = ambient>
XML_Memory_Handling_Suite expat_memory() noexcept {
    using functions = detail::malloc_functions<R>;
    return {functions::malloc, functions::realloc, functions::free};
}

}  // namespace acre

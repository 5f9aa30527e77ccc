// What a resource of fixed size does when it is full: acre::typed_arena takes every value, as a template argument.
// acre::chunk_pool takes all but null, at run time, and throws acre::bad_option for it: its `new` cannot return null.
//
//     using orcs = acre::typed_arena<Orc, 1000, acre::typed_arena_options{.when_full = acre::exhaustion::fall_back}>;
#pragma once

namespace acre {

/// When the resource is full, an allocation ...
enum class exhaustion {
    fail,       // throws an acre::allocation_error
    abort,      // prints the error's sentence and aborts
    null,       // returns null, as its try_ form does
    fall_back,  // is served by another resource
};

}  // namespace acre

// What a resource of a fixed size does when it is full: the policy is named where the resource is declared.
//
//     using orcs = acre::typed_arena<Orc, 1000, acre::typed_arena_options{.when_full = acre::exhaustion::fall_back}>;
#pragma once

namespace acre {

/// When nothing is left, an allocation ...
enum class exhaustion {
    fail,       // throws what says so
    null,       // returns null, as its try_ form does
    fall_back,  // is served by another resource
};

}  // namespace acre

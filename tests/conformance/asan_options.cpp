// Under sanitizers, a request too large for the system returns null as in other builds, instead of aborting.
#include "conformance/refusal.hpp"

#if defined(ACRE_TEST_SANITIZED)
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    return "allocator_may_return_null=1";
}
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
    return "allocator_may_return_null=1";
}
#endif

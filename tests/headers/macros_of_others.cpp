// The headers of acre, behind those of the standard library, where X11, Qt and macOS have defined their macros.
#include <atomic>
#include <exception>
#include <memory_resource>
#include <mutex>
#include <string>
#include <vector>

#define None 0L
#define Bool int
#define Status int
#define True 1
#define False 0
#define Success 0
#define Always 2
#define Above 0
#define Below 1
#define Complex 0
#define Unsorted 0
#define signals public
#define emit
#define foreach for
#define forever for (;;)
#define check(assertion) static_assert(false)
#define verify(assertion) static_assert(false)
#define require(assertion, label) static_assert(false)

#include <acre/acre.hpp>
#include <acre/adapt/containers.hpp>
#include <acre/heaps/general_heap.hpp>

// LLVM's BumpPtrAllocator with its defaults and with 1 MiB slabs, and SpecificBumpPtrAllocator for objects.
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/Allocator.h>

#include "../limits/bump.hpp"
#include "contestants.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace llvm_contestants {

template <class Allocator>
struct llvm_arena {
    void* allocate(std::size_t bytes) { return allocator.Allocate(bytes, llvm::Align::Constant<bump_alignment>()); }
    void reset() { allocator.Reset(); }
    Allocator allocator;
};

using large_slabs = llvm::BumpPtrAllocatorImpl<llvm::MallocAllocator, std::size_t{1} << 20>;

struct llvm_objects {
    observed_object* create(std::uint64_t value) { return new (allocator.Allocate()) observed_object(value); }
    void reset() { allocator.DestroyAll(); }
    llvm::SpecificBumpPtrAllocator<observed_object> allocator;
};

}  // namespace llvm_contestants
using namespace llvm_contestants;

void add_llvm(suite& entries) {
    entries.add_peer("LLVM BumpPtrAllocator", LLVM_VERSION_STRING);
    add_bump<llvm_arena<llvm::BumpPtrAllocator>>(entries, "LLVM BumpPtrAllocator");
    add_bump<llvm_arena<large_slabs>>(entries, "LLVM BumpPtrAllocator, 1 MiB slabs");
    add_objects<llvm_objects>(entries, "LLVM SpecificBumpPtrAllocator");
}

}  // namespace bench

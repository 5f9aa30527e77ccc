// The heap, storage and functions of the program, and what is the same for every resource.
#include <acre/memory/buffer.hpp>
#include <acre/memory/heap.hpp>
#include <cstdint>
#include <span>

#include "never_destroyed.hpp"
#include "resource.hpp"

namespace acre_c {

/// The program's functions as a resource.
class program_functions {
public:
    static constexpr const char* name = "acre_custom";

    explicit program_functions(const acre_functions& functions) : functions_(functions) {
        acre::require_option(functions.allocate != nullptr, name, "allocate", 0, "a function");
        acre::require_option(functions.deallocate != nullptr, name, "deallocate", 0, "a function");
    }

    void* allocate(std::size_t bytes, std::size_t alignment) {
        if (!acre::detail::can_be_honoured(alignment)) return acre::raise<acre::bad_alignment>(name, alignment);
        if (bytes > acre::max_request) return acre::raise<acre::request_too_large>(name, bytes, acre::max_request);
        if (void* p = try_allocate(bytes, alignment)) return p;
        return acre::raise<acre::out_of_memory>(name, bytes, alignment);
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (!acre::is_alignment(alignment) || bytes > acre::max_request) return nullptr;
        // Zero bytes are a distinct block, and some allocators have none for them.
        void* p = functions_.allocate(functions_.context, bytes == 0 ? 1 : bytes, alignment);
        if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) [[unlikely]]
            acre::abort_on_misuse(name, "its function returned a pointer that is not aligned as it was asked", p);
        return p;
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p != nullptr) functions_.deallocate(functions_.context, p, bytes == 0 ? 1 : bytes, alignment);
    }

private:
    acre_functions functions_;
};

}  // namespace acre_c

struct acre_buffer final : acre_c::holding<acre_c::handle<acre_c::handle_kind::buffer>, acre::buffer> {
    using holding::holding;
};
struct acre_custom final : acre_c::holding<acre_c::handle<acre_c::handle_kind::custom>, acre_c::program_functions> {
    using holding::holding;
};

acre_resource* acre_heap() {
    using handle = acre_c::handle<acre_c::handle_kind::heap>;
    static acre_c::never_destroyed<acre_c::holding<handle, acre::heap>> heap;
    return heap.get();
}

void* acre_resource_allocate(acre_resource* resource, std::size_t bytes, std::size_t alignment) {
    return acre_c::allocate(resource, bytes, alignment);
}

void* acre_resource_try_allocate(acre_resource* resource, std::size_t bytes, std::size_t alignment) {
    if (acre_c::is_null(resource)) return nullptr;
    if (void* p = resource->try_allocate(bytes, acre_c::alignment_or_default(alignment))) return p;
    return acre_c::note(ACRE_REFUSED, "acre: a request was refused; acre_resource_allocate would say why");
}

void acre_resource_free(acre_resource* resource, void* p, std::size_t bytes, std::size_t alignment) {
    acre_c::deallocate(resource, p, bytes, alignment);
}

bool acre_resource_resize(acre_resource* resource, void* p, std::size_t old_bytes, std::size_t new_bytes) {
    return acre_c::resize(resource, p, old_bytes, new_bytes);
}

bool acre_resource_owns(const acre_resource* resource, const void* p) {
    return !acre_c::is_null(resource) && resource->owns(p);
}

acre_usage acre_resource_usage(const acre_resource* resource) {
    return acre_c::is_null(resource) ? acre_usage{0, 0, 0} : resource->usage();
}

acre_buffer* acre_buffer_create(void* storage, std::size_t bytes) {
    return acre_c::guarded([=] {
        acre::require_option(storage != nullptr, "acre_buffer", "storage", 0, "a pointer that is not null");
        acre::require_option(bytes <= acre::max_request, "acre_buffer", "bytes", bytes, "less than half of all memory");
        acre::require_option(bytes <= UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(storage), "acre_buffer", "bytes",
                             bytes, "what ends before the last address");
        return new acre_buffer(acre_buffer::without_upstream{}, std::span{static_cast<std::byte*>(storage), bytes});
    });
}

void acre_buffer_destroy(acre_buffer* buffer) {
    acre_c::destroy(buffer);
}

void acre_buffer_reset(acre_buffer* buffer) {
    acre_c::reset(buffer);
}

acre_resource* acre_buffer_resource(acre_buffer* buffer) {
    return acre_c::resource_of(buffer);
}

acre_custom* acre_custom_create(const acre_functions* functions) {
    return acre_c::guarded([=] { return new acre_custom(acre_custom::without_upstream{}, acre_c::given(functions)); });
}

void acre_custom_destroy(acre_custom* custom) {
    acre_c::destroy(custom);
}

acre_resource* acre_custom_resource(acre_custom* custom) {
    return acre_c::resource_of(custom);
}

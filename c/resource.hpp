// What all handles of the C interface share: the resource that each of them is, who uses it, and errors.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include "acre.h"

namespace acre_c {

/// What a handle is a handle of. The numbers are odd ones, so that other memory is not taken for a handle.
enum class handle_kind : std::uint32_t {
    destroyed = 0xdead'ac2e,
    heap = 0xac2e'7100,
    general_heap,
    buffer,
    custom,
    arena,
    concurrent_arena,
    pool,
    concurrent_pool,
    multi_pool,
    concurrent_multi_pool,
    multi_arena,
    concurrent_multi_arena,
    statistics,
};

inline bool is_living(handle_kind kind) noexcept {
    return kind >= handle_kind::heap && kind <= handle_kind::statistics;
}

}  // namespace acre_c

/// A resource behind a handle.
struct acre_resource {
    explicit acre_resource(acre_c::handle_kind of_kind) noexcept : kind(of_kind) {}
    acre_resource(const acre_resource&) = delete;
    acre_resource& operator=(const acre_resource&) = delete;
    virtual ~acre_resource() {
        // Volatile: otherwise the compiler may leave out a store to an object that ends.
        *static_cast<volatile acre_c::handle_kind*>(&kind) = acre_c::handle_kind::destroyed;
    }

    virtual void* allocate(std::size_t bytes, std::size_t alignment) = 0;
    virtual void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept = 0;
    virtual void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept = 0;
    virtual bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept = 0;
    virtual bool owns(const void* p) const noexcept = 0;
    virtual acre_usage usage() const noexcept = 0;
    /// Throws the reason why try_allocate refused this request, or returns when it would be served now.
    virtual void explain_refusal(std::size_t bytes, std::size_t alignment) {
        deallocate(allocate(bytes, alignment), bytes, alignment);
    }

    /// Resources that take memory from this one.
    std::atomic<std::size_t> users = 0;
    // glibc's malloc writes up to four pointers to a block that was freed, and two of them only to a large one.
    void* written_when_freed[2] = {};
    /// Behind these, so that a destroyed handle is recognised for some time.
    acre_c::handle_kind kind;
};

namespace acre_c {

/// Makes this thread's last error; returns null, for functions to return.
std::nullptr_t note(acre_status status, const char* sentence) noexcept;
/// As note, for the exception that is being handled.
std::nullptr_t note_exception() noexcept;
std::nullptr_t note_null_handle() noexcept;

/// The base of the handles of one kind.
template <handle_kind Kind, class Base = acre_resource>
struct handle : Base {
    static constexpr handle_kind own_kind = Kind;
    handle() noexcept : Base(Kind) {}
};

/// Aborts: `given` is not of the kind that the function takes.
[[noreturn]] void refuse_handle(const acre_resource& given) noexcept;

/// Aborts where `given` was destroyed, or is no Handle.
template <class Handle>
void require_handle(const Handle& given) noexcept {
    bool is_one;
    if constexpr (requires { Handle::own_kind; }) {
        is_one = given.kind == Handle::own_kind;
    } else {
        is_one = is_living(given.kind);
    }
    if (!is_one) [[unlikely]]
        refuse_handle(given);
}

/// True for null, which becomes the last error. Aborts for what is no Handle.
template <class Handle>
bool is_null(const Handle* given) noexcept {
    if (given == nullptr) [[unlikely]] {
        note_null_handle();
        return true;
    }
    require_handle(*given);
    return false;
}

/// What `function` returns; when it throws, the last error is that, and null, false or 0 is returned.
template <class Function>
auto guarded(Function function) noexcept -> decltype(function()) {
    try {
        return function();
    } catch (...) {
        note_exception();
        return {};
    }
}

inline std::size_t alignment_or_default(std::size_t alignment) noexcept {
    return alignment == 0 ? acre::default_alignment : alignment;
}
inline std::size_t limit_or_none(std::size_t bytes) noexcept {
    return bytes == 0 ? SIZE_MAX : bytes;
}

/// Throws bad_option for what a later version may give a meaning.
template <std::size_t N>
void require_reserved_are_zero(const char* name, const std::size_t (&reserved)[N]) {
    for (const std::size_t each : reserved) acre::require_option(each == 0, name, "reserved", each, "0");
}

/// What `options` points to, or the defaults for null.
template <class Options>
Options given(const Options* options) noexcept {
    return options == nullptr ? Options{} : *options;
}

/// Aborts where `resource` has users, whose memory would be gone.
inline void require_unused(const acre_resource& resource, const char* what) noexcept {
    if (resource.users.load(std::memory_order_relaxed) != 0) [[unlikely]]
        acre::abort_on_misuse("acre_resource", what, &resource);
}

/// Counts as a user of an upstream; null stands for the heap.
class upstream_use {
public:
    explicit upstream_use(acre_resource* used) noexcept : used_(used) {
        if (used_ == nullptr) return;
        require_handle(*used_);
        used_->users.fetch_add(1, std::memory_order_relaxed);
    }
    upstream_use(const upstream_use&) = delete;
    upstream_use& operator=(const upstream_use&) = delete;
    ~upstream_use() {
        if (used_ != nullptr) used_->users.fetch_sub(1, std::memory_order_relaxed);
    }

    /// What is used, or null.
    acre_resource* used() const noexcept { return used_; }
    acre::resource_ref resource() const noexcept {
        if (used_ == nullptr) return acre::heap{};
        return *used_;
    }

private:
    acre_resource* used_;
};

/// The calls of acre_resource, by those of `Held`, a resource of the library; Base is a handle of some kind.
template <class Base, class Held>
struct holding : Base {
    template <class... Arguments>
    explicit holding(acre_resource* upstream, const Arguments&... arguments)
        : below(upstream), held(arguments..., below.resource()) {}
    struct without_upstream {};
    template <class... Arguments>
    explicit holding(without_upstream, const Arguments&... arguments) : below(nullptr), held(arguments...) {}

    void* allocate(std::size_t bytes, std::size_t alignment) final { return held.allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept final {
        return held.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept final {
        held.deallocate(p, bytes, alignment);
    }
    bool try_resize([[maybe_unused]] void* p, [[maybe_unused]] std::size_t old_bytes,
                    [[maybe_unused]] std::size_t new_bytes) noexcept final {
        if constexpr (acre::resizable_resource<Held>) {
            return held.try_resize(p, old_bytes, new_bytes);
        } else {
            return false;
        }
    }
    bool owns([[maybe_unused]] const void* p) const noexcept final {
        if constexpr (acre::owning_resource<Held>) {
            return held.owns(p);
        } else {
            return false;
        }
    }
    acre_usage usage() const noexcept final {
        acre_usage found{ACRE_UNKNOWN, ACRE_UNKNOWN, ACRE_UNKNOWN};
        if constexpr (requires { held.capacity(); }) found.capacity = held.capacity();
        if constexpr (requires { held.used(); }) found.used = held.used();
        if constexpr (requires { held.live(); }) found.live = held.live();
        if constexpr (requires { held.allocations(); }) found.live = held.allocations();
        return found;
    }

    upstream_use below;
    Held held;
};

/// A new handle made from `arguments`, or null.
template <class Handle, class... Arguments>
Handle* create(const Arguments&... arguments) {
    return new Handle(arguments...);
}

template <class Handle>
void destroy(Handle* destroyed) noexcept {
    if (destroyed == nullptr) return;
    require_handle(*destroyed);
    require_unused(*destroyed, "destroyed while another resource takes memory from it");
    delete destroyed;
}

template <class Handle>
void* allocate(Handle* from, std::size_t bytes, std::size_t alignment) noexcept {
    if (is_null(from)) return nullptr;
    return guarded([&] { return from->allocate(bytes, alignment_or_default(alignment)); });
}

template <class Handle>
void deallocate(Handle* to, void* p, std::size_t bytes, std::size_t alignment) noexcept {
    if (p == nullptr) return;
    if (to == nullptr) acre::abort_on_misuse("acre_resource", "freed to a null handle", p);
    require_handle(*to);
    to->deallocate(p, bytes, alignment_or_default(alignment));
}

template <class Handle>
bool resize(Handle* of, void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    return !is_null(of) && p != nullptr && of->try_resize(p, old_bytes, new_bytes);
}

template <class Handle, class... Arguments>
void reset(Handle* of, const Arguments&... arguments) noexcept {
    if (is_null(of)) return;
    require_unused(*of, "reset while another resource takes memory from it");
    of->held.reset(arguments...);
}

/// True for what acre_keep names; another number becomes the last error.
inline bool is_keep(const acre_keep& keep, const char* name) noexcept {
    // C passes any number, and in C++ reading one that the enumeration does not have is undefined.
    std::underlying_type_t<acre_keep> number;
    std::memcpy(&number, &keep, sizeof number);
    return guarded([=] {
        const auto given = static_cast<std::size_t>(number);
        acre::require_option(given <= ACRE_KEEP_NOTHING, name, "keep", given, "a value of acre_keep");
        return true;
    });
}

template <class Handle>
std::size_t release_unused(Handle* of) noexcept {
    return is_null(of) ? 0 : of->held.release_unused();
}

template <class Handle>
acre_resource* resource_of(Handle* of) noexcept {
    return is_null(of) ? nullptr : of;
}

}  // namespace acre_c

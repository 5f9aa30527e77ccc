// A pointer that knows which allocation it was made for: using it after that was freed, or taken back by a reset, a
// rewind or the end of its resource, is reported, also when the same address serves another allocation.
//
// Use it for pointers that are kept longer than a call: to objects of a level, in caches, in callbacks. Over a resource
// that is not checked it works as a plain pointer, so that one program text serves both builds. It is checked over a
// checked<R>, a checked_scratch, and statistics, limited, traced or logged over a checked<R>. Over a
// synchronized<checked<R>> it does not compile: its uses would read the records without the lock. Over any other
// resource that has a checked one inside, as a fallback, it is a plain pointer.
//
// Cost: 32 bytes; a look-up in the table of acre::checked for each use, a count for each copy. Over a resource that is
// not checked a comparison. Thread rules: as of a pointer, where its resource is for several threads; a resource must
// not end while another thread uses a checked_ptr to it.
//
//     acre::checked<acre::arena> level;
//     acre::checked_ptr<Orc> boss{level, level.create<Orc>("URG")};
//     boss->hit();
//     level.reset();
//     boss->hit();   // aborts: "acre::arena: used after a reset had taken it back"
#pragma once

#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/fwd.hpp>
#include <acre/observe/checked.hpp>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {

/// A checked resource, or a class derived from one.
template <class R>
concept derived_from_checked = requires(R& r) { []<class Checked>(checked<Checked>&) {}(r); };

template <class R>
inline constexpr bool is_locked_checked = false;
template <class R, class Lock>
inline constexpr bool is_locked_checked<synchronized<R, Lock>> = derived_from_checked<R>;

}  // namespace detail

/// A pointer to an object in a checked resource, which reports each access after the object was freed.
template <class T>
class checked_ptr {
    using place = std::source_location;
    template <class U>
    friend class checked_ptr;

public:
    static constexpr const char* name = "acre::checked_ptr";
    using element_type = T;

    /// Null.
    constexpr checked_ptr() noexcept = default;
    constexpr checked_ptr(std::nullptr_t) noexcept {}
    /// To `p`, or into an array or an object there, which `owner` allocated; reports an address that is not live.
    /// Without memory for the link to `owner` it is a plain pointer, and over a resource that is not checked.
    template <resource R>
    checked_ptr(R& owner, T* p, place where = place::current()) noexcept : p_(p) {
        static_assert(!detail::is_locked_checked<R>,
                      "acre: a checked_ptr would read the records of synchronized<checked<R>> without the lock: use a "
                      "resource that threads share by itself, as checked<concurrent_object_pool<T>>");
        if constexpr (requires { belong_to(owner, where); }) {
            if (p != nullptr) belong_to(owner, where);
        }
    }

    checked_ptr(const checked_ptr& other) noexcept
        : p_(other.p_), base_(other.base_), number_(other.number_), link_(other.link_) {
        if (link_ != nullptr) link_->add_reference();
    }
    checked_ptr(checked_ptr&& other) noexcept
        : p_(std::exchange(other.p_, nullptr)),
          base_(other.base_),
          number_(other.number_),
          link_(std::exchange(other.link_, nullptr)) {}
    /// To a base class.
    template <class U>
        requires std::is_convertible_v<U*, T*>
    checked_ptr(const checked_ptr<U>& other) noexcept
        : p_(other.p_), base_(other.base_), number_(other.number_), link_(other.link_) {
        if (link_ != nullptr) link_->add_reference();
    }
    checked_ptr& operator=(checked_ptr other) noexcept {
        std::swap(p_, other.p_);
        std::swap(base_, other.base_);
        std::swap(number_, other.number_);
        std::swap(link_, other.link_);
        return *this;
    }
    ~checked_ptr() {
        if (link_ != nullptr) link_->drop_reference();
    }

    /// The object, which must be live.
    T& operator*() const noexcept { return *get(place{}); }
    T* operator->() const noexcept { return get(place{}); }
    /// As operator->; the report names the caller's place. Null for null.
    T* get(place where = place::current()) const noexcept {
        if (link_ != nullptr) check_live(where);
        return p_;
    }
    /// True when it is not null; also when what it points to is gone.
    explicit operator bool() const noexcept { return p_ != nullptr; }
    friend bool operator==(const checked_ptr& a, const checked_ptr& b) noexcept { return a.p_ == b.p_; }
    friend bool operator==(const checked_ptr& a, const T* b) noexcept { return a.p_ == b; }

private:
    template <class R>
    void belong_to(checked<R>& owner, const place& where) noexcept {
        number_ = owner.records_.number_at(p_, base_);
        if (number_ == 0) owner.records_.report_dead(p_, where);
        link_ = owner.records_.link();
    }
    template <class R>
    void belong_to(const checked_scratch<R>& scope, const place& where) noexcept {
        belong_to(scope.parent(where), where);
    }

    void check_live(const place& where) const noexcept {
        if (link_->records == nullptr) [[unlikely]]
            abort_on_misuse(name, detail::checked_mistake::used_after_end, p_);
        link_->records->may_be_used(base_, number_, where);
    }

    T* p_ = nullptr;
    const std::byte* base_ = nullptr;  // of the allocation
    std::uint64_t number_ = 0;
    detail::checked_link* link_ = nullptr;
};
template <class R, class T>
checked_ptr(R&, T*) -> checked_ptr<T>;

}  // namespace acre

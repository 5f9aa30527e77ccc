// An R in which misuse is caught where it happens, or soon after, with the place that did it.
//
// Use it while developing and testing, around the innermost resource: synchronized<checked<pool<64>>>. Use
// acre::statistics for counts, and AddressSanitizer beside it: what that tool sees, it reports at the access itself.
// checked<R> has R's interface. It finds, at the free if nothing else is said:
//   a write behind an allocation or in front    also by check(p) and check_all(), at a reset, at the end
//   a write to what was freed                   when it leaves the quarantine, by check_all(), at the end
//   a double free, a pointer of another resource, a pointer into the middle, a wrong size or alignment
//   a free of what a reset, a rewind or the end of a scratch had taken back
//   a mark from before a reset                  at the rewind
//   scratches that end out of order             at the end of the outer checked_scratch
//   allocations that are not freed              at the end; not in arenas, typed arenas and object pools
//   a use of what is gone                       at the use, by acre::checked_ptr
// A report names the mistake, the address, the size, and where it was allocated and freed: file and line of the call,
// or those given by here(), and with .stack_frames the call stack. It goes to the handler of acre/core/misuse.hpp, and
// then the program ends; or to the option .handler, which may return: then the wrong call has no effect.
//
// checked<R> is not an R and cannot be passed as R&, because calls through R& would bypass the checks. Fences are
// storage: R serves 32 bytes more for each allocation, or twice its alignment where that is stricter than 16, and R's
// options in bytes have to allow for them. Pools of slots get larger slots by themselves.
//
// Cost: with up to 1,000 live, 6 to 13 ns for an allocation and its free of 64 bytes over an acre::pool (3.6 to 5.1
// times the pool, at most a tenth of malloc under AddressSanitizer), 19 to 34 over an acre::multi_pool, and the bytes
// that are filled (docs/checked.md). The records take 130 to 190 bytes for each live allocation from the option
// .records, never from R; a request whose record has no memory is refused. reset, rewind and check_all are linear in
// the records. Thread rules: those of R; over a resource that threads share, the records have a lock.
//
//     acre::checked<acre::pool<64>> slots;
//     void* p = slots.allocate();
//     slots.deallocate(p);
//     slots.deallocate(p);   // aborts: "acre::pool: double free", with the three places
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/innermost_destructor.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/fwd.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/checked_options.hpp>
#include <acre/observe/detail/checked_form.hpp>
#include <acre/observe/detail/checked_records.hpp>
#include <acre/observe/detail/checked_walk.hpp>
#include <acre/pools/detail/live_iterator.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {

/// The type of R's objects, if it has one.
template <class R>
struct value_of_impl {
    using type = no_options;
};
template <of_one_type R>
struct value_of_impl<R> {
    using type = typename R::value_type;
};
template <class R>
using value_of = typename value_of_impl<R>::type;

template <class R>
concept has_marks = requires(R& r) { r.rewind(r.mark()); };

/// R's mark, and where the records and the scratches were.
template <class Mark>
struct checked_mark {
    Mark of_resource;
    const void* owner;
    std::uint64_t number;  // of the next allocation
    std::uint64_t newest;  // of those that had not been taken back
    std::size_t scopes_begun;
    std::size_t resets;
};

/// Base with the type of the marks, if R has them.
template <class R>
struct has_mark_type {};
template <has_marks R>
struct has_mark_type<R> {
    using mark_type = checked_mark<decltype(std::declval<const R&>().mark())>;
};

/// Objects that R destroys at a reset and at its end. A typed_arena destroys none.
template <class R>
concept pool_of_objects = of_one_type<R> && requires(R& r) { r.reset(); } && !requires(R& r) { r.deallocate_all(); };

/// True when what is live at R's end is no leak, but what the end is for.
template <class R>
inline constexpr bool ends_what_is_live = has_marks<R> || has_typed_calls<R> || of_one_type<R>;
template <class R>
inline constexpr bool ends_what_is_live<recycling<R>> = ends_what_is_live<R>;

}  // namespace detail

template <class R>
class checked_scratch;
template <class T>
class checked_ptr;

/// An R that reports its misuse. R may be incomplete where checked<R> is only named.
template <class R>
    requires true  // acre/core/detail/left_out.hpp
class checked<R> : public detail::forwarded_queries<checked<R>, detail::checked_form_of<R>>,
                   public detail::has_options<R>,
                   public detail::has_values<R>,
                   public detail::has_slots<R>,
                   public detail::has_mark_type<R> {
    using inner = detail::checked_form_of<R>;
    using base = detail::forwarded_queries<checked, inner>;
    using place = std::source_location;
    friend detail::forwarded_requests<checked, inner>;
    friend checked_scratch<R>;
    template <class T>
    friend class checked_ptr;

    static_assert(!requires { typename R::lock_type; }, "acre: the lock goes outside: write synchronized<checked<R>>");

    static constexpr bool has_slots_of_one_size = requires(R& r) { r.allocate(); };
    // Slots that no one counts but this.
    static constexpr bool has_own_slots = has_slots_of_one_size && !std::is_same_v<inner, R>;
    static constexpr bool destroys_objects = detail::pool_of_objects<R>;
    static constexpr bool is_arena = detail::has_marks<R> || detail::has_typed_calls<R>;

public:
    static constexpr const char* name = [] {
        if constexpr (requires { R::name; }) {
            return R::name;
        } else {
            return "acre::checked";
        }
    }();
    /// acre::shared_resource
    static constexpr bool shared_by_threads = shared_resource<R>;

    /// R with its defaults.
    checked() : checked(checked_options{}) {}
    /// R is constructed from `arguments`.
    template <class First, class... Rest>
        requires std::is_constructible_v<inner, First, Rest...> &&
                     (!std::is_same_v<std::remove_cvref_t<First>, checked>) &&
                     (!std::is_same_v<std::remove_cvref_t<First>, checked_options>)
    explicit checked(First&& first, Rest&&... rest)
        : storage_(std::forward<First>(first), std::forward<Rest>(rest)...),
          records_({}, name, shared_by_threads, !is_arena) {}
    /// R is constructed from its options: checked<R> c{{.name = value}}.
    explicit checked(const detail::options_of<R>& chosen, resource_ref upstream = heap{})
        requires std::is_constructible_v<inner, const detail::options_of<R>&, resource_ref>
        : storage_(chosen, upstream), records_({}, name, shared_by_threads, !is_arena) {}
    /// Checks as `options` say; R is constructed from `arguments`. Throws bad_option.
    template <class... Arguments>
        requires std::is_constructible_v<inner, Arguments...>
    explicit checked(const checked_options& options, Arguments&&... arguments)
        : storage_(std::forward<Arguments>(arguments)...), records_(options, name, shared_by_threads, !is_arena) {}
    /// As above, with R's options: checked<R> c{acre::checked_options{.stack_frames = 8}, {.name = value}}.
    explicit checked(const checked_options& options, const detail::options_of<R>& chosen,
                     resource_ref upstream = heap{})
        requires std::is_constructible_v<inner, const detail::options_of<R>&, resource_ref>
        : storage_(chosen, upstream), records_(options, name, shared_by_threads, !is_arena) {}

    /// The records move with the storage.
    checked(checked&& other) noexcept
        requires std::is_move_constructible_v<inner>
        : storage_(std::move(other.storage_)), records_(std::move(other.records_)) {}
    checked& operator=(checked&& other) noexcept
        requires std::is_move_constructible_v<inner>
    {
        if (this == &other) return *this;
        detail::destroy_at(this);
        return *detail::construct_at(this, std::move(other));
    }
    checked(const checked&) = delete;
    checked& operator=(const checked&) = delete;

    /// Checks everything, reports what is not freed, and ends as R does.
    ~checked() { finish(); }

    /// The next request, also one that takes no place, is made at the caller's line: level.here().create<Orc>("URG").
    checked& here(place where = place::current()) noexcept
        requires(!shared_by_threads)
    {
        place_ = where;
        return *this;
    }

    // Requests. `where` is the caller's place.

    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment, place where = place::current()) {
        return serve<true>(bytes, alignment, where);
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment,
                       place where = place::current()) noexcept {
        return serve<false>(bytes, alignment, where);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment,
                    place where = place::current()) noexcept {
        if (p != nullptr) take_back(p, {bytes, alignment}, where);
    }
    static std::size_t bytes_given(std::size_t, std::size_t) = delete;  // a free is checked against what was asked for
    void deallocate_moved(void* p, std::size_t bytes, std::size_t alignment = default_alignment,
                          place where = place::current()) noexcept
        requires requires(R& r) { r.deallocate_moved(p, bytes, alignment); }
    {
        deallocate(p, bytes, alignment, where);
    }
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes, place where = place::current()) noexcept
        requires resizable_resource<R>
    {
        using block = detail::fenced_block;
        if (!records_.may_be_resized(p, old_bytes, where) || !detail::checked_records::fits(new_bytes, 1)) return false;
        const std::size_t alignment = records_.alignment_at(p);
        auto* first = static_cast<std::byte*>(p);
        const block before = block::around(first, old_bytes, alignment);
        detail::open_fences(first, old_bytes);
        const bool done = storage_.try_resize(before.storage, before.bytes, block::of(new_bytes, alignment).bytes);
        if (done) records_.resized(p, new_bytes);
        detail::close_fences(first, done ? new_bytes : old_bytes);
        return done;
    }

    // Slots of a pool.
    void* allocate(place where = place::current())
        requires has_slots_of_one_size
    {
        return serve_slot<true>(where);
    }
    void* try_allocate(place where = place::current()) noexcept
        requires has_slots_of_one_size
    {
        return serve_slot<false>(where);
    }
    void deallocate(void* p, place where = place::current()) noexcept
        requires has_slots_of_one_size
    {
        if (p != nullptr) take_back_slot(p, where);
    }
    void deallocate_unsized(void* p, place where = place::current()) noexcept
        requires requires(R& r) { r.deallocate_unsized(p); }
    {
        if (p != nullptr) take_back(p, {}, where);
    }

    // Storage for the objects of a typed_arena.
    auto allocate_one(place where = place::current())
        requires requires(R& r) { r.allocate_one(); }
    {
        return serve_array<true, detail::value_of<R>>(1, where);
    }
    auto try_allocate_one(place where = place::current()) noexcept
        requires requires(R& r) { r.try_allocate_one(); }
    {
        return serve_array<false, detail::value_of<R>>(1, where);
    }
    auto allocate_n(std::size_t count, place where = place::current())
        requires requires(R& r) { r.allocate_n(count); }
    {
        return serve_array<true, detail::value_of<R>>(count, where);
    }
    auto try_allocate_n(std::size_t count, place where = place::current()) noexcept
        requires requires(R& r) { r.try_allocate_n(count); }
    {
        return serve_array<false, detail::value_of<R>>(count, where);
    }
    void deallocate_one(detail::value_of<R>* p, place where = place::current()) noexcept
        requires requires(R& r) { r.deallocate_one(p); }
    {
        deallocate(p, sizeof(*p), alignof(detail::value_of<R>), where);
    }
    void deallocate_n(detail::value_of<R>* p, std::size_t count, place where = place::current()) noexcept
        requires requires(R& r) { r.deallocate_n(p, count); }
    {
        deallocate(p, count * sizeof(*p), alignof(detail::value_of<R>), where);
    }
    void limit_slots(std::size_t count)
        requires requires(R& r) { r.limit_slots(count); }
    {
        storage_.limit_slots(count);
    }
    void prefault() noexcept
        requires requires(R& r) { r.prefault(); }
    {
        storage_.prefault();
    }

    // Storage for objects of a type; copy and format: acre/core/detail/forwarding.hpp.
    template <class T>
        requires detail::has_typed_calls<R>
    T* allocate(place where = place::current()) {
        return at(where).base::template allocate<T>();
    }
    template <class T>
        requires detail::has_typed_calls<R>
    T* try_allocate(place where = place::current()) noexcept {
        return at(where).base::template try_allocate<T>();
    }
    template <class T>
        requires detail::has_typed_calls<R>
    std::span<T> allocate(std::size_t count, place where = place::current()) {
        return at(where).base::template allocate<T>(count);
    }
    template <class T>
        requires detail::has_typed_calls<R>
    std::span<T> try_allocate(std::size_t count, place where = place::current()) noexcept {
        return at(where).base::template try_allocate<T>(count);
    }

    // Objects. Their place is that of here(), else the address of the call: these are not inlined.
    template <class... Arguments>
        requires detail::of_one_type<R>
    [[gnu::noinline]] auto create(Arguments&&... arguments) {
        return make<true, typename R::value_type>(__builtin_return_address(0), std::forward<Arguments>(arguments)...);
    }
    template <class... Arguments>
        requires detail::of_one_type<R>
    [[gnu::noinline]] auto try_create(Arguments&&... arguments) {
        return make<false, typename R::value_type>(__builtin_return_address(0), std::forward<Arguments>(arguments)...);
    }
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template create<T>(std::forward<Arguments>(a)...); } &&
                 (!detail::of_one_type<R>)
    [[gnu::noinline]] T* create(Arguments&&... arguments) {
        return make<true, T>(__builtin_return_address(0), std::forward<Arguments>(arguments)...);
    }
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template try_create<T>(std::forward<Arguments>(a)...); } &&
                 (!detail::of_one_type<R>)
    [[gnu::noinline]] T* try_create(Arguments&&... arguments) {
        return make<false, T>(__builtin_return_address(0), std::forward<Arguments>(arguments)...);
    }
    /// Checks before the destructor runs.
    void destroy(detail::value_of<R>* object, place where = place::current()) noexcept
        requires detail::of_one_type<R>
    {
        destroy_object(object, where);
    }
    template <class T>
        requires requires(R& r, T* object) { r.destroy(object); } && (!detail::of_one_type<R>)
    void destroy(T* object, place where = place::current()) noexcept {
        destroy_object(object, where);
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template create_array<T>(count); }
    std::span<T> create_array(std::size_t count, place where = place::current()) {
        return make_array<true, T>(count, where);
    }
    template <class T, class... Arguments>
        requires(sizeof...(Arguments) > 0 &&
                 requires(R& r, const Arguments&... a) { r.template create_array<T>(0, a...); })
    std::span<T> create_array(std::size_t count, const Arguments&... arguments) {
        return make_array<true, T>(count, place{}, arguments...);
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template try_create_array<T>(count); }
    std::span<T> try_create_array(std::size_t count, place where = place::current()) {
        return make_array<false, T>(count, where);
    }
    template <class T, class... Arguments>
        requires(sizeof...(Arguments) > 0 &&
                 requires(R& r, const Arguments&... a) { r.template try_create_array<T>(0, a...); })
    std::span<T> try_create_array(std::size_t count, const Arguments&... arguments) {
        return make_array<false, T>(count, place{}, arguments...);
    }
    template <class T>
    void destroy_array(T*) noexcept = delete;  // its storage comes from `new (chunks) T[n]`, which is not checked

    // Everything at once.

    /// As R's. Whoever uses what was live gets a report. Linear in the live allocations.
    void reset(place where = place::current())
        requires requires(R& r) { r.reset(); }
    {
        end_all(where, [](inner& r) { r.reset(); });
    }
    template <class Policy>
        requires requires(R& r, const Policy& policy) { r.reset(policy); }
    void reset(const Policy& policy, place where = place::current()) {
        end_all(where, [&](inner& r) { r.reset(policy); });
    }
    /// As R's release(), and reports as reset.
    void release(place where = place::current()) noexcept
        requires requires(R& r) { r.release(); }
    {
        end_all(where, [](inner& r) { r.release(); });
    }
    /// Destroys no objects.
    void deallocate_all(place where = place::current()) noexcept
        requires requires(R& r) { r.deallocate_all(); }
    {
        end_all(where, [](inner& r) { r.deallocate_all(); });
    }
    /// What is held back goes back to R first.
    std::size_t release_unused() noexcept
        requires requires(R& r) { r.release_unused(); }
    {
        give_back_held();
        return storage_.release_unused();
    }

    /// R's mark and the number of the next allocation.
    auto mark() const noexcept
        requires detail::has_marks<R>
    {
        return detail::checked_mark<decltype(storage_.mark())>{
            storage_.mark(), this, records_.next_number(), records_.newest_kept(), scopes_begun_, resets_};
    }
    template <class Mark>
        requires requires(R& r, const Mark& to) { r.rewind(to.of_resource); }
    void rewind(const Mark& to, place where = place::current()) noexcept {
        if (is_void(to)) return records_.report_wrong_mark(this, to.owner != this, where);
        end_scopes(to.scopes_begun);
        records_.check_from(to.number);
        records_.destroy_due_objects(to.number);
        records_.prepare_end_from(to.number);
        storage_.rewind(to.of_resource);
        records_.ended_from(to.number, false, where);
    }

    /// True when a rewind to `to` would be reported.
    template <class Mark>
        requires requires(R& r, const Mark& to) { r.rewind(to.of_resource); }
    bool is_void(const Mark& to) const noexcept {
        if constexpr (requires { storage_.is_void(to.of_resource); }) {
            if (storage_.is_void(to.of_resource)) return true;
        }
        return to.owner != this || to.resets != resets_ || to.number > records_.next_number() ||
               !records_.is_kept(to.newest);
    }

    // Checks.

    /// Checks now that `p` is a live allocation whose fences are whole; reports it and returns false when not.
    bool check(const void* p, place where = place::current()) noexcept { return records_.check(p, where); }
    /// Checks all live allocations and all freed ones that are held back. Returns how many are damaged.
    std::size_t check_all() noexcept { return records_.check_from(0); }
    /// Gives back to R what was freed and is held back, each checked.
    void release_quarantine() noexcept { give_back_held(); }
    /// Number of freed allocations that are held back.
    std::size_t quarantined() const noexcept { return records_.held(); }

    /// Number of live allocations; what is held back does not count.
    std::size_t live() const noexcept
        requires requires(const R& r) { r.live(); }
    {
        return records_.live();
    }

    // The live objects of a pool, in address order.
    auto begin() noexcept
        requires requires(R& r) { r.begin(); }
    {
        return iterator_at(storage_.begin(), storage_.end());
    }
    auto end() noexcept
        requires requires(R& r) { r.end(); }
    {
        return iterator_at(storage_.end(), storage_.end());
    }
    template <class Visit>
    void for_each(Visit visit)
        requires requires(R& r) { r.begin(); }
    {
        for (auto& each : *this) visit(each);
    }

    /// The resource that R's blocks come from.
    resource_ref upstream() const noexcept
        requires requires(const R& r) {
            { r.upstream() } -> std::same_as<resource_ref>;
        }
    {
        return storage_.upstream();
    }

private:
    using form = detail::checked_form<R>;
    static constexpr detail::request_kind slot_kind{.object = destroys_objects, .slot = true, .caller = nullptr};

    // A live checked_scratch. The resource clears `owner` when it takes the scratch's storage back.
    struct scope {
        checked* owner;
        scope* outer;
        std::size_t number;
        place began;
    };

    template <class Function>
    auto around(const detail::query_call&, Function&& ask) {
        return ask(storage_);
    }
    template <class Function>
    auto around(const detail::query_call&, Function&& ask) const {
        return ask(storage_);
    }

    checked& at(place where) noexcept {
        if constexpr (!shared_by_threads) {
            if (place_.line() == 0) place_ = where;
        }
        return *this;
    }
    // The place of this request: that of here(), else `otherwise`.
    place take_place(place otherwise) noexcept {
        if constexpr (!shared_by_threads) {
            if (place_.line() != 0) [[unlikely]]
                return std::exchange(place_, place{});
        }
        return otherwise;
    }

    template <bool Throws>
    void* serve(std::size_t bytes, std::size_t alignment, place where) {
        return serve_inline<Throws>(bytes, alignment, {}, take_place(where));
    }
    template <bool Throws, class T>
    T* serve_array(std::size_t count, place where) {
        return static_cast<T*>(serve<Throws>(array_bytes(count, sizeof(T)).value_or(SIZE_MAX), alignof(T), where));
    }
    template <bool Throws>
    void* serve_slot(place otherwise) {
        return serve_usual<Throws, form::slot_bytes, form::slot_alignment, true>(nullptr, take_place(otherwise));
    }
    // For constants.
    template <bool Throws, std::size_t Bytes, std::size_t Alignment, bool Slot>
    [[gnu::always_inline]] void* serve_usual(const void* caller, place where) {
        const detail::request_kind kind{.object = destroys_objects, .slot = Slot, .caller = caller};
        if constexpr (!has_own_slots) {
            return serve_inline<Throws>(Bytes, Alignment, kind, where);
        } else if (void* p = records_.template reuse<shared_by_threads>(Bytes, Alignment, kind, where)) {
            return p;
        } else if constexpr (Slot) {
            return serve_new<Throws, Bytes, Alignment>(where);
        } else {
            return serve_new<Throws, Bytes, Alignment>(where, caller);
        }
    }
    // Not inlined, so that the usual way saves no registers for it.
    template <bool Throws, std::size_t Bytes, std::size_t Alignment>
    [[gnu::noinline]] void* serve_new(place where) {
        return serve_inline<Throws>(Bytes, Alignment, slot_kind, where);
    }
    template <bool Throws, std::size_t Bytes, std::size_t Alignment>
    [[gnu::noinline]] void* serve_new(place where, const void* caller) {
        return serve_inline<Throws>(Bytes, Alignment, {.object = destroys_objects, .caller = caller}, where);
    }
    // Inlined, so that what is constant costs nothing.
    template <bool Throws>
    [[gnu::always_inline]] void* serve_inline(std::size_t bytes, std::size_t alignment, detail::request_kind kind,
                                              place where) {
        if (!detail::checked_records::fits(bytes, alignment)) [[unlikely]]
            return refuse<Throws>(bytes, alignment);
        const auto block = detail::fenced_block::of(bytes, alignment);
        void* storage = storage_.try_allocate(block.bytes, block.alignment);
        if (storage == nullptr) [[unlikely]] {
            storage = retry(block);
            if (storage == nullptr) return refuse<Throws>(bytes, alignment);
        }
        auto* p = static_cast<std::byte*>(storage) + block.alignment;
        if (!records_.template add<shared_by_threads>(p, bytes, alignment, kind, where)) [[unlikely]]
            return undo<Throws>(storage, bytes, alignment);
        return p;
    }

    // What is held back may be what is missing.
    [[gnu::noinline, gnu::cold]] void* retry(detail::fenced_block block) noexcept {
        if (records_.held() == 0) return nullptr;
        give_back_held();
        return storage_.try_allocate(block.bytes, block.alignment);
    }

    // There is no memory for the record.
    template <bool Throws>
    [[gnu::noinline, gnu::cold]] void* undo(void* storage, std::size_t bytes, std::size_t alignment) {
        const auto block = detail::fenced_block::of(bytes, alignment);
        storage_.deallocate(storage, block.bytes, block.alignment);
        if constexpr (Throws) return raise<out_of_memory>("acre::checked (records)", bytes, alignment);
        return nullptr;
    }

    // R itself says why. Where it would serve the request without fences, memory is what is missing.
    template <bool Throws>
    [[gnu::noinline, gnu::cold]] void* refuse(std::size_t bytes, std::size_t alignment) {
        if constexpr (Throws) {
            void* p = storage_.allocate(bytes, alignment);
            if (p == nullptr) return nullptr;
            storage_.deallocate(p, bytes, alignment);
            return raise<out_of_memory>(name, bytes, alignment);
        }
        return nullptr;
    }

    void take_back(void* p, detail::claimed_size claimed, place otherwise) noexcept {
        const auto given = records_.remove(p, claimed, take_place(otherwise));
        if (given.block.storage == nullptr) return;
        storage_.deallocate(given.block.storage, given.block.bytes, given.block.alignment);
        if (given.others_follow) [[unlikely]]
            give_back_held(false);
    }
    // The same for constants.
    [[gnu::always_inline]] void take_back_usual(void* p, std::size_t bytes, std::size_t alignment,
                                                detail::request_kind kind, place otherwise) noexcept {
        const place where = take_place(otherwise);
        if constexpr (has_own_slots) {
            void* leaving = nullptr;
            if (records_.template remove_usual<shared_by_threads>(p, bytes, alignment, kind, where, leaving))
                [[likely]] {
                if (leaving != nullptr) storage_.deallocate(leaving);
                return;
            }
        }
        take_back(p, kind.slot ? detail::claimed_size{} : detail::claimed_size{bytes, alignment}, where);
    }
    void take_back_slot(void* p, place where) noexcept {
        take_back_usual(p, form::slot_bytes, form::slot_alignment, slot_kind, where);
    }
    // Gives back what is held, or what the options do not allow to hold.
    [[gnu::noinline]] void give_back_held(bool all = true) noexcept {
        for (auto given = records_.next_given_back(all); given.block.storage != nullptr;
             given = records_.next_given_back(all)) {
            storage_.deallocate(given.block.storage, given.block.bytes, given.block.alignment);
        }
    }

    template <class T>
    void destroy_object(T* object, place where) noexcept {
        if (object == nullptr) return;
        void* p = const_cast<std::remove_cv_t<T>*>(object);
        // A class with virtual functions may be the base of the object.
        detail::claimed_size claimed{sizeof(T), alignof(T)};
        if constexpr (!detail::of_one_type<R> && detail::may_be_base<T>()) claimed.alignment = 0;
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (!records_.may_be_freed(p, claimed, where)) return;
            if (detail::innermost_destructor::is_of(p)) [[unlikely]]
                return records_.report_object(detail::mistake::ended_by_itself, p, where);
            run_destructor(object, p);
        }
        if constexpr (has_own_slots && detail::of_one_type<R>) {
            take_back_usual(p, sizeof(T), alignof(T), {.object = destroys_objects}, where);
        } else {
            take_back(p, claimed, where);
        }
    }

    template <class T>
    static void run_destructor(T* object, const void* p) noexcept {
        const detail::innermost_destructor running{name, p};
        detail::destroy_at(object);
    }

    // Objects that an arena destroys at its reset.
    template <class T>
    static constexpr bool is_due = is_arena && !std::is_trivially_destructible_v<T>;

    template <class T>
    static void destroy_due(void* first, std::size_t count) noexcept {
        auto* objects = static_cast<T*>(first);
        while (count > 0) detail::destroy_at(objects + --count);
    }

    template <bool Throws, class T, class... Arguments>
    T* make(const void* caller, Arguments&&... arguments) {
        void* p = serve_usual<Throws, sizeof(T), alignof(T), false>(caller, take_place(place{}));
        if (p == nullptr) return nullptr;
        const std::size_t resets_before = resets_;
        T* object = detail::construct_at_or<T>(
            p, [this, p]() noexcept { take_back(p, {}, place::current()); }, std::forward<Arguments>(arguments)...);
        if constexpr (detail::has_constructors<T>) {
            if (!records_.is_live(p)) [[unlikely]]
                records_.report_object(resets_ == resets_before ? detail::mistake::freed_in_constructor
                                                                : detail::mistake::reset_in_constructor,
                                       p, place{});
        }
        return register_due<Throws, T>(object, 1) ? object : nullptr;
    }

    template <bool Throws, class T, class... Arguments>
    std::span<T> make_array(std::size_t count, place where, const Arguments&... arguments) {
        T* first = serve_array<Throws, T>(count, where);
        if (first == nullptr) return {};
        struct guard {
            checked& made_in;
            void* storage;
            ~guard() {
                if (storage != nullptr) made_in.take_back(storage, {}, place::current());
            }
        } unless_constructed{*this, first};
        detail::value_construct(first, count, arguments...);
        unless_constructed.storage = nullptr;
        return register_due<Throws, T>(first, count) ? std::span<T>{first, count} : std::span<T>{};
    }

    // After the constructor, which may have made other objects: those are destroyed later.
    template <bool Throws, class T>
    bool register_due(T* first, std::size_t count) {
        if constexpr (is_due<T>) {
            if (!records_.add_due_object(first, count, &destroy_due<T>)) [[unlikely]] {
                destroy_due<T>(first, count);
                take_back(first, {}, place::current());
                if constexpr (Throws) raise<out_of_memory>("acre::checked (records)", sizeof(T), alignof(T));
                return false;
            }
        }
        return true;
    }

    void destroy_all() noexcept {
        if constexpr (is_arena) records_.destroy_due_objects(0);
        if constexpr (destroys_objects) {
            using value = typename R::value_type;
            records_.destroy_pool_objects([this](void* p) {
                run_destructor(std::launder(static_cast<value*>(p)), p);
                take_back(p, {}, place::current());
            });
        }
    }

    template <class Function>
    void end_all(place where, Function take_all_back) {
        if (const void* ended = detail::innermost_destructor::object(); ended != nullptr && records_.is_live(ended))
            [[unlikely]]
            return records_.report_object(detail::mistake::reset_in_destructor, ended, where);
        end_scopes(0);
        records_.check_from(0);
        destroy_all();
        records_.prepare_end_from(0);
        take_all_back(storage_);
        records_.ended_from(0, true, where);
        ++resets_;
    }
    [[gnu::noinline]] void finish() noexcept {
        end_scopes(0);
        records_.check_from(0);
        // The objects of a pool are live at its end until it destroys them; those of an arena may free what they hold.
        if constexpr (destroys_objects) records_.report_leaks(false);
        destroy_all();
        if constexpr (!destroys_objects) records_.report_leaks(!detail::ends_what_is_live<R>);
        give_back_held();
        // What is leaked stays as it is: a heap does not take it back.
        records_.prepare_end_from(0, false);
    }

    // Ends the scratches but for the first `begun_before` that ever began.
    void end_scopes(std::size_t begun_before) noexcept {
        for (; innermost_ != nullptr && innermost_->number >= begun_before; innermost_ = innermost_->outer)
            innermost_->owner = nullptr;
    }
    // The link to `linked`, a live scratch.
    scope*& link_to(const scope& linked) noexcept {
        scope** link = &innermost_;
        while (*link != &linked) link = &(*link)->outer;
        return *link;
    }

    template <class Iterator>
    auto iterator_at(Iterator at, Iterator last) noexcept {
        using value = typename R::value_type;
        using walk = detail::checked_walk<Iterator, value>;
        return detail::live_iterator<walk, value>{walk{at, last, records_}};
    }

    inner storage_;
    detail::checked_records records_;
    scope* innermost_ = nullptr;
    std::size_t scopes_begun_ = 0;
    std::size_t resets_ = 0;
    place place_;
};

}  // namespace acre

// A hash table from a number (an address or a size) to a record, with memory from an upstream of its own. It never
// throws: insert returns null when upstream has no memory.
//
// Open addressing with linear probing. Cost: constant time except for growing, which doubles the table; 8 bytes and the
// record for each bucket, with half of `MaxLoad` eighths to all of them in use. Takes memory at the first record.
// Where upstream has no piece as large as the doubled table, further records take a piece of 40 bytes and the record
// each, and finding one takes a step for each two bits of their number. Inserting and erasing move records. Not
// thread-safe.
#pragma once

#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// Multiplying by the golden ratio spreads numbers at equal distances evenly: the high bits of two rarely meet.
constexpr std::uint64_t spread(std::size_t key) noexcept {
    return std::uint64_t{key} * 0x9E3779B97F4A7C15u;
}

/// The records for which a table has no room, each in a piece of memory of its own: a tree by the bits of spread(key).
template <class Value>
class record_tree {
    struct node {
        std::size_t key;
        Value value{};
        node* children[4]{};
    };

public:
    Value* find(std::size_t key) const noexcept {
        node* found = *place_of(key);
        return found == nullptr ? nullptr : &found->value;
    }
    /// The record of `key`, added if there was none; null when there is no memory for it.
    Value* insert(std::size_t key, const resource_ref& upstream) noexcept {
        node** at = place_of(key);
        if (*at == nullptr) {
            void* storage = upstream.try_allocate(sizeof(node), alignof(node));
            if (storage == nullptr) return nullptr;
            *at = ::new (storage) node{key};
            ++size_;
        }
        return &(*at)->value;
    }
    bool erase(std::size_t key, const resource_ref& upstream) noexcept {
        node** at = place_of(key);
        if (*at == nullptr) return false;
        erase_at(at, upstream);
        return true;
    }
    template <class Predicate>
    void erase_if(Predicate& predicate, const resource_ref& upstream) noexcept {
        erase_below(&root_, predicate, upstream);
    }
    template <class Function>
    void for_each(Function& function) const {
        visit(root_, function);
    }
    std::size_t size() const noexcept { return size_; }

private:
    // Of the node of `key`, or where it belongs.
    node** place_of(std::size_t key) const noexcept {
        node** at = const_cast<node**>(&root_);
        for (std::uint64_t path = spread(key); *at != nullptr && (*at)->key != key; path <<= 2)
            at = &(*at)->children[path >> 62];
        return at;
    }
    // Any leaf below a node can take its place.
    void erase_at(node** at, const resource_ref& upstream) noexcept {
        node** leaf = at;
        for (node** below = at; below != nullptr; below = first_child(**leaf)) leaf = below;
        node* const gone = std::exchange(*leaf, nullptr);
        if (leaf != at) {
            (*at)->key = gone->key;
            (*at)->value = gone->value;
        }
        upstream.deallocate(gone, sizeof(node), alignof(node));
        --size_;
    }
    static node** first_child(node& of) noexcept {
        for (node*& each : of.children) {
            if (each != nullptr) return &each;
        }
        return nullptr;
    }
    template <class Predicate>
    void erase_below(node** at, Predicate& predicate, const resource_ref& upstream) noexcept {
        while (*at != nullptr && predicate(std::as_const((*at)->value))) erase_at(at, upstream);
        if (*at == nullptr) return;
        for (node*& each : (*at)->children) erase_below(&each, predicate, upstream);
    }
    template <class Function>
    static void visit(node* from, Function& function) {
        if (from == nullptr) return;
        function(from->key, from->value);
        for (node* each : from->children) visit(each, function);
    }

    node* root_ = nullptr;
    std::size_t size_ = 0;
};

/// Values by key; keys are less than SIZE_MAX. The table grows when more than `MaxLoad` eighths of it are in use.
template <class Value, std::size_t MaxLoad = 6>
class record_table {
    static_assert(std::is_trivially_copyable_v<Value>);

public:
    constexpr record_table() noexcept = default;
    explicit record_table(resource_ref upstream) noexcept : upstream_(upstream) {}
    record_table(record_table&& other) noexcept
        : buckets_(std::exchange(other.buckets_, nullptr)),
          capacity_(std::exchange(other.capacity_, 0)),
          shift_(other.shift_),
          size_(std::exchange(other.size_, 0)),
          plain_below_(std::exchange(other.plain_below_, 0)),
          rest_(std::exchange(other.rest_, {})),
          upstream_(other.upstream_) {}
    /// The same records, in memory of the same upstream. Empty when that has none.
    record_table(const record_table& other) noexcept : upstream_(other.upstream_) {
        other.for_each([this](std::size_t key, const Value& value) {
            if (Value* copied = insert(key)) *copied = value;
        });
        if (size() != other.size()) clear();
    }
    record_table& operator=(const record_table&) = delete;
    record_table& operator=(record_table&& other) noexcept {
        if (this == &other) return *this;
        detail::destroy_at(this);
        return *detail::construct_at(this, std::move(other));
    }
    ~record_table() {
        clear_rest();
        if (buckets_ != nullptr) upstream_.deallocate(buckets_, capacity_ * sizeof(bucket), alignof(bucket));
    }

    /// The record of `key`; null when there is none.
    const Value* find(std::size_t key) const noexcept {
        if (size_ == 0) return rest_.find(key);
        const bucket& found = buckets_[index_of(key + 1)];
        return found.tag == 0 ? rest_.find(key) : &found.value;
    }
    Value* find(std::size_t key) noexcept { return const_cast<Value*>(std::as_const(*this).find(key)); }

    /// The record of `key` if it is in the bucket where the search for it begins, as most are; else null, and find says
    /// whether there is one.
    [[gnu::always_inline]] Value* find_at_home(std::size_t key) noexcept {
        if (capacity_ == 0) [[unlikely]]
            return nullptr;
        bucket& home = buckets_[home_of(key + 1)];
        return home.tag == key + 1 ? &home.value : nullptr;
    }

    /// The record of `key`, added if there was none; null when there is no memory for it.
    Value* insert(std::size_t key) noexcept {
        if (size_ >= plain_below_) [[unlikely]]
            return insert_slow(key);
        return insert_in_table(key);
    }

    /// True when the next new record makes the table grow.
    bool is_full() const noexcept { return (size_ + 1) * 8 > capacity_ * MaxLoad; }
    bool is_half_full() const noexcept { return size_ * 16 >= capacity_ * MaxLoad; }
    /// Doubles the table; false when there is no memory.
    [[gnu::noinline]] bool grow() noexcept {
        const std::size_t new_capacity = capacity_ == 0 ? first_capacity : capacity_ * 2;
        void* storage = upstream_.try_allocate(new_capacity * sizeof(bucket), alignof(bucket));
        if (storage == nullptr) return false;
        auto* larger = static_cast<bucket*>(storage);
        detail::value_construct(larger, new_capacity);
        bucket* const old = std::exchange(buckets_, larger);
        const std::size_t old_capacity = std::exchange(capacity_, new_capacity);
        shift_ = 64 - static_cast<unsigned>(std::countr_zero(new_capacity));
        for (std::size_t index = 0; index < old_capacity; ++index) {
            if (old[index].tag != 0) buckets_[index_of(old[index].tag)] = old[index];
        }
        if (old != nullptr) upstream_.deallocate(old, old_capacity * sizeof(bucket), alignof(bucket));
        update_plain_below();
        return true;
    }

    /// Removes the record of `key`; false when there is none.
    bool erase(std::size_t key) noexcept {
        if (size_ == 0) return erase_from_rest(key);
        const std::size_t index = index_of(key + 1);
        if (buckets_[index].tag == 0) return erase_from_rest(key);
        erase_at(index);
        return true;
    }

    /// Removes all records for which `predicate(value)` is true. Linear.
    template <class Predicate>
    void erase_if(Predicate predicate) noexcept {
        for (std::size_t index = 0; index < capacity_; ++index) {
            // Erasing may move another record here.
            while (buckets_[index].tag != 0 && predicate(std::as_const(buckets_[index].value))) erase_at(index);
        }
        rest_.erase_if(predicate, upstream_);
        update_plain_below();
    }

    /// Removes all records and keeps the memory of the table. Linear.
    void clear() noexcept {
        for (std::size_t index = 0; index < capacity_ && size_ != 0; ++index) buckets_[index].tag = 0;
        size_ = 0;
        clear_rest();
    }

    /// Calls `function(key, value)` for each record, in no order. Linear.
    template <class Function>
    void for_each(Function function) const {
        for (std::size_t index = 0; index < capacity_; ++index) {
            if (buckets_[index].tag != 0) function(buckets_[index].tag - 1, buckets_[index].value);
        }
        rest_.for_each(function);
    }
    /// As above; the function may change the value.
    template <class Function>
    void for_each(Function function) {
        for (std::size_t index = 0; index < capacity_; ++index) {
            if (buckets_[index].tag != 0) function(buckets_[index].tag - 1, buckets_[index].value);
        }
        rest_.for_each(function);
    }

    std::size_t capacity() const noexcept { return capacity_; }
    std::size_t size() const noexcept { return size_ + rest_.size(); }
    resource_ref upstream() const noexcept { return upstream_; }

private:
    struct bucket {
        std::size_t tag = 0;  // key + 1; 0: free
        Value value{};
    };

    static constexpr std::size_t first_capacity = 64;

    [[gnu::always_inline]] std::size_t home_of(std::size_t tag) const noexcept {
        return narrowed<std::size_t>(spread(tag) >> shift_);
    }

    [[gnu::always_inline]] Value* insert_in_table(std::size_t key) noexcept {
        bucket& found = buckets_[index_of(key + 1)];
        if (found.tag == 0) {
            found = {key + 1, Value{}};
            ++size_;
        }
        return &found.value;
    }
    [[gnu::noinline]] Value* insert_slow(std::size_t key) noexcept {
        if (Value* found = find(key)) return found;
        if (is_full() && !grow()) {
            Value* added = rest_.insert(key, upstream_);
            update_plain_below();
            // One bucket stays free: it ends every search.
            if (added != nullptr || size_ + 1 >= capacity_) return added;
        }
        return insert_in_table(key);
    }
    [[gnu::noinline]] bool erase_from_rest(std::size_t key) noexcept {
        const bool erased = rest_.erase(key, upstream_);
        update_plain_below();
        return erased;
    }
    void clear_rest() noexcept {
        const auto any = [](const Value&) { return true; };
        rest_.erase_if(any, upstream_);
        update_plain_below();
    }
    void update_plain_below() noexcept { plain_below_ = rest_.size() != 0 ? 0 : capacity_ * MaxLoad / 8; }

    // The bucket of `tag`, or the free bucket where it belongs.
    std::size_t index_of(std::size_t tag) const noexcept {
        std::size_t index = home_of(tag);
        while (buckets_[index].tag != tag && buckets_[index].tag != 0) index = (index + 1) & (capacity_ - 1);
        return index;
    }

    // Moves later records of the same run up into the hole, so that no search ends too early.
    void erase_at(std::size_t hole) noexcept {
        std::size_t next = hole;
        for (;;) {
            next = (next + 1) & (capacity_ - 1);
            if (buckets_[next].tag == 0) break;
            const std::size_t distance = (next - home_of(buckets_[next].tag)) & (capacity_ - 1);
            if (distance < ((next - hole) & (capacity_ - 1))) continue;
            buckets_[hole] = buckets_[next];
            hole = next;
        }
        buckets_[hole].tag = 0;
        --size_;
    }

    bucket* buckets_ = nullptr;
    std::size_t capacity_ = 0;     // a power of two
    unsigned shift_ = 0;           // 64 less its exponent
    std::size_t size_ = 0;         // without those of rest_
    std::size_t plain_below_ = 0;  // with fewer records, a key that is not in the table is nowhere, and has room
    record_tree<Value> rest_;
    resource_ref upstream_ = heap{};
};

}  // namespace acre::detail

// The walk over the live objects of a checked pool: those of the pool beneath that have a live record.
//
// Used by acre::checked, not directly. Cost: a look-up of a record for each object of the pool beneath. Thread rules:
// those of acre::checked.
#pragma once

#include <acre/observe/detail/checked_form.hpp>
#include <acre/observe/detail/checked_records.hpp>
#include <cstddef>

namespace acre::detail {

/// `Iterator` is that of the pool beneath, whose objects are of type fenced_slot<T>.
template <class Iterator, class T>
class checked_walk {
public:
    checked_walk() noexcept = default;
    checked_walk(Iterator at, Iterator end, checked_records& records) noexcept
        : at_(at), end_(end), records_(&records) {
        skip_freed();
    }

    void* object() const noexcept { return at_ == end_ ? nullptr : at_->storage + fenced_slot<T>::alignment; }
    void next() noexcept {
        ++at_;
        skip_freed();
    }

private:
    void skip_freed() noexcept {
        while (at_ != end_ && !records_->is_live_object(object())) ++at_;
    }

    Iterator at_;
    Iterator end_;
    checked_records* records_ = nullptr;
};

}  // namespace acre::detail

// Non-atomic data: each access is checked for a data race with all earlier ones.
#pragma once

#include <utility>

#include "model/execution.hpp"
#include "model/text.hpp"

namespace model {

/// A non-atomic T.
template <class T>
class plain {
public:
    explicit plain(T value = {}, const char* name = nullptr) : value_(std::move(value)) {
        execution* const now = execution::current();
        if (now == nullptr) return;
        id_ = now->add_object(name, {this, text, is_repeatable<T>});
        now->check_plain(id_, log_, true);
    }
    plain(const plain&) = delete;
    plain& operator=(const plain&) = delete;
    ~plain() {
        if (execution::current() != nullptr) execution::current()->remove_object(id_);
    }

    T load() const {
        access(false);
        return value_;
    }
    void store(T value) {
        access(true, &value);
        value_ = std::move(value);
    }

    operator T() const { return load(); }
    T operator=(T value) {
        store(value);
        return value;
    }

private:
    void access(bool writes, const T* written = nullptr) const {
        execution* const now = execution::current();
        if (now == nullptr) return;
        now->check_plain(id_, log_, writes);
        if (now->traced())
            now->trace((writes ? "writes " : "reads ") + now->name_of(id_) + " = " +
                       text_of(writes ? *written : value_));
    }

    static std::string text(const void* object) { return text_of(static_cast<const plain*>(object)->value_); }

    T value_;
    object_id id_ = no_object;
    mutable execution::plain_log log_;
};

}  // namespace model

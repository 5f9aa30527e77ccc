// Objects that live until the process ends.
#pragma once

#include <cstddef>
#include <new>

namespace acre_c {

/// Keeps what it holds until the program ends, also while its static objects end.
template <class T>
class never_destroyed {
public:
    never_destroyed() noexcept { ::new (storage_) T(typename T::without_upstream{}); }
    T* get() noexcept { return std::launder(reinterpret_cast<T*>(storage_)); }

private:
    alignas(T) std::byte storage_[sizeof(T)];
};

}  // namespace acre_c

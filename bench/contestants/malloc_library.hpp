// Adds a library that has a malloc and a free. Such a library replaces malloc in whatever links it, so each is opened
// with RTLD_LOCAL, which hides its malloc, and called through pointers. A call then costs as much as any call into a
// shared library. RTLD_DEEPBIND is not needed: dlsym on the library's handle finds its own functions, and none of the
// libraries calls malloc itself.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <memory_resource>
#include <stdexcept>
#include <string>

#include "../peers/threads.hpp"
#include "../seeds/camera.hpp"

namespace bench {

class opened_library {
public:
    explicit opened_library(const char* path) : path_{path}, library_{dlopen(path, RTLD_NOW | RTLD_LOCAL)} {
        if (library_ == nullptr) throw std::runtime_error(path_ + " does not open: " + dlerror());
    }

    template <class Function>
    [[nodiscard]] Function* get(const char* name) const {
        void* found = dlsym(library_, name);
        if (found == nullptr) throw std::runtime_error(path_ + " has no " + name);
        return reinterpret_cast<Function*>(found);
    }

private:
    std::string path_;
    void* library_;  // never closed: ending threads still call into it
};

/// A `Library` has the static members `path`, `allocate_name` and `deallocate_name`.
template <class Library>
struct malloc_of {
    const opened_library library{Library::path};
    void* (*const take)(std::size_t) = library.get<void*(std::size_t)>(Library::allocate_name);
    void (*const give_back)(void*) = library.get<void(void*)>(Library::deallocate_name);
};

/// Opened before main, so that a call is a load and a call.
template <class Library>
inline const malloc_of<Library> opened_malloc{};

template <class Library>
struct malloc_blocks {
    void* allocate() { return opened_malloc<Library>.take(shared_block_bytes); }
    void deallocate(void* p) { opened_malloc<Library>.give_back(p); }
};

template <class Library>
struct malloc_mixed {
    void* allocate(std::size_t bytes) { return opened_malloc<Library>.take(bytes); }
    void deallocate(void* p, std::size_t) { opened_malloc<Library>.give_back(p); }
};

/// For alignments up to malloc's own.
template <class Library>
class malloc_resource final : public std::pmr::memory_resource {
private:
    void* do_allocate(std::size_t bytes, std::size_t) override { return opened_malloc<Library>.take(bytes); }
    void do_deallocate(void* p, std::size_t, std::size_t) override { opened_malloc<Library>.give_back(p); }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

/// Adds it to T1, T2, T3 and W4, and to their scaling tables.
template <class Library>
void add_malloc_threads(suite& entries, const std::string& name) {
    add_threads<malloc_blocks<Library>>(entries, name);
    add_mixed_successors<malloc_mixed<Library>>(entries, name);
    add_scaling_threads<malloc_blocks<Library>>(entries, name);
    add_shared_camera<camera_home<malloc_resource<Library>>>(entries, name);
}

}  // namespace bench

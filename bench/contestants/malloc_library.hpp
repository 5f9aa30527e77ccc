// What every library with a malloc and a free enters with. Those libraries replace malloc in whatever links them, so
// each is opened by hand, where its malloc stays out of sight (RTLD_LOCAL), and called by pointers: a call costs what a
// call into a shared library costs. RTLD_DEEPBIND is not needed: what dlsym finds through the library's handle is its
// own, and none of them calls malloc for itself.
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
    void* library_;  // never closed: threads that end still call into it
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

/// For alignments up to that of malloc.
template <class Library>
class malloc_resource final : public std::pmr::memory_resource {
private:
    void* do_allocate(std::size_t bytes, std::size_t) override { return opened_malloc<Library>.take(bytes); }
    void do_deallocate(void* p, std::size_t, std::size_t) override { opened_malloc<Library>.give_back(p); }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

/// T1, T2, T3 and W4, and their tables of scaling.
template <class Library>
void enter_malloc_threads(suite& entries, const std::string& name) {
    enter_threads<malloc_blocks<Library>>(entries, name);
    enter_mixed_heirs<malloc_mixed<Library>>(entries, name);
    enter_scaling_threads<malloc_blocks<Library>>(entries, name);
    enter_shared_camera<camera_home<malloc_resource<Library>>>(entries, name);
}

}  // namespace bench

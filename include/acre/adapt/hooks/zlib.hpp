// zlib's memory from any resource: the functions that a z_stream has.
//
// A stream asks for a few blocks at its start and frees them at its end, about 256 KiB to compress and 40 KiB to
// decompress. Use acre::arena or acre::inline_arena over memory that you have, so that a stream asks the heap for
// nothing, and acre::recycling<acre::arena> for streams that begin and end often.
//
// Cost: that of acre::malloc_face. The face lives longer than the stream. Thread rules: a stream is used by one thread
// at a time, and so is its resource.
//
//     #include <zlib.h>
//     acre::arena memory_of_stream;
//     acre::malloc_face memory{memory_of_stream};
//     z_stream stream{};
//     acre::set_zlib_memory(stream, memory);
//     deflateInit(&stream, Z_DEFAULT_COMPRESSION);
#pragma once

#include <acre/adapt/malloc_face.hpp>
#include <acre/core/alignment.hpp>
#include <cstddef>
#include <optional>

namespace acre {

/// An alloc_func over the malloc_face<R> at `face`.
template <resource R>
void* zlib_allocate(void* face, unsigned count, unsigned size) noexcept {
    const std::optional<std::size_t> bytes = array_bytes(count, size);
    return bytes ? static_cast<malloc_face<R>*>(face)->malloc(*bytes) : nullptr;
}

/// A free_func over the malloc_face<R> at `face`.
template <resource R>
void zlib_free(void* face, void* p) noexcept {
    static_cast<malloc_face<R>*>(face)->free(p);
}

/// Gives a z_stream the functions and the context. Call it before deflateInit or inflateInit.
template <class Stream, resource R>
void set_zlib_memory(Stream& stream, malloc_face<R>& face) noexcept {
    stream.zalloc = zlib_allocate<R>;
    stream.zfree = zlib_free<R>;
    stream.opaque = &face;
}

}  // namespace acre

"""acre's arenas and pools from Python, through libacre.so and cffi.

Storage is handed out as a Block, whose `view` is a writable memoryview: for buffers that are filled by other libraries,
parsed by struct, or shared with numpy (numpy.frombuffer(block.view, ...)). Python's own objects do not lie in it.

    with acre.Arena(limit_bytes=1 << 20) as arena:
        samples = arena.allocate(4096)
        samples.view[:5] = b"Moria"
        with arena.scratch():                  # what was allocated in here is gone at its end
            arena.allocate(100)

A refused request raises Error, which is a MemoryError, or one of its subclasses. What a handle handed out is not used
after the handle's reset or close, as in C. A handle that others have as upstream is closed after them.

The library is libacre.so.0, or the file that the environment variable ACRE_LIBRARY names; the declarations are read
from acre.h: beside this file, in the folder c of acre's sources, in /usr/local/include or /usr/include, or ACRE_HEADER.
"""
import contextlib
import os
import pathlib
import re
import sys

import cffi

_HERE = pathlib.Path(__file__).resolve().parent


def _declarations():
    """What acre.h declares, without its preprocessor's lines: cffi knows the types of stddef.h and stdint.h."""
    asked = os.environ.get("ACRE_HEADER")
    places = [pathlib.Path(asked)] if asked else [
        _HERE / "acre.h", _HERE.parent.parent / "c/acre.h", pathlib.Path("/usr/local/include/acre.h"),
        pathlib.Path("/usr/include/acre.h")]
    for place in places:
        if place.exists():
            text = place.read_text(encoding="utf-8").replace("\\\n", " ")
            text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.DOTALL)
            return re.sub(r"^#.*$", "", text, flags=re.MULTILINE).replace("ACRE_EXPORT ", "")
    raise ImportError(f"acre.h is in none of {', '.join(map(str, places))}: set ACRE_HEADER")


ffi = cffi.FFI()
ffi.cdef(_declarations())
lib = ffi.dlopen(os.environ.get("ACRE_LIBRARY", "libacre.so.0"))
_UNKNOWN = 2 * sys.maxsize + 1


class Error(MemoryError):
    """A refused request; the text is acre's sentence, `status` the number from acre.h."""

    status = None


class OutOfMemory(Error):
    """Upstream had none left."""


class RequestTooLarge(Error):
    """More than the resource can ever serve."""


class LimitExceeded(Error):
    """Beyond a limit that the options set."""


class OutOfArenas(Error):
    """Every arena of a multi-arena is in use."""


class BadAlignment(Error, ValueError):
    """No power of two, or too large."""


class BadOption(Error, ValueError):
    """Out of range."""


_ERRORS = {lib.ACRE_OUT_OF_MEMORY: OutOfMemory, lib.ACRE_REQUEST_TOO_LARGE: RequestTooLarge,
           lib.ACRE_LIMIT_EXCEEDED: LimitExceeded, lib.ACRE_OUT_OF_ARENAS: OutOfArenas,
           lib.ACRE_BAD_ALIGNMENT: BadAlignment, lib.ACRE_BAD_OPTION: BadOption}


def _checked(pointer):
    """The pointer; raises the last error for null."""
    if pointer != ffi.NULL:
        return pointer
    status = lib.acre_last_status()
    error = _ERRORS.get(status, Error)(ffi.string(lib.acre_last_error()).decode())
    error.status = status
    raise error


def version():
    """The version of the library."""
    return ffi.string(lib.acre_version()).decode()


class Block:
    """Storage that a resource handed out."""

    def __init__(self, pointer, size, alignment=0):
        self.pointer = pointer
        self.size = size
        self.alignment = alignment

    @property
    def view(self):
        """The bytes, writable."""
        return memoryview(ffi.buffer(self.pointer, self.size))

    @property
    def address(self):
        """As a number."""
        return int(ffi.cast("uintptr_t", self.pointer))


class Resource:
    """Hands out and takes back storage; can be the upstream of others."""

    _kind = None  # the name in C, such as acre_arena

    def __init__(self, handle, upstream=None):
        self._handle = _checked(handle)
        self._resource = self._call("resource")
        self._upstream = upstream  # lives as long as this does

    def _call(self, name, *arguments):
        if self._handle is None:
            raise ValueError(f"this {type(self).__name__} is closed")
        return getattr(lib, f"{self._kind}_{name}")(self._handle, *arguments)

    def close(self):
        """Gives everything back, live storage too. Twice is once."""
        if self._handle is not None:
            self._call("destroy")
        self._handle = self._resource = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _open_resource(self):
        if self._resource is None:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._resource

    def allocate(self, size, alignment=0):
        """A Block of `size` bytes."""
        return Block(_checked(lib.acre_resource_allocate(self._open_resource(), size, alignment)), size, alignment)

    def free(self, block):
        """Takes a Block of allocate back."""
        lib.acre_resource_free(self._open_resource(), block.pointer, block.size, block.alignment)
        block.pointer = ffi.NULL

    def owns(self, block):
        """Whether the Block lies in this resource."""
        return lib.acre_resource_owns(self._open_resource(), block.pointer)

    def usage(self):
        """capacity, used and live as a dict; None for what the resource does not know."""
        usage = lib.acre_resource_usage(self._open_resource())
        return {name: None if getattr(usage, name) == _UNKNOWN else getattr(usage, name)
                for name in ("capacity", "used", "live")}


def _options(kind, upstream=None, **values):
    """An options struct of C. The name of a member that does not exist raises an AttributeError."""
    options = ffi.new(f"{kind}*")
    for name, value in values.items():
        setattr(options, name, value)
    if upstream is not None:
        options.upstream = upstream._open_resource()
    return options


class _Heap(Resource):
    def __init__(self):  # pylint: disable=super-init-not-called
        self._handle = self._upstream = None
        self._resource = lib.acre_heap()

    def close(self):
        """The heap is never closed."""


heap = _Heap()


class Arena(Resource):
    """Allocations that end together. Options: those of acre_arena_options, and upstream."""

    _kind = "acre_arena"

    def __init__(self, upstream=None, **options):
        super().__init__(lib.acre_arena_create(_options("acre_arena_options", upstream, **options)), upstream)

    @contextlib.contextmanager
    def scratch(self):
        """A scope: what was allocated in it is taken back at its end."""
        mark = self._call("mark")
        try:
            yield self
        finally:
            self._call("rewind", mark)

    def reset(self, keep=lib.ACRE_KEEP_ALL):
        """Takes everything back."""
        self._call("reset", keep)


class Pool(Resource):
    """Slots of one size: allocate() and free(block). Options: those of acre_pool_options, and upstream."""

    _kind = "acre_pool"

    def __init__(self, slot_bytes, upstream=None, **options):
        options = _options("acre_pool_options", upstream, **options)
        super().__init__(getattr(lib, f"{self._kind}_create")(slot_bytes, options), upstream)
        self.slot_bytes = self._call("slot_bytes")

    def allocate(self):  # pylint: disable=arguments-differ
        """A Block of slot_bytes bytes."""
        return Block(_checked(self._call("allocate")), self.slot_bytes)

    def free(self, block):
        self._call("free", block.pointer)
        block.pointer = ffi.NULL

    def reset(self):
        """Takes all slots back."""
        self._call("reset")


class ConcurrentPool(Pool):
    """A pool that all threads share."""

    _kind = "acre_concurrent_pool"


class MultiPool(Resource):
    """Any size, freed in any order. Options: those of acre_pool_options, and upstream."""

    _kind = "acre_multi_pool"

    def __init__(self, upstream=None, **options):
        options = _options("acre_pool_options", upstream, **options)
        super().__init__(getattr(lib, f"{self._kind}_create")(options), upstream)

    def reset(self):
        """Takes everything back."""
        self._call("reset")


class ConcurrentMultiPool(MultiPool):
    """A multi-pool that all threads share."""

    _kind = "acre_concurrent_multi_pool"


class MultiArena(Resource):
    """Equal arenas, for what is freed in about the order it was allocated."""

    _kind = "acre_multi_arena"

    def __init__(self, arenas, arena_bytes, upstream=None, **options):
        options = _options("acre_multi_arena_options", upstream, arenas=arenas, bytes=arena_bytes, **options)
        super().__init__(getattr(lib, f"{self._kind}_create")(options), upstream)

    def busy(self):
        """Arenas that hold something live."""
        return self._call("busy")

    def reset(self):
        """Takes everything back."""
        self._call("reset")


class ConcurrentMultiArena(MultiArena):
    """A multi-arena that all threads share."""

    _kind = "acre_concurrent_multi_arena"


class Statistics(Resource):
    """Counts the requests to `below`, the heap by default. Options: for_threads and live_map."""

    _kind = "acre_statistics"

    def __init__(self, below=heap, **options):
        options = _options("acre_statistics_options", **options)
        super().__init__(lib.acre_statistics_create(below._open_resource(), options), below)

    def counts(self):
        """acre_counts as a dict: {"allocations": {"value", "peak", "total"}, "bytes": ..., "failures", "largest"}."""
        counts = self._call("counts")
        counters = {name: {part: getattr(getattr(counts, name), part) for part in ("value", "peak", "total")}
                    for name in ("allocations", "bytes")}
        return {**counters, "failures": counts.failures, "largest": counts.largest}

    def live(self):
        """(address, bytes) of each live allocation, oldest first; empty without live_map."""
        count = self._call("live", ffi.NULL, 0)
        found = ffi.new("acre_live_allocation[]", count)
        count = min(count, self._call("live", found, count))
        return [(int(ffi.cast("uintptr_t", found[i].address)), found[i].bytes) for i in range(count)]

    def report(self):
        """The counts as text."""
        text = ffi.new("char[]", 1 + self._call("report", ffi.NULL, 0))
        self._call("report", text, len(text))
        return ffi.string(text).decode()

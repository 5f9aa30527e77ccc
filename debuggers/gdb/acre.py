"""Shows acre's resources in GDB: how much of them is used, and the live objects of a pool as children.

GDB loads this file by one line in ~/.gdbinit (`source <prefix>/share/acre/debuggers/gdb/acre.py`), or by itself for a
program that includes <acre/observe/gdb_printers.hpp>, or that links libacre.so as installed: see docs/debugging.md.

The printers read the members of the headers in include/acre, and memory of the program; they call no function of it.
So they also work on a core file, and while another thread holds a lock. Where other threads work meanwhile, counts of
concurrent resources are those of this moment, between two steps of these threads.
"""
import re

import gdb
import gdb.printing
import gdb.types


def byte_order():
    return "big" if "big" in gdb.execute("show endian", to_string=True) else "little"


ORDER = byte_order()


# ---- The standard library's types, of any implementation ----

def plain(value):
    """The number or pointer in a std::atomic."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        fields = [each for each in value.type.strip_typedefs().fields() if hasattr(each, "bitpos")]
        value = value[fields[0]]
    return value


def plain_array(value):
    """The plain array in a std::array."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        value = value[value.type.strip_typedefs().fields()[0]]
    return value


def elements(value):
    """The first element of a std::array or of a plain array, as a pointer, and the number of elements."""
    array = plain_array(value)
    return array[0].address, array.type.strip_typedefs().range()[1] + 1


def argument(value, index):
    """A template argument of the class of `value`: a type or a number."""
    found = gdb.types.get_basic_type(value.type).template_argument(index)
    return int(found) if isinstance(found, gdb.Value) else found


def type_of_any_name(pattern, number):
    """The type of this name, in which compilers write numbers with or without the letters of their type."""
    for letters in ("", "ul", "UL", "u", "U"):
        try:
            return gdb.lookup_type(pattern % (letters, number, letters))
        except gdb.error:
            continue
    raise gdb.error("there is no type " + pattern % ("", number, ""))


def is_null(pointer):
    return int(pointer) == 0


def linked(first, link):
    """The elements of a list: `first`, and what member `link` leads to."""
    while not is_null(first):
        yield first.dereference()
        first = first[link]


def counted(number, what):
    return "%d %s%s" % (number, what, "" if number == 1 else "s")


def name_of(value):
    """The name of the class of `value`, without template arguments that have their defaults in most programs."""
    outer = gdb.types.get_basic_type(value.type).name.split("<", 1)[0].replace("::basic_", "::")
    if outer in ("acre::object_pool", "acre::concurrent_object_pool", "acre::wait_free_object_pool",
                 "acre::hardened_object_pool", "acre::checked_ptr"):
        return "%s<%s>" % (outer, argument(value, 0))
    if outer in ("acre::pool", "acre::concurrent_pool", "acre::wait_free_pool", "acre::inline_arena",
                 "acre::hardened_pool", "acre::static_pool"):
        return "%s<%d>" % (outer, argument(value, 0))
    if outer == "acre::typed_arena":
        return "%s<%s, %d>" % (outer, argument(value, 0), argument(value, 1))
    return outer


def memory(address, bytes):
    return bytearray(gdb.selected_inferior().read_memory(int(address), bytes))


def object_at(address, type):
    """The object of this type at an address; for void, the address itself."""
    pointer = gdb.Value(int(address)).cast(gdb.lookup_type("void").pointer())
    return pointer if type is None else pointer.cast(type.pointer()).dereference()


# ---- Arenas ----

class Blocks:
    """The blocks of an arena: see acre/arenas/detail/arena_block.hpp."""

    def __init__(self, arena):
        self.arena = arena
        self.header = arena["current_"].type.target().sizeof

    def start(self, block):
        return int(block.address) + self.header

    def in_use(self):
        """(block, bytes used), newest first: the current block, those before it, and those of one request each."""
        filled = int(self.arena["position_"])
        for block in linked(self.arena["current_"], "previous"):
            if int(block.address) != int(self.arena["current_"]):
                filled = int(block["filled"])
            yield block, filled - self.start(block)
        for block in linked(self.arena["oversize_"], "previous"):
            yield block, int(block["bytes"]) - self.header

    def spare(self):
        for list in ("spare_", "spare_oversize_"):
            yield from linked(self.arena[list], "previous")

    def capacity(self):
        """As arena::capacity()."""
        held = int(self.arena["held_bytes_"])
        initial = self.arena["initial_"]
        fixed = int(self.arena["options_"]["fixed_bytes"]) != 0
        return held if fixed or is_null(initial) else held + int(initial["bytes"])

    def used(self):
        """As arena::used()."""
        return sum(bytes for _, bytes in self.in_use())


class ArenaPrinter:
    """acre::arena and what derives from it: bytes used, the blocks, and the destructors that reset() will run."""

    def __init__(self, value):
        self.value = value
        self.blocks = Blocks(value)

    def to_string(self):
        used = list(self.blocks.in_use())
        return "%s: %d of %d bytes used in %s" % (name_of(self.value), sum(bytes for _, bytes in used),
                                                  self.blocks.capacity(), counted(len(used), "block"))

    def children(self):
        for index, (block, used) in enumerate(self.blocks.in_use()):
            room = int(block["bytes"]) - self.blocks.header
            yield "[%d]" % index, "%d of %d bytes used at %#x" % (used, room, self.blocks.start(block))
        spare = [int(block["bytes"]) for block in self.blocks.spare()]
        if spare:
            yield "spare", "%s, %d bytes" % (counted(len(spare), "block"), sum(spare))
        due = sum(1 for _ in linked(self.value["destructors_"], "previous"))
        if due:
            yield "destructors", "%d due" % due


class ScratchPrinter:
    """acre::scratch: what was allocated in its arena since it began."""

    def __init__(self, value):
        self.scope = value["scope_"]

    def to_string(self):
        owner = self.scope["begin"]["owner"]
        if is_null(owner):
            return "acre::scratch: ended"
        return "acre::scratch: %d bytes used since it began, in the arena at %#x" % (self.used(owner), int(owner))

    def used(self, owner):
        blocks = Blocks(owner.dereference())
        return blocks.used() - self.used_before(blocks)

    def used_before(self, blocks):
        begin = self.scope["begin"]
        # Of a light scratch the arena itself has the blocks: see arena::scope.
        is_light = any(int(each.address) == int(self.scope.address)
                       for each in linked(blocks.arena["innermost_"], "outer"))
        current, oversize = ((blocks.arena["current_"], blocks.arena["oversize_"]) if is_light else
                             (begin["current"], begin["oversize"]))
        oldest = {int(block.address) for block in linked(current, "previous")}
        oldest |= {int(block.address) for block in linked(oversize, "previous")}
        used = 0
        for block, bytes in blocks.in_use():
            if int(block.address) == int(current):
                used += int(begin["position"]) - blocks.start(block)
            elif int(block.address) in oldest:
                used += bytes
        return used

    def children(self):
        if not is_null(self.scope["begin"]["owner"]):
            yield "arena", self.scope["begin"]["owner"].dereference()


class CursorPrinter:
    """acre::cursor: what is left in the block that it fills."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        at = self.value["at_"]
        return "acre::cursor: %d bytes left in the current block of the arena at %#x" % (
            int(at["end"]) - int(at["position"]), int(self.value["owner_"]))


class ArenaVectorPrinter:
    """acre::arena_vector: its elements."""

    def __init__(self, value):
        self.begin = value["begin_"]
        self.size = int(value["end_"] - self.begin)
        self.capacity = int(value["limit_"] - self.begin)

    def to_string(self):
        return "acre::arena_vector: %s, room for %d" % (counted(self.size, "element"), self.capacity)

    def children(self):
        for index in range(self.size):
            yield "[%d]" % index, self.begin[index]


class ArenaStringPrinter:
    """acre::arena_string: its text."""

    def __init__(self, value):
        characters = value["characters_"]
        self.begin = characters["begin_"]
        self.length = max(int(characters["end_"] - self.begin) - 1, 0)  # without the zero byte

    def to_string(self):
        return self.begin.lazy_string(length=self.length) if self.length else ""

    def display_hint(self):
        return "string"


class ConcurrentArenaPrinter:
    """acre::concurrent_arena: the arena that the threads' windows come from."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        windows = counted(int(self.value["window_count_"]), "thread window")
        return "acre::concurrent_arena: %d bytes used in %s and larger requests" % (
            Blocks(self.value["blocks_"]).used(), windows)

    def children(self):
        yield "blocks", self.value["blocks_"]


class TypedArenaPrinter:
    """acre::typed_arena: slots handed out, and with .reuse the live objects."""

    def __init__(self, value):
        self.value = value
        self.type = argument(value, 0)
        slots = value["slots_"]
        fields = self.names(slots)
        while "slots_" in fields:  # behind a lock
            slots = slots["slots_"]
            fields = self.names(slots)
        self.slots = slots
        self.reuses = "fresh_" in fields
        self.first = int(value["skipped_"]) // self.type.sizeof

    @staticmethod
    def names(value):
        """The names of the members, those of base classes among them."""
        found = set()
        for field in value.type.strip_typedefs().fields():
            found |= TypedArenaPrinter.names(value[field]) if field.is_base_class else {field.name}
        return found

    def to_string(self):
        size = argument(self.value, 1)
        if self.reuses:
            used = int(self.slots["fresh_"]) - int(self.slots["freed_count_"]) - self.first
            return "%s: %d live of %d slots" % (name_of(self.value), used, size)
        used = min(int(plain(self.slots["next_"])) // self.type.sizeof, size) - self.first
        return "%s: %d of %d slots handed out" % (name_of(self.value), used, size)

    def children(self):
        if not self.reuses:
            return
        first, count = elements(self.slots["freed_"]["words_"])
        freed = memory(first, 8 * count)
        begin = int(self.value["storage_"][0].address)
        for index in range(self.first, int(self.slots["fresh_"])):
            word = int.from_bytes(freed[index // 64 * 8:index // 64 * 8 + 8], ORDER)
            if word >> index % 64 & 1 == 0:
                yield "[%d]" % index, object_at(begin + index * self.type.sizeof, self.type)


# ---- Equal arenas ----

class EqualArenas:
    """The storage of multi-arenas: see acre/arenas/detail/bump_arithmetic.hpp."""

    def __init__(self, value, inline):
        self.value = value
        if inline:
            self.arenas = argument(value, 0)
            self.bytes = (argument(value, 1) + 15) // 16 * 16
            self.storage = int(value["storage_"].address)
        else:
            self.arenas = int(value["arenas_"])
            self.bytes = int(value["arena_bytes_"])
            self.storage = int(value["bytes_"])
        self.records = value["records_"]

    def record(self, index):
        return self.records[index]


class MultiArenaPrinter:
    """acre::multi_arena and inline_multi_arena: a line for each arena, with its number of live allocations."""

    def __init__(self, value):
        self.value = value
        self.all = EqualArenas(value, name_of(value) == "acre::inline_multi_arena")
        self.begun = range(int(value["begun_"]))

    def to_string(self):
        live = [int(self.all.record(index)["live"]) for index in self.begun]
        return "%s: %d of %s of %d bytes busy, %s" % (
            name_of(self.value), sum(1 for index in self.begun if self.is_busy(index)),
            counted(self.all.arenas, "arena"), self.all.bytes, counted(sum(live), "live allocation"))

    def is_busy(self, index):
        """True when it holds an allocation, or a piece of one that takes a run of arenas."""
        record = self.all.record(index)
        return int(record["live"]) != 0 or (int(record["link"]) == 1 and not self.is_active(record))

    def is_active(self, record):
        return int(self.value["active_"]) == int(record.address)

    def children(self):
        for index in self.begun:
            record = self.all.record(index)
            used = int(record["position"]) + self.all.bytes - int(record["end"])
            line = "%d live, %d of %d bytes used" % (int(record["live"]), used, self.all.bytes)
            yield "[%d]" % index, line + (", active" if self.is_active(record) else "")


class ConcurrentMultiArenaPrinter:
    """acre::concurrent_multi_arena and inline_concurrent_multi_arena: a line for each arena."""

    def __init__(self, value):
        self.value = value
        self.inline = name_of(value) == "acre::inline_concurrent_multi_arena"
        self.all = EqualArenas(value, self.inline)
        self.open = dict(self.open_by_threads())
        self.open.update(self.shared())

    def thread_arenas(self):
        if self.inline:
            return self.value["thread_arenas_"]
        after = (self.all.records + self.all.arenas).cast(gdb.lookup_type("void").pointer())
        return after.cast(gdb.lookup_type("acre::detail::thread_arena<std::atomic>").pointer())

    def open_by_threads(self):
        """(number of the arena, live allocations since it was opened, who has it)"""
        none = (1 << 24) - 1
        attached = self.thread_arenas()
        for index in range(self.all.arenas // 2):
            arena = int(plain(attached[index]["arena"]))
            if arena != none:
                yield arena, (int(plain(attached[index]["live"])), "open in a thread")

    def shared(self):
        """The arena of threads without one of their own, from one word: see tagged_bump_pointer."""
        state = self.value["shared_"]
        word, shift = int(plain(state["word_"])), int(state["arena_shift_"])
        arena = int(state["none_"]) if shift == 64 else word >> shift
        if arena == int(state["none_"]):
            return {}
        allocations = word >> int(state["taken_bits_"]) & ((1 << int(state["allocations_bits_"])) - 1)
        return {arena: (allocations, "shared")}

    def live(self, index):
        bias = 1 << 62
        count = int(plain(self.all.record(index)["count"]["count_"]))
        settled = count - bias if count > bias // 2 else count
        return settled + self.open.get(index, (0, ""))[0]

    def to_string(self):
        live = [self.live(index) for index in range(self.all.arenas)]
        return "%s: %d of %s of %d bytes busy, %s" % (
            name_of(self.value), sum(1 for each in live if each > 0), counted(self.all.arenas, "arena"),
            self.all.bytes, counted(sum(live), "live allocation"))

    def children(self):
        for index in range(self.all.arenas):
            line = "%d live" % self.live(index)
            yield "[%d]" % index, line + (", " + self.open[index][1] if index in self.open else "")


# ---- Pools ----

LIVE, FREE, NONE = 0, 1, 4  # what a byte of a slab's map says: see acre/pools/detail/bitmap_slabs.hpp


class Slabs:
    """The slabs of slots of one size: see acre/pools/detail/bitmap_slabs.hpp and slab_geometry.hpp."""

    def __init__(self, slabs, slot_bytes=0):
        self.slabs = slabs
        self.stride = int(slabs["stride_"]) or slot_bytes
        self.slot_bytes = slot_bytes or self.stride

    @staticmethod
    def slot_bytes_of(size, alignment):
        return (max(size, 8) + alignment - 1) // alignment * alignment

    def each(self):
        """(address of slot 0, map bytes) of each slab, in address order."""
        for slab in linked(self.slabs["first_"], "next"):
            # Slabs are aligned to 4 KiB or more, and their headers lie within the first 4 KiB.
            yield int(slab.address) & ~0xfff, memory(slab["states"][0].address, int(slab["groups"]) * 64)

    def taken(self):
        """Slots that are not free in the map: live, or in a thread's magazine."""
        return sum(1 for _, states in self.each() for state in states if state & 1 == 0 and state != NONE)

    def slots(self):
        """As pool::slots(): those in slabs, and those in the part of a region where no slab was made yet."""
        made = sum(1 for _, states in self.each() for state in states if state != NONE)
        fresh = int(self.slabs["fresh_bytes_"])
        return made if fresh == 0 else made + self.fresh_slots(fresh)

    def fresh_slots(self, fresh):
        header_line, colours, group = 64, 32, 64
        slab = 1 << 14
        if self.slot_bytes > 256:
            slab = 1 << (self.slot_bytes * (32 if self.slot_bytes <= 1 << 14 else 16) - 1).bit_length()
        groups = ((slab + self.stride - 1) // self.stride + group - 1) // group
        header = header_line + groups * group
        covered = max((offset + header - 1) // self.stride - offset // self.stride + 1
                      for offset in range(0, colours * header_line, header_line))
        return (slab // self.stride - covered) * (fresh // slab)

    def held(self):
        return int(self.slabs["held_bytes_"])

    def live(self):
        """The addresses of live slots, in address order."""
        for start, states in self.each():
            for index, state in enumerate(states):
                address = start + index * self.stride
                if state == LIVE and not self.is_marked(address):
                    yield address

    def is_marked(self, slot):
        """Whether a slot that is live in the map lies in a magazine: see acre/pools/detail/free_mark.hpp."""
        offset = 8 if self.slot_bytes >= 16 else 0
        return int.from_bytes(memory(slot + offset, 8), byte_order()) == slot ^ int(self.slabs.address) ^ 0xa5c369f01e87d24b


class PoolPrinter:
    """acre::pool and acre::object_pool: live of slots, and a child for each live slot."""

    def __init__(self, value):
        self.value = value
        self.type = argument(value, 0) if "object_pool<" in name_of(value) else None
        slot = Slabs.slot_bytes_of(self.type.sizeof, self.type.alignof) if self.type else \
            Slabs.slot_bytes_of(argument(value, 0), argument(value, 1))
        self.slabs = self.slabs_of(value, slot)

    @staticmethod
    def slabs_of(value, slot):
        return Slabs(value["slabs_"], slot)

    def to_string(self):
        large = int(self.value["large_"]["count_"])
        return "%s: %d live of %s of %d bytes%s" % (
            name_of(self.value), self.slabs.taken(), counted(self.slabs.slots(), "slot"), self.slabs.slot_bytes,
            ", and %s" % counted(large, "larger block") if large else "")

    def children(self):
        for index, address in enumerate(self.slabs.live()):
            yield "[%d]" % index, object_at(address, self.type)


class Depot:
    """The slots of one size that threads share: see acre/pools/detail/magazine_depot.hpp."""

    def __init__(self, depot, slot_bytes=0):
        self.depot = depot
        self.slabs = Slabs(depot["slabs_"], slot_bytes)

    def in_magazines(self):
        kept = sum(int(each["count"]) for each in linked(self.depot["full_"], "next"))
        for cache in linked(self.depot["caches_"], "next_"):
            kept += int(plain(cache["count_"])) + int(plain(cache["spare_count_"]))
            kept += int(plain(cache["front_"])) > 1
        return kept

    def live(self):
        taken = self.slabs.taken()
        return taken - min(self.in_magazines(), taken)


class ConcurrentPoolPrinter(PoolPrinter):
    """acre::concurrent_pool and concurrent_object_pool: totals, and the live slots where the slabs know them."""

    def slabs_of(self, value, slot):
        self.depot = Depot(value["depot_"], slot)
        self.at_once = argument(value, 1 if self.type else 2) == 0
        return self.depot.slabs

    def to_string(self):
        return "%s: %d live, %d free in magazines of threads, of %s of %d bytes" % (
            name_of(self.value), self.depot.live(), self.depot.in_magazines(), counted(self.slabs.slots(), "slot"),
            self.slabs.slot_bytes)

    def children(self):
        return super().children() if self.at_once else iter(())


class MultiPoolPrinter:
    """acre::multi_pool and concurrent_multi_pool: a line for each size class that holds slabs."""

    def __init__(self, value):
        self.value = value
        if "concurrent" in name_of(value):
            first, count = elements(value["depots_"])
            self.large = first["large_"]
            self.classes = [Depot(first[index]) for index in range(count)]
        else:
            first, count = elements(value["classes_"])
            self.large = value["large_"]
            self.classes = [Slabs(first[index]) for index in range(count)]

    @staticmethod
    def slabs_of(each):
        return each.slabs if isinstance(each, Depot) else each

    @staticmethod
    def live_of(each):
        return each.live() if isinstance(each, Depot) else each.taken()

    def to_string(self):
        live = sum(self.live_of(each) for each in self.classes) + int(self.large["count_"])
        held = sum(self.slabs_of(each).held() for each in self.classes) + int(self.large["bytes_"])
        return "%s: %d live, %d bytes held" % (name_of(self.value), live, held)

    def children(self):
        for each in self.classes:
            slabs = self.slabs_of(each)
            if slabs.held() != 0:
                yield "%d bytes" % slabs.slot_bytes, "%d live of %s" % (self.live_of(each),
                                                                        counted(slabs.slots(), "slot"))
        if int(self.large["count_"]) != 0:
            yield "larger", "%s, %d bytes" % (counted(int(self.large["count_"]), "block"), int(self.large["bytes_"]))


class WaitFreePoolPrinter:
    """acre::wait_free_pool and wait_free_object_pool: live of slots, and a child for each live slot."""

    def __init__(self, value):
        self.value = value
        self.type = argument(value, 0) if "object_pool<" in name_of(value) else None
        self.slots = int(value["slots_"])

    def free_words(self):
        returned, _ = elements(self.value["returned_"]["levels_"])
        for word in range(int(self.value["words_"])):
            yield int(plain(self.value["kept_"][word])) | int(plain(returned.dereference()[word]))

    def live(self):
        for word, free in enumerate(self.free_words()):
            for slot in range(word * 64, min(word * 64 + 64, self.slots)):
                if free >> slot % 64 & 1 == 0:
                    yield slot

    def to_string(self):
        return "%s: %d live of %s" % (name_of(self.value), sum(1 for _ in self.live()), counted(self.slots, "slot"))

    def children(self):
        stride = int(self.value["slots_bytes_"]) // max(self.slots, 1)
        for index, slot in enumerate(self.live()):
            yield "[%d]" % index, object_at(int(self.value["base_"]) + slot * stride, self.type)


class ChunkPoolPrinter:
    """acre::chunk_pool: a line for each size, and what fell back to upstream. See lay_out_chunks in its header."""

    def __init__(self, value):
        self.value = value
        # GDB knows no template arguments of packs.
        self.count, *self.sizes = map(int, re.findall(r"(\d+)[uUlL]*[,>]", gdb.types.get_basic_type(value.type).name))
        self.base = int(value["base_"])

    def storage_bytes(self):
        """Bytes of all slots, behind which the sets of slot numbers lie."""
        return sum(self.count * ((size + 15) // 16 * 16) for size in self.sizes)

    def live(self):
        """The number of live slots of each size."""
        if self.base == 0:
            return [0] * len(self.sizes)
        set_type = type_of_any_name("acre::detail::reused_slots<1%s, %d%s>", self.count)
        return [int(each["fresh_"]) - int(each["freed_count_"]) for each in
                (object_at(self.base + self.storage_bytes() + index * set_type.sizeof, set_type)
                 for index in range(len(self.sizes)))]

    def to_string(self):
        live, large = sum(self.live()), int(self.value["large_"]["count_"])
        return "acre::chunk_pool: %d live of %s%s" % (live, counted(self.count * len(self.sizes), "slot"),
                                                      ", and %s of upstream" % counted(large, "block") if large else "")

    def children(self):
        for size, live in zip(self.sizes, self.live()):
            yield "%d bytes" % size, "%d live of %s" % (live, counted(self.count, "slot"))


class HardenedSlabs:
    """The slabs of hardened pools: see acre/pools/detail/hardened_slabs.hpp."""

    LIVE, ENDING, WAITING = 0, 1, 2  # ending: live, but its destructor runs

    def __init__(self, slabs):
        self.slabs = slabs
        self.first, self.count = elements(slabs["classes_"])

    def of(self, index):
        """The slabs of a size class."""
        return linked(self.first[index]["first"], "next")

    def states(self, slab):
        """A byte for each slot, behind the header and two bytes for each."""
        slots = int(slab["slots"])
        return memory(int(slab.address) + slab.type.sizeof + 2 * slots, slots)

    def live(self, index):
        """The addresses of live slots."""
        for slab in self.of(index):
            for slot, state in enumerate(self.states(slab)):
                if state in (self.LIVE, self.ENDING):
                    yield int(slab["first_slot"]) + slot * int(slab["slot_bytes"])

    def totals(self):
        """Live slots, slots in the quarantine, and slots, of all classes."""
        live = waiting = slots = 0
        for index in range(self.count):
            for slab in self.of(index):
                states = self.states(slab)
                live += sum(1 for each in states if each in (self.LIVE, self.ENDING))
                waiting += sum(1 for each in states if each == self.WAITING)
                slots += len(states)
        return live, waiting, slots

    def text(self, name):
        live, waiting, slots = self.totals()
        large = int(self.slabs["large_count_"])
        return "%s: %d live of %s, %d in quarantine%s" % (
            name, live, counted(slots, "slot"), waiting, ", and %s" % counted(large, "larger block") if large else "")


class HardenedPoolPrinter:
    """acre::hardened_pool and hardened_object_pool: live of slots, and a child for each live slot."""

    def __init__(self, value):
        self.value = value
        self.slabs = HardenedSlabs(value["slabs_"])
        self.type = argument(value, 0) if "object_pool<" in name_of(value) else None

    def to_string(self):
        return self.slabs.text(name_of(self.value))

    def children(self):
        for index, address in enumerate(self.slabs.live(0)):
            yield "[%d]" % index, object_at(address, self.type)


class HardenedMultiPoolPrinter:
    """acre::hardened_multi_pool: a line for each size class that holds slabs."""

    def __init__(self, value):
        self.value = value
        self.slabs = HardenedSlabs(value["slabs_"])

    def to_string(self):
        return self.slabs.text(name_of(self.value))

    def children(self):
        for index in range(self.slabs.count):
            slabs = list(self.slabs.of(index))
            if slabs:
                yield "%d bytes" % int(slabs[0]["slot_bytes"]), "%d live of %s" % (
                    sum(1 for _ in self.slabs.live(index)), counted(sum(int(each["slots"]) for each in slabs), "slot"))


class StaticPoolPrinter:
    """acre::static_pool, which has no members: the pool of the program that it stands for."""

    def __init__(self, value):
        self.name = name_of(value)
        self.bytes = self.slot_bytes(argument(value, 0))
        state = self.state(self.group(str(argument(value, 1))))
        self.depot = self.slabs = None
        if state is not None and "depot" in [each.name for each in state.type.fields()]:
            self.depot = Depot(state["depot"], self.bytes)
            self.slabs = self.depot.slabs
        elif state is not None:
            self.slabs = Slabs(state["slabs"], self.bytes)

    @staticmethod
    def slot_bytes(size):
        """As shared_slot_bytes, of the default size classes: multiples of 8, then eight for each doubling."""
        if size > 8192:
            return (size + 4095) // 4096 * 4096
        step = 8 if size <= 128 else 1 << (size - 1).bit_length() - 4
        return (size + step - 1) // step * step

    @staticmethod
    def group(argument):
        """The name of a group, as the registry has it."""
        found = re.match(r"acre::(?:shared|thread)_group<([^,>]+)", argument)
        return found[1] if found else argument.replace("acre::", "") if argument == "acre::every_thread" else argument

    def state(self, group):
        """The state of the pool, by the functions that its entry in the registry names; None before its first use."""
        node = plain(gdb.parse_and_eval("acre::pool_registry::first_"))
        for each in linked(node, "next"):
            # A std::string_view of any implementation, without the end of its text.
            text = each["group"].format_string(raw=True, max_elements=0)
            length, named = re.search(r"(?:len|size)\w* = (\d+)", text), re.search(r'"(.*)"', text)
            if int(each["slot_bytes"]) == self.bytes and length and named and named[1][:int(length[1])] == group:
                slots = re.search(r"<(acre::detail::static_slots<.*>)::describe\(\)>", str(each["describe"]))[1]
                return gdb.parse_and_eval("'%s::all'" % slots)
        return None

    def to_string(self):
        if self.slabs is None:
            return "%s: not used yet" % self.name
        slots = "%s of %d bytes" % (counted(self.slabs.slots(), "slot"), self.bytes)
        if self.depot is not None:
            return "%s: %d live, %d free in magazines of threads, of %s" % (
                self.name, self.depot.live(), self.depot.in_magazines(), slots)
        return "%s: %d live of %s" % (self.name, self.slabs.taken(), slots)

    def children(self):
        for index, address in enumerate(self.slabs.live() if self.slabs else ()):
            yield "[%d]" % index, object_at(address, None)


# ---- Memory, and heaps ----

class StatelessPrinter:
    """A resource without members: its name."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return name_of(self.value)


class GeneralHeapPrinter:
    """acre::general_heap, which has no members: the heap of the process. A line for each size class in use."""

    def __init__(self, value):
        self.heap = gdb.parse_and_eval("acre::detail::the_heap")
        self.layouts = plain_array(gdb.parse_and_eval("acre::detail::heap_classes::layouts"))

    def used(self):
        """(bytes of a slot, slots handed out, slots) of each class with slabs."""
        depots, count = elements(self.heap["depots_"])
        for index in range(1, count):
            if int(depots[index]["slots_"]) != 0:
                yield (int(self.layouts[index]["slot_bytes"]), int(depots[index]["handed_out_"]),
                       int(depots[index]["slots_"]))

    def to_string(self):
        return "acre::general_heap: %d bytes in slots, those that threads keep free included" % sum(
            bytes * handed_out for bytes, handed_out, _ in self.used())

    def children(self):
        for bytes, handed_out, slots in self.used():
            yield "%d bytes" % bytes, "%d in use or kept by threads, of %s" % (handed_out, counted(slots, "slot"))


class RealtimeHeapPrinter:
    """acre::realtime_heap: a line for each arena in use."""

    SLOTS, TAKEN_RUN = 1, 3  # arena_use: see acre/heaps/detail/heap_arena.hpp

    def __init__(self, value):
        self.bytes = int(value["arena_bytes_"])
        self.records = value["arenas_"]
        self.all = int(value["free_"]["end_"] - value["free_"]["arenas_"])
        self.taken = int(value["free_"]["taken_"])

    def used(self):
        """(index, record) of each arena of slots, and of each run."""
        for index in range(self.all):
            record = self.records[index]
            if int(record["use"]) in (self.SLOTS, self.TAKEN_RUN):
                yield index, record

    def has_slots(self, record):
        return int(record["use"]) == self.SLOTS

    def to_string(self):
        live = sum(int(record["count"]) if self.has_slots(record) else 1 for _, record in self.used())
        return "acre::realtime_heap: %d of %s of %d bytes busy, %s" % (
            self.taken, counted(self.all, "arena"), self.bytes, counted(live, "live allocation"))

    def children(self):
        for index, record in self.used():
            count, own = int(record["count"]), record["own"]
            if self.has_slots(record):
                slot_bytes = int(own["first_last"]) + int(own["lasts"])
                yield "[%d]" % index, "%d live of %s of %d bytes" % (
                    count, counted(int(own["slots"]), "slot"), slot_bytes)
            else:
                yield "[%d]" % index, "an allocation of %s" % counted(count, "arena")


class VirtualMemoryPrinter:
    """acre::virtual_memory: bytes used, committed and reserved."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "acre::virtual_memory: %d bytes used, %d committed, of %d reserved at %#x" % (
            int(self.value["used_"]), int(self.value["committed_"]), int(self.value["bytes_"]),
            int(self.value["start_"]))


class AmbientPrinter:
    """acre::ambient and ambient_arena, which have no members: the resource of the selected thread."""

    def __init__(self, value):
        self.name = name_of(value)

    def to_string(self):
        if self.name == "acre::ambient_arena":
            arena = int(gdb.parse_and_eval("acre::detail::current_arena"))
            return self.name + (": the arena at %#x" % arena if arena else ": no arena in use by this thread")
        current = gdb.parse_and_eval("acre::detail::current_ambient")
        kind = re.search(r"ambient_kind_of<(.*?) ?>>$", str(current["kind"]))
        return "%s: %s at %#x" % (self.name, without_defaults(kind[1]) if kind else "a resource", int(current["object"]))


# ---- Wrappers, and what refers to a resource ----

def without_defaults(name):
    """The name of a type without the arguments that nobody writes."""
    return str(name).replace(", (acre::double_free_check)0", "")


def referred(handle):
    """What a resource_ref refers to, from the name of its table of functions."""
    table = re.search(r"::(stateless|stateful|pmr)_operations<(.*)>>$", str(handle["operations_"]))
    if table is None:
        return "resource at %#x" % int(handle["object_"])
    if table[1] == "stateless":
        return without_defaults(table[2])
    return "%s at %#x" % (without_defaults(table[2]), int(handle["object_"]))


class ResourceRefPrinter:
    """acre::resource_ref: what it refers to."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "acre::resource_ref to " + referred(self.value)


class WrapperPrinter:
    """A wrapper whose resource is its base class: limited, statistics, traced, logged. Shows its own numbers."""

    def __init__(self, value):
        self.value = value
        self.resource = argument(value, 0)
        self.name = name_of(value)

    def numbers(self):
        if self.name == "acre::limited":
            meter = self.value["meter_"]
            return ": %d of %d bytes live, %d at the peak" % (int(meter["live_"]), int(meter["limit_"]),
                                                              int(meter["peak_"]))
        if self.name == "acre::statistics":
            counts = self.value["meter_"]["counts_"]
            return ": %s of %d bytes, %d bytes at the peak" % (
                counted(int(counts["allocations"]["value"]), "live allocation"), int(counts["bytes"]["value"]),
                int(counts["bytes"]["peak"]))
        return ""

    def to_string(self):
        return self.name + self.numbers()

    def children(self):
        yield "resource", self.value.cast(self.resource)


class HolderPrinter:
    """A wrapper that has its resource as a member: synchronized, pmr, recycling, the pool resources of the standard."""

    members = {"acre::synchronized": "guarded_", "acre::pmr": "resource_", "acre::recycling": "below_",
               "acre::unsynchronized_pool_resource": "pool_", "acre::synchronized_pool_resource": "pool_"}

    def __init__(self, value):
        self.value = value
        self.name = name_of(value)

    def to_string(self):
        return self.name

    def children(self):
        yield "resource", self.value[self.members[self.name]]


class CheckedPrinter:
    """acre::checked: its own counts, and the resource in it, which also holds what was freed and is held back."""

    def __init__(self, value):
        self.value = value
        self.records = value["records_"]

    def to_string(self):
        live = int(self.records["next_number_"]) - 1 - int(self.records["frees_"])
        return "acre::checked: %s of %d, %s held back" % (
            counted(live, "live allocation"), int(self.records["next_number_"]) - 1,
            counted(int(self.records["quarantine_"]["held_"]), "freed one"))

    def children(self):
        yield "resource", self.value["storage_"]


class CheckedScratchPrinter:
    """acre::checked_scratch: its arena."""

    def __init__(self, value):
        self.owner = value["scope_"]["owner"]

    def to_string(self):
        return "acre::checked_scratch: ended" if is_null(self.owner) else \
            "acre::checked_scratch in the arena at %#x" % int(self.owner)

    def children(self):
        if not is_null(self.owner):
            yield "arena", self.owner.dereference()


class TwoPartsPrinter:
    """acre::fallback and segregate: their two resources."""

    names = {"acre::fallback": ("primary", "secondary"), "acre::segregate": ("small", "large")}

    def __init__(self, value):
        self.value = value
        self.name = name_of(value)

    def to_string(self):
        return self.name + (": up to %d bytes are small" % argument(self.value, 0) if "segregate" in self.name else "")

    def children(self):
        for name, member in zip(self.names[self.name], ("first_", "second_")):
            part = self.value[member]
            code = part.type.strip_typedefs().code
            yield name, part.referenced_value() if code == gdb.TYPE_CODE_REF else part


class OwnerPrinter:
    """acre::unique_resource: the resource that it owns."""

    def __init__(self, value):
        self.owned = value["owned_"]

    def to_string(self):
        return "acre::unique_resource: moved from" if is_null(self.owned) else "acre::unique_resource"

    def children(self):
        if not is_null(self.owned):
            yield "resource", self.owned.dereference()


class UpstreamPrinter:
    """acre::pmr_upstream: the memory resource that it refers to."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "acre::pmr_upstream to " + referred(self.value["referred_"])


class CheckedPointerPrinter:
    """acre::checked_ptr: where it points."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "%s to %#x" % (name_of(self.value), int(self.value["p_"]))


class ReferencePrinter:
    """acre::allocator, acre::malloc_face, and acre::resource_delete, the deleter of an acre::unique_ptr: the resource
    that it refers to."""

    def __init__(self, value):
        self.name = name_of(value)
        is_face = self.name == "acre::malloc_face"
        self.resource = without_defaults(argument(value, 0 if is_face else 1))
        self.pointer = value["below_" if is_face else "resource_"]

    def to_string(self):
        fields = [each.name for each in self.pointer.type.strip_typedefs().fields()]
        if "referred_" not in fields:
            return "%s: %s" % (self.name, self.resource)
        to = self.pointer["referred_"]
        if to.type.strip_typedefs().code != gdb.TYPE_CODE_PTR:
            return "%s: %s" % (self.name, referred(to))
        return "%s: no resource" % self.name if is_null(to) else "%s: %s at %#x" % (self.name, self.resource, int(to))


class BufferPrinter:
    """acre::buffer and inline_buffer: used of its bytes."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "%s: %d of %d bytes used, %s" % (name_of(self.value), int(self.value["used_"]),
                                                int(self.value["bytes_"]),
                                                counted(int(self.value["live_"]), "live allocation"))


PRINTERS = [
    (ArenaPrinter, "arena", "inline_arena<.*>"),
    (ScratchPrinter, "scratch"),
    (CursorPrinter, "cursor"),
    (ArenaVectorPrinter, "arena_vector<.*>"),
    (ArenaStringPrinter, "basic_arena_string<.*>"),
    (ConcurrentArenaPrinter, "concurrent_arena"),
    (TypedArenaPrinter, "typed_arena<.*>"),
    (MultiArenaPrinter, "multi_arena", "inline_multi_arena<.*>"),
    (ConcurrentMultiArenaPrinter, "concurrent_multi_arena", "inline_concurrent_multi_arena<.*>"),
    (PoolPrinter, "pool<.*>", "object_pool<.*>"),
    (ConcurrentPoolPrinter, "concurrent_pool<.*>", "concurrent_object_pool<.*>"),
    (MultiPoolPrinter, "basic_multi_pool<.*>", "basic_concurrent_multi_pool<.*>"),
    (WaitFreePoolPrinter, "wait_free_pool<.*>", "wait_free_object_pool<.*>"),
    (ChunkPoolPrinter, "chunk_pool<.*>"),
    (HardenedPoolPrinter, "hardened_pool<.*>", "hardened_object_pool<.*>"),
    (HardenedMultiPoolPrinter, "basic_hardened_multi_pool<.*>"),
    (StaticPoolPrinter, "static_pool<.*>"),
    (StatelessPrinter, "heap", "no_memory", "program_pools"),
    (GeneralHeapPrinter, "general_heap"),
    (RealtimeHeapPrinter, "realtime_heap"),
    (VirtualMemoryPrinter, "virtual_memory"),
    (AmbientPrinter, "ambient", "ambient_arena"),
    (ResourceRefPrinter, "resource_ref"),
    (UpstreamPrinter, "pmr_upstream"),
    (WrapperPrinter, "limited<.*>", "statistics<.*>", "traced<.*>", "logged<.*>"),
    (HolderPrinter, "synchronized<.*>", "pmr<.*>", "recycling<.*>", "unsynchronized_pool_resource",
     "synchronized_pool_resource"),
    (CheckedPrinter, "checked<.*>"),
    (CheckedScratchPrinter, "checked_scratch<.*>"),
    (CheckedPointerPrinter, "checked_ptr<.*>"),
    (TwoPartsPrinter, "fallback<.*>", "segregate<.*>"),
    (OwnerPrinter, "unique_resource<.*>"),
    (ReferencePrinter, "allocator<.*>", "malloc_face<.*>", "resource_delete<.*>"),
    (BufferPrinter, "buffer", "inline_buffer<.*>"),
]


def careful(printer):
    """A printer that says so when the program's memory cannot be read, in place of an error for the whole value."""
    class Careful(printer):
        def to_string(self):
            try:
                return super().to_string()
            except (gdb.error, gdb.MemoryError, ValueError) as error:
                return "cannot be shown: %s" % error

        if hasattr(printer, "children"):
            def children(self):
                try:
                    yield from super().children()
                except (gdb.error, gdb.MemoryError, ValueError) as error:
                    yield "[...]", "cannot be shown: %s" % error
    Careful.__name__ = printer.__name__
    return Careful


def make_printer(value, printer):
    try:
        return careful(printer)(value)
    except (gdb.error, gdb.MemoryError, RuntimeError):
        return None  # without debugging information of its members: GDB's own form


def collection():
    """All printers, for gdb.printing.register_pretty_printer."""
    result = gdb.printing.RegexpCollectionPrettyPrinter("acre")
    for printer, *names in PRINTERS:
        for name in names:
            result.add_printer(name.split("<", 1)[0], "^acre::" + name + "$",
                               lambda value, printer=printer: make_printer(value, printer))
    return result


gdb.printing.register_pretty_printer(gdb.current_objfile(), collection(), replace=True)

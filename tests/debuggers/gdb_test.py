"""Prints each object of program.cpp in GDB, and compares the lines with those expected here and with what the program
itself says of its resources.

Usage: gdb_test.py GDB PROGRAM PRINTERS     PRINTERS: the file to source, or "embedded" for those in the program
"""
import re
import subprocess
import sys

# Object: lines, or parts of them, that GDB must print of it, in this order. {address} is any address.
EXPECTED = {
    "empty_arena": ["acre::arena: 0 of 0 bytes used in 0 blocks"],
    "level": ["acre::arena: {level} bytes used in 3 blocks", "[0] = 456 of 1000 bytes used at {address}",
              "[1] = 808 of 1000 bytes used at {address}", "[2] = 4104 of 4104 bytes used", "destructors = 1 due"],
    "by_reference": ["acre::arena: {level} bytes used in 3 blocks"],
    "small": ["acre::inline_arena<512>: 112 of 512 bytes used", "in 1 block"],
    "*outer": ["acre::scratch: 48 bytes used since it began, in the arena at {address}",
               "arena = acre::arena: 120 of "],
    "*inner": ["acre::scratch: 16 bytes used since it began"],
    "*ended": ["acre::scratch: ended"],
    "shared_level": ["acre::concurrent_arena: {shared_level} bytes used in 1 thread window", "blocks = acre::arena: "],
    "once": ["acre::typed_arena<bullet, 8>: 3 of 8 slots handed out"],
    "again": ["acre::typed_arena<bullet, 8>: 3 live of 8 slots", "[0] = {x = 0", "[2] = {x = 2", "[3] = {x = 3"],
    "again_shared": ["acre::typed_arena<bullet, 8>: 3 live of 8 slots", "[0] = {x = 0", "[2] = {x = 2", "[3] = {x = 3"],
    "frames": ["acre::multi_arena: 2 of 4 arenas of 256 bytes busy, {frames} live allocations",
               "[0] = 2 live, 224 of 256 bytes used", "[1] = 1 live, 112 of 256 bytes used, active",
               "[2] = 0 live, 0 of 256", "[3] = 0 live"],
    "inline_frames": ["acre::inline_multi_arena: 1 of 2 arenas of 112 bytes busy, 1 live allocation ",
                      "[0] = 1 live, 16 of 112 bytes used, active"],
    "messages": ["acre::concurrent_multi_arena: 2 of 4 arenas of 256 bytes busy, {messages} live allocations",
                 "[0] = 0 live, shared", "[1] = 2 live", "[2] = 1 live, open in a thread", "[3] = 0 live"],
    "inline_messages": [
        "acre::inline_concurrent_multi_arena: 1 of 4 arenas of 256 bytes busy, {inline_messages} live "],
    "bullets": ["acre::object_pool<bullet>: {bullets} slots of 8 bytes", "[0] = {x = 9, speed = 9.5}",
                "[1] = {x = 2, speed = 2.5}", "[2] = {x = 3, speed = 3.5}"],
    "many_bullets": ["acre::object_pool<bullet>: {many_bullets} slots of 8 bytes", "[0] = {x = 0", "[5] = {x = 5",
                     "..."],
    "slots": ["acre::pool<24>: 1 live of {slots} slots of 24 bytes, and 1 larger block", "[0] = {address}"],
    "nodes": ["acre::multi_pool: {nodes} bytes held", "16 bytes = 2 live of ", "32 bytes = 1 live of ",
              "112 bytes = 1 live of ", "larger = 1 block, 100048 bytes"],
    "shared_bullets": ["acre::concurrent_object_pool<bullet>: {shared_bullets} live, 247 free in magazines",
                       "[0] = {x = 8, speed = 8.5}"],
    "late_slots": ["acre::concurrent_pool<64>: {late_slots} live, 58 free in magazines of threads, of 59 slots of 64 "],
    "shared_nodes": ["acre::concurrent_multi_pool: {shared_nodes} live, ", "32 bytes = 1 live of "],
    "wait_free_bullets": ["acre::wait_free_object_pool<bullet>: {wait_free_bullets} live of 70 slots", "[0] = {x = 0",
                          "[5] = {x = 5"],
    "few": ["acre::limited: 8 of 64 bytes live, 8 at the peak", "resource = acre::object_pool<bullet>: 1 live of ",
            "[0] = {x = 4, speed = 4.5}"],
    "watched": ["acre::statistics: 1 live allocation of 100 bytes, 100 bytes at the peak",
                "resource = acre::arena: 112 of"],
    "locked": ["acre::synchronized = {", "resource = acre::pool<32>: 1 live of "],
    "face": ["acre::pmr = {", "resource = acre::arena: 48 of "],
    "nested": ["acre::synchronized = {", "resource = acre::statistics: 1 live allocation of 24 bytes",
               "resource = acre::multi_pool: 1 live, "],
    "to_level": ["acre::resource_ref to acre::arena at {address}"],
    "to_heap": ["acre::resource_ref to acre::heap"],
    "of_level": ["acre::allocator: acre::arena at {address}"],
    "of_heap": ["acre::allocator: acre::heap"],
    "deleter": ["acre::resource_delete: acre::object_pool<bullet> at {address}"],
    "given": ["acre::buffer: 40 of 256 bytes used, 1 live allocation"],
    "numbers": ["acre::arena_vector: 3 elements, room for 16 = {[0] = 1, [1] = 2, [2] = 3}"],
    "text": ['"URG"'],
    "*writer": ["acre::cursor: {writer} bytes left in the current block of the arena at {address}"],
    "chunks": ["acre::chunk_pool: {chunks} live of 12 slots, and 1 block of upstream", "32 bytes = 1 live of 4 slots",
               "60 bytes = 2 live of 4 slots", "128 bytes = 0 live of 4 slots"],
    "guarded_bullets": ["acre::hardened_object_pool<bullet>: 1 live of ", "1 in quarantine",
                        "[0] = {x = 6, speed = 6.5}"],
    "guarded_nodes": ["acre::hardened_multi_pool: 2 live of ", "and 1 larger block", "32 bytes = 2 live of "],
    "static_slots": ["acre::static_pool<100>: 1 live, ", " free in magazines of threads, of ", " slots of 104 bytes",
                     "[0] = {address}"],
    "static_audio": ["acre::static_pool<64>: 1 live of ", " slots of 64 bytes", "[0] = {address}"],
    "static_unused": ["acre::static_pool<24>: not used yet"],
    "process_heap": ["acre::general_heap: ", "48 bytes = "],
    "control": ["acre::realtime_heap: 4 of 8 arenas of 1024 bytes busy, 3 live allocations",
                "[0] = 2 live of 9 slots of 112 bytes", "[5] = an allocation of 3 arenas"],
    "pages": ["acre::virtual_memory: {pages} bytes used, ", "of 1048576 reserved at {address}"],
    "current": ["acre::ambient: acre::basic_multi_pool<acre::default_size_classes> at {address}"],
    "current_arena": ["acre::ambient_arena: the arena at {address}"],
    "checked_bullets": ["acre::checked: 1 live allocation of 2, 1 freed one held back", "resource = acre::object_pool"],
    "checked_level": ["acre::checked: 1 live allocation of 1, 0 freed ones held back",
                      "resource = acre::arena: 144 of "],
    "*checked_scope": ["acre::checked_scratch in the arena at {address}", "arena = acre::checked: 1 live allocation "],
    "two": ["acre::fallback", "primary = acre::inline_buffer: 40 of 64 bytes used", "secondary = acre::heap"],
    "by_size": ["acre::segregate: up to 64 bytes are small", "small = acre::pool<64>: 1 live of ",
                "large = acre::heap"],
    "owner": ["acre::unique_resource", "resource = acre::arena: 112 of 4096 bytes used"],
    "standard": ["acre::pmr_upstream to std::pmr::memory_resource at {address}"],
    "standard_pools": ["acre::unsynchronized_pool_resource", "resource = acre::multi_pool: 1 live, "],
    "face_of_nodes": ["acre::malloc_face: acre::basic_multi_pool<acre::default_size_classes> at {address}"],
    "recycled": ["acre::recycling", "resource = acre::arena: 120 of 4096 bytes used"],
}


def printed(gdb, program, printers):
    """What the program and GDB print: the lines of the program, and for each object what GDB said of it."""
    commands = ["set pagination off", "set width 0", "set print elements 6", "set print address on", "set confirm off"]
    load = ["add-auto-load-safe-path " + program] if printers == "embedded" else ["source " + printers]
    commands += load + ["file " + program, "break stopped", "run"]
    arguments = [gdb, "-nx", "-batch"]
    for command in commands:
        arguments += ["-ex", command]
    for name in EXPECTED:
        arguments += ["-ex", "echo \\n== %s\\n" % name, "-ex",
                      "print " + (name if name.startswith("*") else "shown::" + name)]
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    first, *rest = re.split(r"^== ", result.stdout, flags=re.MULTILINE)
    return first + result.stderr, {each.split("\n", 1)[0]: each.split("\n", 1)[1] for each in rest}


def values(lines):
    """What the program says of its resources, by their names: "12 of 34" or "5"."""
    found = dict(re.findall(r"^(\w+) (?:used )?(\d+(?: of \d+)?)", lines, flags=re.MULTILINE))
    found["nodes"] = "%s live, %s" % re.search(r"^nodes (\d+) in (\d+)", lines, flags=re.MULTILINE).groups()
    for name in ("many_bullets", "bullets"):
        found[name] = found[name].replace(" of ", " live of ")
    found["slots"] = found["slots"].split(" of ")[1]
    return found


def missing_from(text, parts, said):
    """The first of the parts that the text does not have behind those before it."""
    at = 0
    for part in parts:
        pattern = re.escape(re.sub(r"\{(\w+)\}", lambda each: said.get(each[1], each[0]), part))
        pattern = pattern.replace(re.escape("{address}"), "0x[0-9a-f]+")
        found = re.compile(pattern).search(text, at)
        if found is None:
            return part
        at = found.end()
    return None


def main():
    gdb, program, printers = sys.argv[1:]
    lines, objects = printed(gdb, program, printers)
    if "Breakpoint 1, stopped" not in lines and "stopped (" not in lines:
        if "ptrace" in lines or "Operation not permitted" in lines:
            print("gdb may not run a program here:\n" + lines)
            return
        sys.exit("the program did not stop where it should:\n" + lines)
    said = values(lines)
    faults = 0
    for name, parts in EXPECTED.items():
        part = missing_from(objects.get(name, ""), parts, said)
        if part is not None:
            faults += 1
            print("%s: GDB does not print '%s', but:\n%s" % (name, part, objects.get(name)))
    print("%d objects printed as expected" % (len(EXPECTED) - faults))
    if faults:
        sys.exit("the program says: " + lines)


main()

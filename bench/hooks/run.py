#!/usr/bin/env python3
"""Plays the programs of bench/hooks and prints a table: each library with its own memory, with acre, and with mimalloc
preloaded.

Usage: bench/hooks/run.py FOLDER [ROUNDS [NAME...]]      FOLDER: where the programs acre-bench-hooks-* are
                                                         NAME: of these programs only, such as nlohmann

Each round runs each program once, one after the other, so that a load of the machine falls on all alike. A time is the
median over the rounds of the least processor time of a process; memory is the median of its peak.
"""
import glob
import pathlib
import statistics
import subprocess
import sys

if "--help" in sys.argv[1:]:
    sys.exit(print(__doc__))

WORKLOADS = [
    ("Lua, script that allocates", "lua allocating", ["multi_pool", "limited"]),
    ("Lua, typical script", "lua typical", ["multi_pool", "limited"]),
    ("Expat, vk.xml, 2 MB", "expat large", ["arena", "multi_pool"]),
    ("Expat, 1000 messages of 1 KiB", "expat small", ["arena", "multi_pool"]),
    ("libxml2, tree of vk.xml", "libxml2", ["arena_unfreed", "arena", "multi_pool"]),
    ("GMP, exact arithmetic", "gmp", ["arena", "multi_pool"]),
    ("SQLite with a hard limit", "sqlite", ["default_limited", "limited_multi_pool"]),
    ("zlib, 200 messages of 4 KiB", "streams zlib", ["arena"]),
    ("Zstandard, 200 messages of 4 KiB", "streams zstd", ["arena"]),
    ("FreeType, 90 letters", "freetype", ["multi_pool"]),
    ("nlohmann::json, parse and destroy 700 KB", "nlohmann",
     ["arena_undestroyed", "arena", "program_pools", "ambient_over_an_arena", "ambient_over_a_multi_pool"]),
    ("Boost.JSON, parse and destroy 700 KB", "boost_json", ["default_monotonic", "arena", "multi_pool"]),
    ("RapidJSON, parse and destroy 700 KB", "rapidjson", ["default_malloc", "arena", "program_pools"]),
    ("Boost.Container, map of strings", "boost_container", ["default_unsynchronized_pool", "multi_pool"]),
    ("protobuf, 1000 requests with an arena", "protobuf", ["program_pools", "arena"]),
    ("CPython, script that allocates", "cpython", ["multi_pool"]),
]


def play(folder, workload, memory, preloaded):
    program, *arguments = workload.split()
    command = [str(folder / f"acre-bench-hooks-{program}"), *arguments, memory]
    environment = {"LD_PRELOAD": preloaded} if preloaded else {}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    milliseconds, kib = done.stdout.split()
    return float(milliseconds), int(kib)


def main():
    folder, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    names = sys.argv[3:]
    mimalloc = next(iter(sorted(glob.glob("/usr/lib/*/libmimalloc.so*"))), "")
    print("| library and workload | memory | ms | times as fast | peak, KiB |\n|---|---|---:|---:|---:|")
    for title, workload, memories in WORKLOADS:
        program = workload.split()[0]
        if (names and program not in names) or not (folder / f"acre-bench-hooks-{program}").exists():
            continue
        rows = [("default", "default", "")]
        rows += [(memory if memory.startswith("default") else f"acre: {memory}", memory, "") for memory in memories]
        if mimalloc:
            rows.append(("mimalloc preloaded", "default", mimalloc))
        figures = {label: [] for label, _, _ in rows}
        for _ in range(rounds):
            for label, memory, preloaded in rows:
                figures[label].append(play(folder, workload, memory, preloaded))
        base = statistics.median(time for time, _ in figures["default"])
        for label, _, _ in rows:
            time = statistics.median(each for each, _ in figures[label])
            peak = statistics.median(each for _, each in figures[label])
            print(f"| {title} | {label.replace('_', ' ')} | {time:.3f} | {base / time:.2f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Counts the instructions of a call of each pool, and prints a Markdown table: those that the documentation names.

Compiles pool_instructions.cpp with -O2 and runs it under callgrind, which counts within the called functions only. A
figure is the difference of a round of 40 calls and two rounds, by 40, so it is that of warm calls and repeats exactly.

Usage: bench/limits/pool_instructions.py [INCLUDE_FOLDER]      CXX: the compiler, default g++
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

if "--help" in sys.argv[1:]:
    sys.exit(print(__doc__))

HERE = pathlib.Path(__file__).resolve().parent
CALLS = 40
WARM_ROUNDS = 4


def executed(program, pool, function, rounds):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           f"--toggle-collect=*{function}*", program, pool, str(rounds)],
                          capture_output=True, text=True, env={**os.environ, "LD_BIND_NOW": "1"})
    total = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not total:
        sys.exit(f"pool_instructions: '{pool}' failed under callgrind: {done.stderr[-500:]}")
    return int(total[1])


def counted(program, pool):
    def of(function):
        fewer, more = (executed(program, pool, function, rounds) for rounds in (WARM_ROUNDS, WARM_ROUNDS + 1))
        return (more - fewer) / CALLS

    return of("the_counted_allocation"), of("the_counted_deallocation")


def main(include):
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        program = pathlib.Path(folder) / "pool_instructions"
        subprocess.run([*os.environ.get("CXX", "g++").split(), "-std=c++20", "-O2", "-DNDEBUG", "-pthread",
                        f"-I{include}", HERE / "pool_instructions.cpp", "-o", program], check=True)
        pools = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
        figures = workers.map(lambda pool: counted(program, pool), pools)
        print("| pool | allocate | free |\n|---|--:|--:|")
        for pool, (allocate, free) in zip(pools, figures):
            print(f"| {pool} | {allocate:.0f} | {free:.0f} |", flush=True)


main(sys.argv[1] if len(sys.argv) > 1 else HERE.parent.parent / "include")

#!/usr/bin/env python3
"""Counts the instructions of the C interface's calls, beside those of the C++ types and of malloc, and prints a table.

Usage: bench/c/calls.py [BUILD]      BUILD: the folder with lib/libacre.so, build/ by default

A row is one allocation of 64 bytes and its free (of an arena: the allocation), what a loop without it takes subtracted.
The counts are callgrind's, and repeat exactly.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

if "--help" in sys.argv[1:]:
    sys.exit(print(__doc__))

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
ROWS = ["arena", "concurrent_arena", "pool", "concurrent_pool", "multi_pool", "concurrent_multi_pool", "multi_arena",
        "concurrent_multi_arena", "acre_malloc", "malloc", "refused", "refused_malloc", "refused_try"]
FEW, MANY = 1000, 11000


def instructions(program, name):
    """Of one round."""
    counts = []
    for count in (FEW, MANY):
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, name,
                               str(count)],
                              capture_output=True, text=True, check=True)
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr)[1]))
    return (counts[1] - counts[0]) / (MANY - FEW)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
    with tempfile.TemporaryDirectory() as folder:
        in_c, in_cpp = f"{folder}/c", f"{folder}/cpp"
        subprocess.run(["cc", "-std=gnu11", "-O2", f"-I{ROOT}/c", HERE / "calls.c", build / "lib/libacre.so",
                        f"-Wl,-rpath,{build}/lib", "-o", in_c], check=True)
        subprocess.run(["c++", "-std=c++20", "-O2", "-DNDEBUG", f"-I{ROOT}/include", HERE / "calls.cpp", "-pthread",
                        "-o", in_cpp], check=True)
        nothing_in_c, nothing_in_cpp = instructions(in_c, "nothing"), instructions(in_cpp, "nothing")
        print("| call | C | C++ |\n|---|---:|---:|")
        for row in ROWS:
            counts = f"{instructions(in_c, row) - nothing_in_c:.0f}"
            inline = "" if row in ROWS[-5:] else f"{instructions(in_cpp, row) - nothing_in_cpp:.0f}"
            print(f"| {row} | {counts} | {inline} |")


main()

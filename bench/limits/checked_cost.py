#!/usr/bin/env python3
"""Measures what acre::checked costs, and prints a Markdown table.

Compiles checked_cost.cpp with -O2, once as it is and once with AddressSanitizer, and runs the two programs in turns.
Within a program the contestants take turns, too. Each figure is the median over the runs of the medians of a run. A
second table has the instructions of an allocation and its free with the loop around them, counted by callgrind: the
difference of two rounds and one, by 100,000. It is left out without valgrind.

Usage: bench/limits/checked_cost.py [RUNS]      CXX: the compiler, default g++
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

if "--help" in sys.argv[1:]:
    sys.exit(print(__doc__))

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = "5"


def build(folder, name, *flags):
    program = folder / name
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-DNDEBUG", *flags,
                    f"-I{HERE.parent.parent / 'include'}", HERE / "checked_cost.cpp", "-o", program], check=True)
    return program


def run(program):
    lines = subprocess.run([program, ROUNDS], check=True, capture_output=True, text=True).stdout.splitlines()
    return {(work, contestant): float(taken) for work, contestant, taken in (line.split("\t") for line in lines)}


def executed(program, work, contestant, rounds):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "run", str(work),
                           str(contestant), str(rounds)], capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def print_instructions(program, works):
    print("\n| instructions | pool | `checked<pool>` | / pool | `checked<multi_pool>` |\n|---|--:|--:|--:|--:|")
    for number, work in enumerate(works):
        pool, checked, multi = ((executed(program, number, each, 2) - executed(program, number, each, 1)) / 100_000
                                for each in range(3))
        print(f"| {work} | {pool:.0f} | {checked:.0f} | {checked / pool:.1f} | {multi:.0f} |", flush=True)


def main(runs):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        programs = [build(folder, "plain"), build(folder, "sanitized", "-fsanitize=address")]
        taken = [[], []]
        for _ in range(runs):
            for program, figures in zip(programs, taken):
                figures.append(run(program))
        plain, sanitized = ({key: statistics.median(each[key] for each in figures) for key in figures[0]}
                            for figures in taken)
        print("| work | pool | `checked<pool>` | / pool | `checked<multi_pool>` | `malloc` | "
              "`malloc` with AddressSanitizer | `checked<pool>` / `malloc` with AddressSanitizer | "
              "`checked<pool>` with AddressSanitizer / `malloc` with AddressSanitizer |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|")
        for work in dict.fromkeys(work for work, _ in plain):
            pool, checked, multi, general = (plain[work, each] for each in
                                             ("pool", "checked<pool>", "checked<multi_pool>", "malloc"))
            asan, asan_checked = sanitized[work, "malloc"], sanitized[work, "checked<pool>"]
            print(f"| {work} | {pool:.1f} | {checked:.1f} | {checked / pool:.1f} | {multi:.1f} | {general:.1f} | "
                  f"{asan:.1f} | {checked / asan:.2f} | {asan_checked / asan:.2f} |")
        if shutil.which("valgrind"):
            print_instructions(programs[0], dict.fromkeys(work for work, _ in plain))


main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)

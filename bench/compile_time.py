#!/usr/bin/env python3
"""Measures what including a header costs the compiler: acre's main headers beside the standard's.

Each source includes one header and defines an empty main. The sources are compiled in turns, in a new order each round;
the medians of the compiler's processor time count, so other programs disturb little. Instructions of the compiler
proper, counted by valgrind, repeat exactly; without valgrind, or with --quick, they are left out. Prints a Markdown
table.

With --check only the headers that have a limit are compiled, and the exit status is 1 when one is above it. The medians
of the ratios within each round decide, so a machine that is busy for some rounds does no harm. `ninja
acre_compile_time` does this.

Usage: bench/compile_time.py [--check] [--rounds N] [--quick] [--compiler NAME] [--before INCLUDE_FOLDER] [--only TEXT]...
"""
import argparse
import datetime
import os
import platform
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STANDARD = ["", "<span>", "<string_view>", "<atomic>", "<memory>", "<memory_resource>"]
OURS = ["fwd", "core/resource", "core/resource_ref", "memory/heap", "arenas/arena", "arenas/scratch",
        "arenas/inline_arena", "arenas/arena_vector", "arenas/typed_arena", "arenas/multi_arena",
        "arenas/concurrent_arena", "arenas/concurrent_multi_arena", "pools/pool", "pools/object_pool",
        "pools/multi_pool", "pools/chunk_pool", "pools/static_pool", "pools/concurrent_pool",
        "pools/concurrent_multi_pool", "pools/wait_free_pool", "observe/statistics", "observe/traced",
        "combine/synchronized", "adapt/allocator", "adapt/pmr", "adapt/pooled", "adapt/pool_resource",
        "adapt/smart_ptr", "adapt/containers", "observe/checked", "memory/virtual_memory",
        "pools/hardened_multi_pool", "acre"]
# The limits of the project, as ratios to <memory_resource>, because machines differ: 150 and 400 ms where it costs 201.
LIMITS = {"<acre/arenas/arena.hpp>": 150 / 201, "<acre/acre.hpp>": 400 / 201}
UNIT = "<memory_resource>"


def processor_time(command):
    """Milliseconds of processor time of the command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def instructions(command):
    """Instructions of the compiler proper; None where they cannot be counted."""
    wrapper = "valgrind,--tool=cachegrind,--cache-sim=no,--cachegrind-out-file=/dev/null"
    done = subprocess.run([*command, "-wrapper", wrapper], capture_output=True, text=True)
    counted = re.findall(r"I\s+refs:\s+([\d,]+)", done.stderr)
    return sum(int(each.replace(",", "")) for each in counted) if done.returncode == 0 and counted else None


def lines(command):
    """Lines that are left after preprocessing."""
    preprocess = [each for each in command if each != "-fsyntax-only"] + ["-E", "-P"]
    done = subprocess.run(preprocess, check=True, capture_output=True, text=True)
    return done.stdout.count("\n")


class Source:
    """A header to include, from one include folder."""

    def __init__(self, header, include, folder, options):
        self.header = header
        file = os.path.join(folder, re.sub(r"\W+", "_", f"{header} {include}")[:120] + ".cpp")
        with open(file, "w", encoding="ascii") as out:
            out.write((f"#include {header}\n" if header else "") + "int main() {}\n")
        flags = ["-std=c++20", "-O2", "-fsyntax-only", f"-I{include}"]
        self.command = [options.compiler, *flags, file]
        self.times = []
        self.lines = lines(self.command)
        self.instructions = None if options.quick else instructions(self.command)

    @property
    def median(self):
        return statistics.median(self.times)


def sources(include, folder, options, headers):
    found = []
    for header in headers:
        exists = not header.startswith("<acre/") or os.path.exists(os.path.join(include, header[1:-1]))
        if exists and (not options.only or any(text in header for text in [*options.only])):
            found.append(Source(header, include, folder, options))
    return found


def measure(all_sources, rounds):
    for _ in range(rounds):
        for each in random.sample(all_sources, len(all_sources)):
            each.times.append(processor_time(each.command))


def millions(count):
    return "" if count is None else f"{count / 1e6:,.0f}"


def ratio(each, unit):
    """The median of the ratios within each round."""
    return statistics.median(time / base for time, base in zip(each.times, unit.times))


def above_limits(measured):
    """A sentence for each header that takes more than its limit."""
    unit = next(each for each in measured if each.header == UNIT)
    for each in measured:
        if each.header in LIMITS and (found := ratio(each, unit)) > LIMITS[each.header]:
            yield f"{each.header} takes {found:.2f} of the time of {UNIT}; the limit is {LIMITS[each.header]:.2f}"


def print_table(measured, before):
    unit = next(each for each in measured if each.header == UNIT)
    old = {each.header: each for each in before}
    print("| header | ms | of `<memory_resource>` | limit | million instructions | lines |"
          + (" ms before | million instructions before |" if old else ""))
    print("|---|--:|--:|--:|--:|--:|" + ("--:|--:|" if old else ""))
    for each in measured:
        limit = f"{LIMITS[each.header]:.2f}" if each.header in LIMITS else ""
        name = f"`{each.header}`" if each.header else "nothing"
        row = f"| {name} | {each.median:.0f} | {ratio(each, unit):.2f} | {limit} " \
              f"| {millions(each.instructions)} | {each.lines:,} |"
        if old:
            was = old.get(each.header)
            row += f" {was.median:.0f} | {millions(was.instructions)} |" if was else " | |"
        print(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--before", metavar="INCLUDE_FOLDER")
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    if options.check:
        options.quick, options.only = True, [*LIMITS]
    if options.only:
        options.only.append(UNIT)
    if shutil.which("valgrind") is None or "clang" in options.compiler:
        options.quick = True  # clang's driver has no -wrapper
    ours = [f"<acre/{each}.hpp>" for each in OURS]
    with tempfile.TemporaryDirectory() as folder:
        now = sources(os.path.join(HERE, "..", "include"), folder, options, STANDARD + ours)
        before = sources(options.before, folder, options, ours) if options.before else []
        measure(now + before, options.rounds)
    version = subprocess.run([options.compiler, "--version"], check=True, capture_output=True, text=True).stdout
    print(f"{version.splitlines()[0]}, `-std=c++20 -O2 -fsyntax-only`, {platform.machine()}, {os.cpu_count()} "
          f"processors, {datetime.date.today()}. Medians of {options.rounds} rounds, in turns; processor time.\n")
    print_table(now, before)
    failures = list(above_limits(now)) if options.check else []
    print(*failures, sep="\n", file=sys.stderr, end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

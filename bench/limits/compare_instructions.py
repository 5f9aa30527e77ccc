#!/usr/bin/env python3
"""Compares the instructions of acre's hot paths in two builds of acre-bench, for instance before and after a change.

Each workload runs under callgrind with one round and with two; the difference is one round without start-up, and
repeats exactly. Workloads of a single call are counted as that call. Prints a Markdown table: instructions before and
after, and their ratio.

Usage: bench/limits/compare_instructions.py OLD/bin/acre-bench NEW/bin/acre-bench
"""
import concurrent.futures
import os
import re
import subprocess
import sys

if "--help" in sys.argv[1:]:
    sys.exit(print(__doc__))

GROUPS = re.compile(r"(P1|P3|bump 8 B|bump 8\.\.256 B|objects|W7|W7 outer 1|library .*|.*multi_arena.*)$")
# As in instructions.hpp.
COUNTED_FUNCTIONS = "*the_counted_*"
OURS = re.compile(r"acre\b|library|concurrent_|multi_arena")


def workloads(program):
    """(group, variant) of all that is acre's in the groups whose counts describe a hot path."""
    found, group = set(), ""
    for line in subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.split("\n"):
        if line.startswith("    "):
            if GROUPS.match(group) and (OURS.search(line) or OURS.match(group)):
                found.add((group, line.strip()))
        else:
            group = line.partition(":")[0]
    return found


def executed(program, group, variant, rounds, *options):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *options, program, "--run",
                           group, variant, str(rounds)], capture_output=True, text=True,
                          env={**os.environ, "LD_BIND_NOW": "1"})
    total = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not total:
        sys.exit(f"compare_instructions: {program} --run '{group}' '{variant}' failed under callgrind")
    return int(total[1])


def counted(job):
    if job[1].endswith(" instructions"):
        return executed(*job, 1, f"--toggle-collect={COUNTED_FUNCTIONS}")
    return executed(*job, 2) - executed(*job, 1)


def main(old, new):
    both = sorted(workloads(old) & workloads(new))
    if not both:
        sys.exit("compare_instructions: the two programs have no workload in common")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        before = list(workers.map(counted, ((old, *each) for each in both)))
        after = list(workers.map(counted, ((new, *each) for each in both)))
    print("| workload | variant | before | after | after / before |\n|---|---|--:|--:|--:|")
    for (group, variant), was, now in zip(both, before, after):
        print(f"| {group} | {variant} | {was:,} | {now:,} | {now / was:.4f} |")


if len(sys.argv) != 3:
    sys.exit(__doc__.strip().rpartition("\n")[2])
main(*sys.argv[1:])

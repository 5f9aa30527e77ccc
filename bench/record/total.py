#!/usr/bin/env python3
"""What a recording costs in all: CPU and wall time of whole programs alone, under `acre record`, also without the
stacks of frees, and under heaptrack.

Everything counts until the command returns: the program, the recorder in it, and the conversion of what it recorded.
Each round runs every program in every way, one after the other; the table shows medians.

Usage: total.py [--build DIR] [--rounds N] [--json FILE] [PROGRAM...]
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "whole"))
import programs  # noqa: E402

NAMES = ("sqlite3", "jq", "python3-malloc", "lua", "xmllint", "gawk", "cc1plus")
WITHOUT_FREE_STACKS = "acre without stacks of frees"  # which heaptrack does not record either
WAYS = ("plain", "acre", WITHOUT_FREE_STACKS, "heaptrack")


def cc1plus(folder):
    """The compiler itself, as g++ starts it. Without optimising: heaptrack 1.4 ends with bad_alloc where it does."""
    plan = subprocess.run(["g++", "-###", "-S", "-O0", "-std=c++17", str(folder / "unit.cpp"), "-o", "/dev/null"],
                          capture_output=True, text=True, check=True).stderr
    line = next(each for each in plan.splitlines() if "/cc1plus" in each)
    return [word.strip('"') for word in line.split()]


def arguments_of(folder, wanted):
    """Name -> the program and its arguments."""
    known = {each.name: each.command for each in programs.all_programs(folder)}
    known["cc1plus"] = cc1plus(folder)
    missing = [name for name in wanted if name not in known or not shutil.which(known[name][0])]
    for name in missing:
        print(f"{name} is missing on this machine", file=sys.stderr)
    return {name: [str(word) for word in known[name]] for name in wanted if name not in missing}


def run(arguments, folder, environment):
    """Seconds of CPU time and of wall time of a command, with all that it waits for."""
    begin = time.monotonic()
    with open(os.devnull, "r+b") as nothing:
        process = subprocess.Popen(arguments, stdin=nothing, stdout=nothing, stderr=nothing, cwd=folder,
                                   env=dict(os.environ, **environment))
        _, status, usage = os.wait4(process.pid, 0)
    end = time.monotonic()
    if status != 0:
        print(f"{arguments[:3]} failed with status {os.waitstatus_to_exitcode(status)}", file=sys.stderr)
        return float("nan"), float("nan")
    return usage.ru_utime + usage.ru_stime, end - begin


def recorded(command, arguments, folder, way):
    """Runs a program in one of the ways."""
    environment = {}
    if arguments[0] == "env":  # heaptrack does not record what `env` executes
        environment = dict([arguments[1].split("=", 1)])
        arguments = arguments[2:]
    if way == "acre":
        arguments = [command, "record", "-q", "-o", str(folder / "a.acre"), "--", *arguments]
    elif way == WITHOUT_FREE_STACKS:
        arguments = [command, "record", "-q", "--no-free-stacks", "-o", str(folder / "b.acre"), "--", *arguments]
    elif way == "heaptrack":
        arguments = ["heaptrack", "-o", str(folder / "heaptrack.out"), *arguments]
    return run(arguments, folder, environment)


def events_in(trace, command):
    shown = subprocess.run([command, "info", "--json", trace], check=True, capture_output=True)
    return json.loads(shown.stdout)["events"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--json", help="also writes the figures to this file")
    parser.add_argument("programs", nargs="*", default=list(NAMES), help=f"of {', '.join(NAMES)} (default: all)")
    options = parser.parse_args()
    command = os.path.join(os.path.abspath(options.build), "bin", "acre")
    ways = [way for way in WAYS if way != "heaptrack" or shutil.which("heaptrack")]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        every = arguments_of(folder, options.programs)
        cpu = {(program, way): [] for program in every for way in ways}
        wall = {(program, way): [] for program in every for way in ways}
        events = {}
        for _ in range(options.rounds):
            for program, arguments in every.items():
                for way in ways:
                    took = recorded(command, arguments, folder, way)
                    cpu[program, way].append(took[0])
                    wall[program, way].append(took[1])
                    if way == "acre" and program not in events:
                        events[program] = events_in(folder / "a.acre", command)
        rows = {}
        for program in every:
            rows[program] = {"events": events[program]}
            for way in ways:
                rows[program][way] = {"cpu": statistics.median(cpu[program, way]),
                                      "wall": statistics.median(wall[program, way])}
    show(rows, ways)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


def show(rows, ways):
    others = [way for way in ways if way != "plain"]
    print("| program | events | alone: CPU, wall | " + " | ".join(f"{way}: CPU, wall" for way in others) +
          " | acre / heaptrack, CPU | without stacks of frees |")
    print("|---|---|---|" + "---|" * len(others) + "---|---|")
    for program, row in rows.items():
        cells = [f"{row['plain']['cpu']:.2f} s, {row['plain']['wall']:.2f} s"]
        cells += [f"{row[way]['cpu']:.2f} s, {row[way]['wall']:.2f} s" for way in others]
        ratios = [f"{row[way]['cpu'] / row['heaptrack']['cpu']:.2f}" if "heaptrack" in ways else ""
                  for way in ("acre", WITHOUT_FREE_STACKS)]
        print(f"| {program} | {row['events'] / 1e6:.2f} M | " + " | ".join(cells + ratios) + " |")


if __name__ == "__main__":
    main()

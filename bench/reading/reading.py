#!/usr/bin/env python3
"""What it takes to read a recording: CPU time, wall time and peak memory of `acre info`, `advise` and `report`.

Real programs (bench/whole) are recorded, some of them also on an input four times as large. Each round runs every
command over every trace, one after the other. The table has the medians for a million events; for the wall time also
the smallest, since the median is that of a machine with whatever else runs on it. Peak memory is that of the largest
process, and at least that of this script, from which it was started.

With --beside an older build takes part in the same rounds.

Usage: reading.py [--build DIR] [--beside DIR] [--rounds N] [--folder DIR] [--json FILE] [TRACE...]
    --folder DIR   keeps the recordings there, and takes those that are there already
    TRACE          of the names in the table
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "whole"))
import programs  # noqa: E402

NAMES = ("jq", "xmllint", "lua", "gawk", "python3-malloc")
LARGE = ("jq-4", "xmllint-4")
COMMANDS = {"info": ["info"], "advise": ["advise"], "advise --no-measure": ["advise", "--no-measure"],
            "report": ["report", "-o", "PAGE"], "report --no-measure": ["report", "--no-measure", "-o", "PAGE"]}


def large_inputs(folder):
    """The inputs of jq and xmllint, four times one after the other."""
    rows, xml = folder / "rows-4.json", folder / "rows-4.xml"
    if not rows.exists():
        rows.write_text(json.dumps(4 * json.loads((folder / "rows.json").read_text())))
    if not xml.exists():
        text = (folder / "rows.xml").read_text()
        xml.write_text("<rows>" + 4 * text.removeprefix("<rows>").removesuffix("</rows>") + "</rows>")
    return {"jq": rows, "xmllint": xml}


def commands_of(folder):
    """Name of a trace -> what is recorded."""
    known = {each.name: [str(word) for word in each.command] for each in programs.all_programs(folder)}
    for name, file in large_inputs(folder).items():
        known[f"{name}-4"] = [*known[name][:-1], str(file)]
    return known


def record(acre, command, trace):
    environment = dict(os.environ)
    if command[0] == "env":
        environment.update([command[1].split("=", 1)])
        command = command[2:]
    subprocess.run([acre, "record", "-q", "-o", trace, "--", *command], check=True, env=environment,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def measured(acre, words, trace, page):
    """Seconds of CPU time and of wall time, with all processes that it waits for, and the peak memory in MB."""
    words = [str(page) if word == "PAGE" else word for word in words]
    begin = time.monotonic()
    with open(os.devnull, "r+b") as nothing:
        process = subprocess.Popen([acre, "-q", *words, trace], stdin=nothing, stdout=nothing, stderr=nothing)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"{words} of {trace} failed with status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss / 1024


def show(rows):
    print("| trace | events | command | build | CPU, s a million | wall, s a million | smallest | peak, MB |")
    print("|---|--:|---|---|--:|--:|--:|--:|")
    for row in rows:
        million = row["events"] / 1e6
        cpu, wall = (statistics.median(row[each]) / million for each in ("cpu", "wall"))
        print(f"| {row['trace']} | {million:.2f} M | {row['command']} | {row['build']} | {cpu:.2f} | {wall:.2f} "
              f"| {min(row['wall']) / million:.2f} | {max(row['peak']):.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("--beside", help="build directory of another version")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--folder", help="for inputs and recordings (default: a temporary one)")
    parser.add_argument("--json", help="also writes the figures to this file")
    parser.add_argument("traces", nargs="*", default=[*NAMES, *LARGE])
    options = parser.parse_args()
    builds = {"new": options.build, "beside": options.beside} if options.beside else {"new": options.build}
    builds = {name: str(pathlib.Path(folder).resolve() / "bin/acre") for name, folder in builds.items()}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.folder or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        known, rows = commands_of(folder), []
        for name in options.traces:
            trace = folder / f"{name}.acre"
            if not trace.exists():
                record(builds["new"], known[name], trace)
            shown = subprocess.run([builds["new"], "info", "--json", trace], check=True, capture_output=True)
            events = json.loads(shown.stdout)["events"]
            rows += [{"trace": name, "events": events, "command": command, "build": build,
                      "cpu": [], "wall": [], "peak": []}
                     for command in COMMANDS for build in builds]
        for _ in range(options.rounds):
            for row in rows:
                took = measured(builds[row["build"]], COMMANDS[row["command"]], folder / f"{row['trace']}.acre",
                                folder / "page.html")
                for key, value in zip(("cpu", "wall", "peak"), took):
                    row[key].append(value)
    show(rows)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

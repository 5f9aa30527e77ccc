#!/usr/bin/env python3
"""Whole programs under each malloc, in turns: CPU time, peak memory and page faults, as medians of ratios to the
program as it is.

Usage: bench/whole/run [--rounds N] [--only NAME,...] [--out FILE]
"""
import argparse
import datetime
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys

import programs

HERE = pathlib.Path(__file__).resolve().parent


def mallocs(own):
    """Name and library of each malloc that is installed: glibc's is the program as it is."""
    found = {"as it is": "-"}
    for name, pattern in (("mimalloc", "libmimalloc.so.2.0"), ("jemalloc", "libjemalloc.so.2"),
                          ("tcmalloc", "libtcmalloc_minimal.so.4"), ("snmalloc", "libsnmallocshim.so")):
        for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/local/lib"):
            if (pathlib.Path(folder) / pattern).exists():
                found[name] = str(pathlib.Path(folder) / pattern)
                break
    for library in own:
        name, _, path = library.rpartition("=")
        found[name or "acre"] = str(pathlib.Path(path).resolve())
    return found


class Runner:
    def __init__(self, folder):
        self.folder = folder
        self.launch = folder / "launch"
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-o", self.launch, HERE / "launch.c"], check=True)

    def once(self, program, library):
        """(CPU seconds, peak KiB, page faults, output's digest, exit status)"""
        result = self.folder / "result"
        with open(os.devnull, "rb") as nothing, open(self.folder / "output", "wb") as output:
            subprocess.run([self.launch, library, result, *program.command], stdin=nothing, stdout=output,
                           stderr=subprocess.DEVNULL, cwd=self.folder, check=True)
        user, system, peak, faults, status = map(int, result.read_text().split())
        same = hash((self.folder / "output").read_bytes()) if program.same_output else 0
        return (user + system) / 1e6, peak, faults, same, status


def measure(runner, program, libraries, rounds):
    """By malloc: medians of CPU seconds, of the ratio of each round to the program as it is, of KiB, of faults."""
    seen = {name: [] for name in libraries}
    expected = None
    order = list(libraries)
    for round_number in range(rounds + 1):
        random.shuffle(order)
        for name in order:
            took, peak, faults, output, status = runner.once(program, libraries[name])
            if name == "as it is" and expected is None:
                expected = (output, status)
            if round_number == 0:
                continue
            seen[name].append((took, peak, faults, (output, status)))
    for name, runs in seen.items():
        if any(run[3] != expected for run in runs):
            print(f"{program.name} under {name}: another output or status", file=sys.stderr)
    base = [run[0] for run in seen["as it is"]]
    return {name: {"seconds": statistics.median(run[0] for run in runs),
                   "ratio": statistics.median(run[0] for run in runs) / statistics.median(base),
                   "low": sorted(run[0] for run in runs)[len(runs) // 4] / sorted(base)[len(base) // 4],
                   "peak": statistics.median(run[1] for run in runs),
                   "faults": statistics.median(run[2] for run in runs)} for name, runs in seen.items()}


def geometric_mean(values):
    return math.exp(statistics.mean(math.log(value) for value in values))


def table(results, names, shapes):
    lines = ["| program | s | " + " | ".join(names[1:]) + " | " + " | ".join(f"{name}, KiB" for name in names[1:]) + " |"]
    lines.append("|" + "---|" * (2 * len(names)))
    for program, measured in results.items():
        base = measured["as it is"]
        cells = [program, f"{base['seconds']:.3f}"]
        cells += [f"{measured[name]['ratio']:.3f}" for name in names[1:]]
        cells += [f"{measured[name]['peak'] / base['peak']:.2f}" for name in names[1:]]
        lines.append("| " + " | ".join(cells) + " |")
    counted = [measured for program, measured in results.items() if program not in shapes] or list(results.values())
    means = [geometric_mean([measured[name]["ratio"] for measured in counted]) for name in names[1:]]
    peaks = [statistics.median(measured[name]["peak"] / measured["as it is"]["peak"] for measured in counted)
             for name in names[1:]]
    lines.append("| geometric mean; median of peaks | | " + " | ".join(f"**{mean:.3f}**" for mean in means) + " | " +
                 " | ".join(f"**{peak:.2f}**" for peak in peaks) + " |")
    return "\n".join(lines)


def introduction(rounds):
    processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    huge = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    huge_pages = huge.read_text().split("[")[1].split("]")[0] if huge.exists() else "none"
    return f"""# Whole programs, {datetime.date.today()}

Made by `bench/whole/run --rounds {rounds} --out FILE`. Programs of the system on inputs from a fixed seed, as they are
(glibc's malloc, or the program's own) and under each preloaded malloc, in turns in a random order; one round before is
not counted. The first columns are medians of user and system time, as ratios to the program as it is; then the medians
of peak resident memory, likewise. `short` is 20 times `ls`. The rows with a number behind the name are shapes of
allocation with so many threads (`shapes.cpp`), and not in the mean. {os.cpu_count()} x {processor}, Linux
{os.uname().release}, transparent huge pages: {huge_pages}.

"""


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=11)
    options.add_argument("--only", default="")
    options.add_argument("--mallocs", default="")
    options.add_argument("--out")
    options.add_argument("--folder", default="build-whole")
    options.add_argument("library", nargs="*")
    chosen = options.parse_args()
    folder = pathlib.Path(chosen.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    libraries = mallocs(chosen.library)
    if chosen.mallocs:
        wanted = chosen.mallocs.split(",")
        libraries = {name: path for name, path in libraries.items() if name in wanted or path in wanted or name == "as it is"}
    runner = Runner(folder)
    results, shapes = {}, set()
    for program in programs.all_programs(folder):
        if chosen.only and program.name not in chosen.only.split(","):
            continue
        if shutil.which(program.command[0]) is None:
            print(f"left out, not installed: {program.name}", file=sys.stderr)
            continue
        if program.kind == "shape":
            shapes.add(program.name)
        results[program.name] = measure(runner, program, libraries, chosen.rounds)
        line = "  ".join(f"{name} {each['ratio']:.3f} low {each['low']:.3f} {each['peak'] / results[program.name]['as it is']['peak']:.2f}"
                         f" f{each['faults']:.0f}" for name, each in results[program.name].items())
        print(f"{program.name:12} {results[program.name]['as it is']['seconds']:.3f}s {line}", file=sys.stderr)
    text = introduction(chosen.rounds) + table(results, list(libraries), shapes)
    print(text)
    if chosen.out:
        pathlib.Path(chosen.out).write_text(text + "\n")


if __name__ == "__main__":
    main()

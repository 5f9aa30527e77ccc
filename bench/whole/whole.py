#!/usr/bin/env python3
"""Whole programs under each malloc, by `acre try`: CPU time and peak memory as ratios to the program as it is.

Usage: bench/whole/run [--budget TIME] [--only NAME,...] [--with NAME,...] [--policy NAME] [--measure TIME]
                       [--keep MIB] [--out FILE]
    --budget TIME    for each program, as `acre try` takes it (60s)
    --with NAMES     mallocs or paths of libraries; without it all that are installed
    --policy NAME    also acre with a plan by this policy of `acre plan`, from a recording of the program
    --measure TIME   of that plan only the groups that save CPU time, by `acre plan --measure` with this budget
    --keep MIB       how much free memory a process beside the programs keeps backed by the host of a virtual machine
                     (800; 0: none): see keeper.cpp
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import programs


class Tried:
    """The figures of one program."""

    def __init__(self, result):
        self.rounds = result["rounds"]
        self.seconds = result["ways"][0]["cpu_seconds"]["median"]
        base = result["ways"][0]["peak_bytes"]["median"]
        self.ratio, self.peak = {}, {}
        for way in result["ways"][1:]:
            name = pathlib.Path(way["name"]).stem
            self.ratio[name] = None if way["failed"] else way["cpu_ratio"]["median"]
            self.peak[name] = None if way["failed"] else way["peak_bytes"]["median"] / base
            if way["failed"]:
                print(f"  {name}: it {way['why']}", file=sys.stderr)


def without_env(command):
    """The program that `env VARIABLE=VALUE program` starts, for which a plan is, and its environment."""
    words = [str(word) for word in command]
    if words[0] != "env":
        return words, None
    return words[2:], {**os.environ, **dict([words[1].split("=", 1)])}


def plan_for(acre, program, options, folder):
    command, environment = without_env(program.command)
    trace, plan = folder / f"{program.name}.acre", folder / f"{program.name}.{options.policy}.plan"
    if not trace.exists():
        subprocess.run([acre, "-q", "record", "-o", trace, "--", *command], cwd=folder, env=environment,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    measure = ["--measure", "--budget", options.measure] if options.measure else []
    subprocess.run([acre, "-q", "plan", trace, "--policy", options.policy, *measure, "-o", plan], cwd=folder,
                   env=environment, stdout=sys.stderr, check=True)
    return plan


def tried(acre, program, options, folder):
    command = [acre, "-q", "try", "--json", "--budget", options.budget]
    if options.mallocs:
        command += ["--with", options.mallocs]
    if options.policy:
        command += ["--plan", plan_for(acre, program, options, folder)]
    started, environment = without_env(program.command)
    result = subprocess.run([*command, "--", *started], cwd=folder, env=environment, stdout=subprocess.PIPE, check=True)
    return Tried(json.loads(result.stdout))


class Keeper:
    """keeper.cpp beside the programs, from its second touch of all its memory on."""

    def __init__(self, mebibytes, folder):
        self.said, self.process = "No process kept memory backed by the host.", None
        if mebibytes == 0:
            return
        program = folder / "keeper"
        source = pathlib.Path(__file__).resolve().parent / "keeper.cpp"
        subprocess.run(["g++", "-O2", "-std=c++20", source, "-o", program, "-lpthread"], check=True)
        self.process = subprocess.Popen([program, str(mebibytes)], stdout=subprocess.PIPE, text=True)
        first, second = self.process.stdout.readline().split()
        self.said = (f"A process beside the programs kept {mebibytes} MiB of free memory backed by the machine's host: "
                     f"the first touches took {first} s a GiB, the next ones {second}.")

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()


def cell(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def geometric_mean(values):
    return math.exp(statistics.mean(math.log(value) for value in values)) if values else float("nan")


def table(results, shapes):
    names = list(dict.fromkeys(name for each in results.values() for name in each.ratio))
    columns = ["program", "s", "rounds", *names, *(f"{name}, memory" for name in names)]
    lines = ["| " + " | ".join(columns) + " |",
             "|" + "---|" * (3 + 2 * len(names))]
    for program, each in results.items():
        cells = [program, f"{each.seconds:.3f}", str(each.rounds)]
        cells += [cell(each.ratio.get(name), 3) for name in names] + [cell(each.peak.get(name), 2) for name in names]
        lines.append("| " + " | ".join(cells) + " |")
    counted = [each for program, each in results.items() if program not in shapes] or list(results.values())

    def all_of(figure, name):
        return [getattr(each, figure)[name] for each in counted if getattr(each, figure).get(name) is not None]

    means = [f"**{geometric_mean(all_of('ratio', name)):.3f}**" for name in names]
    peaks = [f"**{statistics.median(all_of('peak', name) or [math.nan]):.2f}**" for name in names]
    lines.append("| geometric mean; median of peaks | | | " + " | ".join(means + peaks) + " |")
    return "\n".join(lines)


def introduction(budget, kept):
    processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                     "?")
    huge = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    huge_pages = huge.read_text().split("[")[1].split("]")[0] if huge.exists() else "none"
    return f"""# Whole programs, {datetime.date.today()}

Made by `bench/whole/run --budget {budget}`: `acre try` of programs of the system, on inputs from a fixed seed, as they are
(glibc's malloc, or the program's own) and under each preloaded malloc, in turns. First the medians of user and system
time, as ratios to the program as it is, without what a round costs all; then those of peak resident memory. `short` is 20
times `ls`. The rows with a number behind the name are shapes of allocation with so many threads (`shapes.cpp`), and not
in the mean. {os.cpu_count()} x {processor}, Linux {os.uname().release}, transparent huge pages: {huge_pages}.
{kept}

"""


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--budget", default="60s")
    options.add_argument("--only", default="")
    options.add_argument("--with", dest="mallocs", default="")
    options.add_argument("--policy", default="")
    options.add_argument("--measure", default="")
    options.add_argument("--keep", type=int, default=800)
    options.add_argument("--out")
    options.add_argument("--folder", default="build-whole")
    options.add_argument("acre", type=pathlib.Path)
    chosen = options.parse_args()
    folder = pathlib.Path(chosen.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    results, shapes = {}, set()
    keeper = Keeper(chosen.keep, folder)
    for program in programs.all_programs(folder):
        if chosen.only and program.name not in chosen.only.split(","):
            continue
        if shutil.which(program.command[0]) is None:
            print(f"left out, not installed: {program.name}", file=sys.stderr)
            continue
        if program.kind == "shape":
            shapes.add(program.name)
        each = results[program.name] = tried(chosen.acre.resolve(), program, chosen, folder)
        figures = "  ".join(f"{name} {cell(each.ratio[name], 3)} {cell(each.peak[name], 2)}" for name in each.ratio)
        print(f"{program.name:14} {each.seconds:.3f}s {figures}", file=sys.stderr)
    keeper.end()
    text = introduction(chosen.budget, keeper.said) + table(results, shapes)
    print(text)
    if chosen.out:
        pathlib.Path(chosen.out).write_text(text + "\n")


if __name__ == "__main__":
    main()

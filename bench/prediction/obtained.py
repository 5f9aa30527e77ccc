#!/usr/bin/env python3
"""Compares what `acre advise` says of real programs with what is obtained when it is followed.

Each program of bench/whole is recorded and advised, from the trace alone and with --run. Then `acre try` runs it with
each malloc and with each group of the advice alone: that is what is obtained. Nothing of a program is changed, so what
is followed is to preload a malloc, and a plan. Groups run without huge pages and are compared with a plan for no site,
on both sides: what a change of the code would bring. A process beside them keeps memory backed, as in bench/whole. All
answers are kept as JSON in a folder, from which the table is made.

Usage: obtained.py [--acre FILE] [--folder DIR] [--run SECONDS] [--mallocs TIME] [--groups TIME] [--only NAME,...]
                   [--again] [--out FILE]
    --run SECONDS    for `acre advise --run` (20)
    --mallocs TIME   for `acre try` with the mallocs (60s): what is obtained must be known better than what is said, for
                     two measurements of the same quantity, each as uncertain as the other, lie within each other's 95 %
                     interval only in 83 of 100 cases
    --groups TIME    for `acre try --sites` (30s)
    --again          measures also what is kept in the folder
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "whole"))
import programs  # noqa: E402
import whole  # noqa: E402

# Programs whose rows set the bounds of replayed savings; all others test them.
FITTED = {"python3-malloc", "perl", "gawk", "jq", "xsltproc", "tclsh", "sqlite3", "dot", "git", "clang-format",
          "larson-4", "mixed-1"}
LEFT_OUT = {"short", "g++"}  # they only start other programs


def without_huge_pages():
    """The process and those that it starts get no transparent huge pages."""
    PR_SET_THP_DISABLE = 41
    if ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0:
        raise OSError("the system cannot switch transparent huge pages off")


def measured(acre, program, options, folder):
    """What advise says of a program, without and with runs, and what try obtains."""
    kept = folder / f"{program.name}.json"
    if kept.exists() and not options.again:
        return json.loads(kept.read_text())
    command, environment = [str(word) for word in program.command], dict(os.environ)
    if command[0] == "env":
        environment.update([command[1].split("=", 1)])
        command = command[2:]
    trace, plan = folder / f"{program.name}.acre", folder / f"{program.name}.plan"

    def run(*arguments, huge_pages=True):
        done = subprocess.run([acre, "-q", *map(str, arguments)], cwd=folder.parent, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              preexec_fn=None if huge_pages else without_huge_pages)
        if done.returncode != 0:
            raise RuntimeError(f"acre {arguments[0]} of {program.name}: {done.stderr.strip()}")
        return done.stdout

    run("record", "-o", trace, "--", *command)
    result = {"events": json.loads(run("info", "--json", trace))["events"],
              "replayed": json.loads(run("advise", "--json", trace)),
              "run": json.loads(run("advise", "--json", "--run", options.run, trace)),
              "mallocs": json.loads(run("try", "--json", "--width", ".5", "--budget", options.mallocs, "--", *command)),
              "groups": {"groups": []}}
    try:
        run("plan", trace, "--left-to", "below", "-o", plan)
        result["groups"] = json.loads(run("try", "--json", "--sites", "--budget", options.groups, "--plan", plan, "--",
                                          *command, huge_pages=False))
    except RuntimeError as error:
        print(error, file=sys.stderr)
    kept.write_text(json.dumps(result))
    return result


def shares(nanoseconds, cpu):
    return {end: nanoseconds[end] / cpu for end in ("low", "median", "high")} if cpu else None


def saved(ratio):
    return {"low": 1 - ratio["high"], "median": 1 - ratio["median"], "high": 1 - ratio["low"]}


def saved_by_code(group, result):
    """What the group's plan says of a change of the code, as tools/acre/try/advised_runs.cpp: its requests are not
    passed on to the malloc below, which costs time that the program itself never takes. predict.py --run checks that with
    changed code."""
    spared_by_plan = 0.6
    library = [way for way in result["groups"]["ways"] if way["name"] == group["compared_with"]]
    passing = max(library[0]["cpu_ratio"]["median"] - 1, 0) if library and library[0]["name"] != "as it is" else 0
    spared = passing * group["allocations"] / result["run"]["allocations"]
    return {end: min((1 + passing) * share - spared_by_plan * spared, 1 - (1 + passing) * (1 - share) / 2)
            for end, share in saved(group["cpu_ratio"]).items()}


def is_followed(advice):
    """Whether `acre try --sites` runs what the advice ran: not acre's general heap, with its huge pages."""
    return advice.get("in_runs") and advice["in_runs"]["policy"] != "heap"


def judged(replayed):
    """The share of the CPU time that a replay of mallocs is about, as in tools/acre/advise/advice.hpp."""
    return replayed["malloc_ns"] / replayed["cpu_ns"] + 0.1 if replayed["cpu_ns"] else math.nan


def pairs(result):
    """Rows: kind, name, predicted by replay, predicted by runs, obtained: each as shares of the program's CPU time; and
    how far the obtained median is from the replayed one, relative to what the replay is about."""
    replayed, run = result["replayed"], result["run"]
    of_replay = {each["name"]: each for each in replayed["preloads"]}
    of_runs = {each["name"]: each for each in run["preloads"]}
    for way in result["mallocs"]["ways"][1:]:
        if way["failed"] or way["name"] not in of_replay:
            continue
        expected = of_replay[way["name"]].get("expected_nanoseconds") or of_replay[way["name"]]["nanoseconds"]
        yield ("malloc", way["name"], shares(expected, replayed["cpu_ns"]),
               shares(of_runs[way["name"]]["nanoseconds"], run["cpu_ns"]) if way["name"] in of_runs else None,
               saved(way["cpu_ratio"]),
               (saved(way["cpu_ratio"])["median"] -
                of_replay[way["name"]]["nanoseconds"]["median"] / (replayed["cpu_ns"] or 1)) / judged(replayed))
    for group in result["groups"]["groups"]:
        number = int(group["group"].split()[0]) - 1 if group["group"].split()[0].isdigit() else None
        if group["failed"] or number is None or number >= len(replayed["advices"]):
            continue
        advice, again = replayed["advices"][number], run["advices"][number]
        if not advice["saving"] or not replayed["cpu_ns"]:
            continue
        yield ("group", f"{group['policy']}: {advice['subject']}",
               shares(advice["saving"]["expected_nanoseconds"], replayed["cpu_ns"]),
               shares(again["in_runs"]["nanoseconds"], run["cpu_ns"]) if is_followed(again) else None,
               saved_by_code(group, result), math.nan)


def text(interval):
    return "-" if interval is None else f"{100 * interval['low']:.1f} .. {100 * interval['high']:.1f}"


def holds(predicted, obtained):
    """Whether the obtained median is inside the predicted interval, or not told apart from it."""
    return predicted["low"] <= obtained["high"] and obtained["low"] <= predicted["high"]


def width(predicted):
    """High by low; nothing where the interval contains that nothing is saved."""
    return predicted["high"] / predicted["low"] if predicted["low"] > 0 else None


def cost_width(predicted):
    """The longest by the shortest time that is left."""
    return (1 - predicted["low"]) / (1 - predicted["high"]) if predicted["high"] < 1 else math.inf


def summary(rows, column, worth=0.02):
    """Of the predictions of one kind: how many hold, and the median width where something is to be had."""
    known = [row for row in rows if row[column]]
    inside = sum(holds(row[column], row[4]) for row in known)
    strict = sum(row[column]["low"] <= row[4]["median"] <= row[column]["high"] for row in known)
    widths = [width(row[column]) or math.inf for row in known if row[4]["median"] >= worth]
    middle = statistics.median(widths) if widths else math.nan
    cost = statistics.median([cost_width(row[column]) for row in known]) if known else math.nan
    return (f"{strict} of {len(known)} medians inside, {inside} overlap; median width {middle:.2f} of {len(widths)} "
            f"that obtained {100 * worth:.0f} %, and of the time that is left {cost:.2f}")


def narrowest(values, share=0.9):
    """The narrowest interval that holds this share of the values."""
    values = sorted(values)
    count = math.ceil(share * len(values))
    ranges = zip(values, values[count - 1:])
    return min(ranges, key=lambda ends: ends[1] - ends[0])


def left_as_it_is(results):
    """Of the programs for which `advise --run` has no step that is worth it: what the best malloc or group obtained."""
    for name, result in results.items():
        if result["run"]["first"] is None or result["run"]["first"]:
            continue
        tried = [*result["mallocs"]["ways"][1:], *result["groups"]["groups"]]
        best = max((each for each in tried if not each["failed"]), key=lambda each: saved(each["cpu_ratio"])["median"])
        yield (f"- {name} is left as it is: the best way, {best.get('group') or best['name']}, obtained "
               f"{100 * saved(best['cpu_ratio'])['median']:.1f} % ({text(saved(best['cpu_ratio']))})")


def report(results):
    lines = ["| program | what | replay, % | runs, % | obtained, % |", "|---|---|--:|--:|--:|"]
    rows = []
    for name, result in results.items():
        for row in pairs(result):
            rows.append((*row, name))
            lines.append(f"| {name} | {row[1]} | {text(row[2])} | {text(row[3])} | {100 * row[4]['median']:.1f} "
                         f"({text(row[4])}) |")
    lines.append("")
    for kind in ("malloc", "group"):
        for title, fitted in (("fitted", True), ("held back", False)):
            chosen = [row for row in rows if row[0] == kind and (row[6] in FITTED) == fitted]
            lines.append(f"- {kind}, {title}: replay: {summary(chosen, 2)}")
        chosen = [row for row in rows if row[0] == kind]
        lines.append(f"- {kind}: runs: {summary(chosen, 3)}; at 5 %: {summary(chosen, 3, .05)}")
    off_by = [row[5] for row in rows if row[0] == "malloc" and row[6] in FITTED and not math.isnan(row[5])]
    if off_by:
        low, high = narrowest(off_by)
        lines.append(f"- malloc, fitted: nine in ten obtained {-low:.2f} less to {high:.2f} more than the replay says, "
                     "relative to malloc's time in it and a tenth of the CPU time")
    beyond = {}
    for row in rows:
        if row[0] == "malloc" and row[3]:
            rounds = results[row[6]]["run"]["runs"]["rounds"]
            off = max(row[3]["low"] - row[4]["median"], row[4]["median"] - row[3]["high"], 0)
            beyond.setdefault("3 to 5" if 3 <= rounds <= 5 else "6 and more" if rounds > 5 else rounds, []).append(off)
    for rounds, off in beyond.items():
        most = sorted(off)[int(.9 * len(off))]
        lines.append(f"- malloc: {rounds} rounds: nine in ten obtained medians at most {most:.3f} "
                     f"beyond the interval of runs, of {len(off)}")
    lines.extend(left_as_it_is(results))
    named = {"replayed": [0, 0, 0], "run": [0, 0, 0]}
    for name, result in results.items():
        obtained = {way["name"]: saved(way["cpu_ratio"]) for way in result["mallocs"]["ways"][1:] if not way["failed"]}
        best = max(obtained, key=lambda each: obtained[each]["median"])
        for kind, count in named.items():
            known = [each for each in result[kind]["preloads"] if each["name"] in obtained]
            if not known:
                continue
            said = max(known, key=lambda each: each["nanoseconds"]["median"])["name"]
            count[2] += 1
            count[0] += said == best
            count[1] += said == best or holds(obtained[said], obtained[best])
    for kind, (exact, tied, all_of) in named.items():
        lines.append(f"- best malloc named, {kind}: {exact} of {all_of}; {tied} with those not told apart from the "
                     f"best")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--acre", default="build/bin/acre")
    parser.add_argument("--folder", default="build-whole/obtained")
    parser.add_argument("--run", default="20")
    parser.add_argument("--mallocs", default="60s")
    parser.add_argument("--groups", default="30s")
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    acre, results = str(pathlib.Path(options.acre).resolve()), {}
    keeper = whole.Keeper(800, folder.parent)
    for program in programs.all_programs(folder.parent):
        wanted = not options.only or program.name in options.only.split(",")
        if not wanted or program.name in LEFT_OUT or not shutil.which(program.command[0]):
            continue
        try:
            results[program.name] = measured(acre, program, options, folder)
            print(f"{program.name} is measured", file=sys.stderr)
        except RuntimeError as error:
            print(error, file=sys.stderr)
    keeper.end()
    made = report(results)
    print(made)
    if options.out:
        pathlib.Path(options.out).write_text(made + "\n")


if __name__ == "__main__":
    main()

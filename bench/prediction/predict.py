#!/usr/bin/env python3
"""Compares the saving that `acre advise` predicts with the saving obtained by programs that followed the advice.

Each program has two builds, before and after. The first is recorded and advised once: from a replay, or by --run
SECONDS from runs with a plan. Then both run alternately; the obtained saving is the difference of their CPU times in a
round.

Usage: predict.py [--binaries DIR]... [--rounds N] [--run SECONDS] [PROGRAM...]

Programs: storm, parser and orcs, which were changed by hand, and those of pasted/, which got the code of their advices
as it is. They are built by `make` and `scripts/bench`.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

PROGRAMS = {
    "storm": ["prediction_storm_plain", "prediction_storm_acre"],
    "parser": ["prediction_parser_plain", "prediction_parser_acre"],
    "orcs": ["orcs_vs_elves", "orcs_vs_elves_acre", "--frames", "200"],
    **{
        each: [f"pasted_{each}_plain", f"pasted_{each}_followed"]
        for each in ("index", "sessions", "cache", "shapes", "people", "tokens")
    },
}


def run(command):
    """CPU seconds and output of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime), done.stdout


def median_interval(samples):
    """Returns low, median and high: low and high are the median's 95 % confidence interval by order statistics."""
    ordered = sorted(samples)
    reach = 0.98 * len(ordered) ** 0.5
    middle = (len(ordered) - 1) / 2
    low = max(0, int(middle - reach))
    return ordered[low], statistics.median(ordered), ordered[len(ordered) - 1 - low]


def predict(acre, plain, folder, run_seconds):
    """Returns the predicted saving of all advices in seconds: low, high, and the median: on a clean heap, or by
    --run in runs where these say what it saves, else what is expected of it by a replay."""
    trace = os.path.join(folder, "before.acre")
    subprocess.run([acre, "-q", "record", "-o", trace, "--", *plain], check=True, stdout=subprocess.DEVNULL)
    how = ["--run", str(run_seconds)] if run_seconds else []
    text = subprocess.run([acre, "-q", "advise", "--json", *how, trace], check=True, capture_output=True,
                          text=True).stdout
    if run_seconds:
        said = [each["in_runs"]["nanoseconds"] if each["in_runs"] and each["in_runs"]["decides"]
                else each["saving"]["expected_nanoseconds"]
                for each in json.loads(text)["advices"]
                if each["verdict"] != "leave" and (each["in_runs"] or each["saving"])]
        return [sum(each[end] for each in said) / 1e9 for end in ("low", "high", "median")]
    savings = [each["saving"] for each in json.loads(text)["advices"] if each["verdict"] != "leave" and each["saving"]]
    wanted = (("expected_nanoseconds", "low"), ("expected_nanoseconds", "high"), ("nanoseconds", "median"))
    return [sum(each[heap][end] for each in savings) / 1e9 for heap, end in wanted]


def obtain(plain, with_acre, rounds):
    """Returns the interval of the seconds saved in a round, and the median seconds before."""
    before, saved = [], []
    for _ in range(rounds):
        (plain_seconds, plain_output), (acre_seconds, acre_output) = run(plain), run(with_acre)
        if plain_output != acre_output:
            sys.exit(f"predict: {plain[0]} and {with_acre[0]} print different things")
        before.append(plain_seconds)
        saved.append(plain_seconds - acre_seconds)
    return median_interval(saved), statistics.median(before)


def find(program, folders):
    for folder in folders:
        path = os.path.join(folder, program)
        if os.path.exists(path):
            return path
    sys.exit(f"predict: {program} is in none of {', '.join(folders)}: build it with 'make' and 'scripts/bench'")


def row(name, folders, rounds, run_seconds):
    plain_name, acre_name, *arguments = PROGRAMS[name]
    plain, with_acre = ([find(each, folders), *arguments] for each in (plain_name, acre_name))
    with tempfile.TemporaryDirectory() as folder:
        low, high, clean = predict(find("acre", folders), plain, folder, run_seconds)
    (least, median, most), before = obtain(plain, with_acre, rounds)
    within = "yes" if low <= median <= high else "no"
    return (f"| {name} | {before * 1e3:.0f} | {low * 1e3:.1f} .. {high * 1e3:.1f} | "
            f"{median * 1e3:.1f} ({least * 1e3:.1f} .. {most * 1e3:.1f}) | {median / before:.0%} | {within} | "
            f"{clean * 1e3:.1f} | {median / clean if clean else float('nan'):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="*", help="storm, index, ...; default: all")
    parser.add_argument("--binaries", action="append",
                        help="where the programs are; default: build-bench/bin, build/bin")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--run", type=float, help="seconds for 'acre advise --run'; without it what a replay says")
    options = parser.parse_args()
    print("| program | CPU before, ms | predicted saving, ms | obtained, ms (95 % interval) | of the CPU time | "
          f"within | {'median said' if options.run else 'replayed on a clean heap'}, ms | obtained to that |")
    print("|---|--:|--:|--:|--:|---|--:|--:|")
    for name in options.programs or PROGRAMS:
        if name not in PROGRAMS:
            parser.error(f"there is no program '{name}': {', '.join(PROGRAMS)}")
        print(row(name, options.binaries or ["build-bench/bin", "build/bin"], options.rounds, options.run), flush=True)


if __name__ == "__main__":
    main()

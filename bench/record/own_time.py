#!/usr/bin/env python3
"""Compares the recording time that a trace states with the measured cost of recording.

Each round runs every program plain and recorded. The output has the program's user + system time in milliseconds, each
the minimum over the rounds: plain, recorded, and recorded minus the recording time that the trace states. Last comes
the ratio of the latter to plain. Usage: own_time.py [--build DIR] [--rounds N] [PROGRAM...]; programs: storm (where
scripts/bench has built it), and those of overhead.py.
"""

import argparse
import json
import os
import subprocess
import tempfile

from overhead import HERE, programs, run

STORM = os.path.join(HERE, "..", "..", "build-bench", "bin", "prediction_storm_plain")


def record(command, arguments, text, environment, trace):
    """Milliseconds of CPU time of a recorded run, and of its recording."""
    subprocess.run([command, "-q", "record", "-o", trace, "--", *arguments], input=text, text=True, check=True,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, **environment))
    shown = subprocess.run([command, "info", "--json", trace], check=True, capture_output=True)
    figures = json.loads(shown.stdout)
    return figures["cpu_us"] / 1e3, figures["recording_us"] / 1e3


def row(name, program, command, folder, rounds):
    plain, recorded, left = [], [], []
    for _ in range(rounds):
        plain.append(run(*program, folder) * 1e3)
        everything, recording = record(command, *program, os.path.join(folder, "own.acre"))
        recorded.append(everything)
        left.append(everything - recording)
    return f"| {name} | {min(plain):.1f} | {min(recorded):.1f} | {min(left):.1f} | {min(left) / min(plain):.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("programs", nargs="*",
                        default=["storm", "sqlite3", "jq", "python3", "threads", "storm-1", "storm-2"])
    options = parser.parse_args()
    command = os.path.join(os.path.abspath(options.build), "bin", "acre")
    print("| program | plain, ms | recorded, ms | without the recording, as the trace says, ms | ratio to plain |")
    print("|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="acre-own-time-") as folder:
        found = programs(folder, [name for name in options.programs if name != "storm"])
        if "storm" in options.programs and os.path.exists(STORM):
            found = {"storm": ([STORM], "", {}), **found}
        for name, program in found.items():
            print(row(name, program, command, folder, options.rounds), flush=True)


if __name__ == "__main__":
    main()

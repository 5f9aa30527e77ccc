#!/usr/bin/env python3
"""What a short program pays for a preloaded library: `ls /etc` as it is, with an empty library, and with others.

Usage: bench/whole/short.py LIBRARY... [--rounds N]

In turns; the mean CPU time without the twentieth of rounds that took least and the tenth that took most, as a ratio to
the program as it is, and its page faults.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile


def run(library):
    """CPU seconds and page faults of one run."""
    environment = dict(os.environ)
    if library:
        environment["LD_PRELOAD"] = library
    to_nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn("/bin/ls", ["ls", "/etc"], environment, file_actions=to_nowhere)
    _, status, used = os.wait4(child, 0)
    if status != 0:
        raise SystemExit(f"ls failed with {library}")
    return used.ru_utime + used.ru_stime, used.ru_minflt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+", metavar="LIBRARY")
    parser.add_argument("--rounds", type=int, default=600)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "empty.c")
        source.write_text("int nothing;\n")
        empty = str(source.with_suffix(".so"))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", empty, source], check=True)
        ways = {"as it is": None, "empty library": empty}
        ways.update({pathlib.Path(each).name: str(pathlib.Path(each).resolve()) for each in arguments.libraries})
        seconds = {name: [] for name in ways}
        faults = {}
        for _ in range(arguments.rounds):
            for name, library in ways.items():
                cpu, faults[name] = run(library)
                seconds[name].append(cpu)
    dropped = arguments.rounds // 20
    means = {name: statistics.mean(sorted(all_of)[dropped : -2 * dropped or None]) for name, all_of in seconds.items()}
    for name, mean in means.items():
        print(f"{name:24} {mean * 1e6:6.0f} us  {mean / means['as it is']:.3f}  {faults[name]} page faults")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares the resident memory that `acre advise` predicts, with what few objects pin separated, with that obtained.

pinned.cpp has the programs. Each is recorded and advised once, then runs as it is and with the advice followed by hand.
Usage: pinned.py [--build DIR] [--cxx COMPILER] [PROGRAM...]
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

PROGRAMS = ("nodes_between_buffers", "sessions", "interned_names", "index_of_texts", "long_lived_first")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def compiled(cxx, folder, name, *options):
    path = folder / name
    subprocess.run([cxx, "-std=c++20", "-O2", "-g", "-DNDEBUG", "-I", ROOT / "include", *options,
                    ROOT / "bench/prediction/pinned.cpp", "-o", path], check=True)
    return path


def obtained(program, name):
    """Bytes at most and at the end."""
    found = json.loads(subprocess.run([program, name], check=True, capture_output=True).stdout)
    return found["most"], found["end"]


def predicted(acre, program, name, folder):
    trace = folder / "trace.acre"
    subprocess.run([acre, "-q", "record", "-o", trace, "--", program, name], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run([acre, "-q", "advise", "--json", trace], check=True, capture_output=True).stdout
    return json.loads(text)["pinned"]


def name_of(function):
    return function.replace("(anonymous namespace)::", "").split("(")[0]


def mib(value):
    return f"{value / 2**20:.2f}"


def cell(said, got):
    return f"{mib(said)} | {mib(got)} | {100 * (said / got - 1):+.1f} %" if got else f"{mib(said)} | {mib(got)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"))
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    options = parser.parse_args()
    acre = os.path.join(os.path.abspath(options.build), "bin", "acre")
    print("| program | moment | | said, MiB | obtained, MiB | said / obtained |")
    print("|---|---|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain = compiled(options.cxx, folder, "plain")
        for program in options.programs:
            said = predicted(acre, plain, program, folder)
            most, end = obtained(plain, program)
            print(f"| {program} | at most | as it is | {cell(said['max_resident_bytes'], most)} |")
            print(f"| | at the end | as it is | {cell(said['end']['resident_bytes'], end)} |")
            separated = said["separated"]
            if separated is None or not separated["worth_it"]:
                print("| | | nothing worth separating | | | |")
                continue
            sites = ", ".join(sorted({name_of(each["function"]) for each in separated["sites"]}))
            kinds = {"make_node": 1, "make_name": 2, program: 4}
            parts = sum({kinds[name_of(each["function"])] for each in separated["sites"]})
            most, end = obtained(compiled(options.cxx, folder, "followed", f"-DSEPARATE={parts}"), program)
            print(f"| | at most | {sites} separated | {cell(separated['max_resident_bytes'], most)} |")
            print(f"| | at the end | {sites} separated | {cell(separated['end_resident_bytes'], end)} |")


if __name__ == "__main__":
    main()

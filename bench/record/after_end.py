#!/usr/bin/env python3
"""How long `acre record` takes after the end of a program with 10 million events, in seconds, for each of some runs.

Usage: after_end.py [--build DIR] [--runs N]
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void) {
    enum { blocks = 4096 };
    static void* block[blocks];
    unsigned random = 1;
    volatile double work = 0;
    for (long i = 0; i < 5000000; ++i) {
        random = random * 1664525u + 1013904223u;
        const unsigned which = (random >> 8) % blocks;
        free(block[which]);
        block[which] = malloc(16 + (random >> 20) % 200);
        for (int j = 0; j < 60; ++j) work += j;
    }
    for (int i = 0; i < blocks; ++i) free(block[i]);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
    return 0;
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("--runs", type=int, default=5, help="runs (default: 5)")
    options = parser.parse_args()
    command = os.path.join(os.path.abspath(options.build), "bin", "acre")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.c").write_text(PROGRAM, encoding="utf-8")
        subprocess.run(["cc", "-O1", "-fno-builtin", folder / "a.c", "-o", folder / "a"], check=True)
        for _ in range(options.runs):
            shown = subprocess.run([command, "record", "-q", "-o", folder / "a.acre", "--", folder / "a"], check=True,
                                   capture_output=True, text=True).stdout
            print(f"{time.monotonic() - float(shown):.3f}")


if __name__ == "__main__":
    main()

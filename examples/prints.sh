#!/bin/sh
# A program exits with 0 and prints what a file says.
# Usage: prints.sh EXPECTED_OUTPUT PROGRAM
set -u
expected=$1 program=$2

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

printed=$("$program") || fail "$program exits with $?"
printf '%s\n' "$printed" | diff "$expected" - || fail "$program does not print what $expected says"

#!/bin/sh
# Checks that a program exits with 0 and prints the contents of a file.
set -u
expected=$1 program=$2

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

printed=$("$program") || fail "$program exits with $?"
printf '%s\n' "$printed" | diff "$expected" - || fail "$program does not print what $expected says"

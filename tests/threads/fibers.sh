#!/usr/bin/env bash
# fibers.sh INCLUDE_DIRECTORY COMPILER LEVEL...: compiles fibers.cpp at each level, for a program and for a loaded
# library, and runs it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
include=$1
compiler=$2
shift 2
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
result=0

compile() { "$compiler" -std=c++20 -w -I"$include" "$@" -pthread; }
check() {
    local what=$1
    shift
    "$@" > "$made/output" 2>&1 && return
    echo "$compiler, $what:"
    cat "$made/output"
    result=1
}

compile "$here/loader.cpp" -o "$made/loader" -ldl || exit 1
for level in "$@"; do
    compile $level "$here/fibers.cpp" -o "$made/program" || exit 1
    check "a program, $level" "$made/program"
    compile $level -fPIC -shared "$here/fibers.cpp" -o "$made/library.so" || exit 1
    check "a library, $level" "$made/loader" "$made/library.so" check_fibers
done
exit $result

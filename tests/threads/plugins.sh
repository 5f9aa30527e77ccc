#!/usr/bin/env bash
# plugins.sh INCLUDE_DIRECTORY COMPILER: runs plugin_host with plugin.cpp, whose symbols the two share or hide. GCC's
# unique symbols keep a library loaded, so it is compiled without them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
include=$1
compiler=$2
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
result=0

unique=
"$compiler" -fno-gnu-unique -x c++ -c /dev/null -o "$made/none" 2> "$made/output" && unique=-fno-gnu-unique
compile() { "$compiler" -std=c++20 -O1 -w $unique -I"$include" "$@" -pthread || exit 1; }
for visibility in default hidden; do
    compile -fvisibility=$visibility -fPIC -shared "$here/plugin.cpp" -o "$made/plugin.so"
    compile -fvisibility=$visibility -rdynamic "$here/plugin_host.cpp" -o "$made/host" -ldl
    "$made/host" "$made/plugin.so" > "$made/output" 2>&1 && continue
    echo "$compiler, $visibility visibility:"
    cat "$made/output"
    result=1
done
exit $result

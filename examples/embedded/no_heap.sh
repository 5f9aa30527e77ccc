#!/bin/sh
# Checks that an object file refers to no function that takes memory from the heap or that exceptions need. To validate
# the check itself, another object file must fail it.
set -u
nm=$1 object=$2 counterexample=$3

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# The symbols of the heap and of exceptions that object file $1 refers to; _Znw and _Zna are operator new and new[].
forbidden_in() {
    heap='malloc|calloc|realloc|reallocarray|aligned_alloc|memalign|posix_memalign|valloc|strdup|_Zn[wa].*'
    exceptions='__cxa_throw|__cxa_allocate_exception|__dynamic_cast'
    "$nm" --undefined-only "$1" | awk '{ print $NF }' | grep -Ex "$heap|$exceptions"
}

"$nm" --undefined-only "$object" | grep -q ' U ' || fail "$nm finds nothing in $object"
forbidden_in "$counterexample" >/dev/null || fail "the check finds nothing in $counterexample"
found=$(forbidden_in "$object") && fail "$object refers to" $found
exit 0

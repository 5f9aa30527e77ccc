#!/bin/sh
# An object file refers to no function that takes memory from the heap and to nothing that exceptions need. So that this
# says something, another object file must fail the same check.
# Usage: no_heap.sh NM OBJECT OBJECT_THAT_USES_THE_HEAP
set -u
nm=$1 object=$2 counterexample=$3

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# What of the heap and of exceptions the object file $1 refers to; operator new is _Znw and _Zna with its parameters.
forbidden_in() {
    "$nm" --undefined-only "$1" | awk '{ print $NF }' |
        grep -Ex 'malloc|calloc|realloc|reallocarray|aligned_alloc|memalign|posix_memalign|valloc|strdup|_Zn[wa].*|__cxa_throw|__cxa_allocate_exception|__dynamic_cast'
}

"$nm" --undefined-only "$object" | grep -q ' U ' || fail "$nm finds nothing in $object"
forbidden_in "$counterexample" >/dev/null || fail "the check finds nothing in $counterexample"
found=$(forbidden_in "$object") && fail "$object refers to" $found
exit 0

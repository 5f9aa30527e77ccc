#!/bin/sh
# Both games print the same battle, and refuse the same wrong arguments with one sentence.
set -u
plain=$1 with_acre=$2

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

for frames in 1 7 30; do
    expected=$("$plain" --frames $frames) || fail "$plain --frames $frames"
    obtained=$("$with_acre" --frames $frames) || fail "$with_acre --frames $frames"
    [ "$expected" = "$obtained" ] || fail "$frames frames differ: '$expected' and '$obtained'"
done

for game in "$plain" "$with_acre"; do
    "$game" --help | grep -q '^Usage' || fail "$game --help does not say how to use it"
    for wrong in '--frames' '--frames 0' '--frames -3' '--frames 12x' '--frames 99999999999' '--fly'; do
        # shellcheck disable=SC2086 # an option and its value are two words
        message=$("$game" $wrong 2>&1 >/dev/null) && fail "$game accepted '$wrong'"
        [ "$(printf '%s\n' "$message" | wc -l)" -eq 1 ] || fail "'$wrong' should be answered by one sentence: $message"
    done
done

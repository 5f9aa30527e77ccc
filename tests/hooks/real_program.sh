#!/bin/sh
# A program that others wrote does the same with its library on acre as without.
#
# Usage: real_program.sh libxml2|sqlite LIBRARY      LIBRARY: the one to preload
set -eu
library=$2
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

skip() {
    echo "skipped: $1"
    exit 77
}

case $1 in
libxml2)
    command -v xmllint >/dev/null || skip "xmllint (libxml2-utils) is not installed"
    document=/usr/share/vulkan/registry/vk.xml
    if [ ! -e "$document" ]; then
        document=$folder/made.xml
        awk 'BEGIN { print "<list>"; for (i = 0; i < 20000; ++i) print "<item id=\"" i "\">&amp; " i "</item>"; print "</list>" }' >"$document"
    fi
    run() {
        xmllint --c14n "$document"
        xmllint --format "$document"
        xmllint --stream --noout "$document"
        xmllint --xpath 'count(//*)' "$document"
    }
    ;;
sqlite)
    command -v sqlite3 >/dev/null || skip "sqlite3 is not installed"
    run() {
        rm -f "$folder/data"
        sqlite3 "$folder/data" "
            CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT, size INT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                INSERT INTO words SELECT i, hex(i * 7919), i % 97 FROM n;
            CREATE INDEX by_word ON words(word);
            SELECT size, count(*), group_concat(word) FROM words GROUP BY size ORDER BY 3;
            DELETE FROM words WHERE size < 10;
            VACUUM;
            PRAGMA integrity_check;
        "
        sqlite3 "$folder/data" .dump
    }
    ;;
esac

run >"$folder/without" 2>&1
LD_PRELOAD=$library
export LD_PRELOAD
run >"$folder/with" 2>&1
unset LD_PRELOAD
[ -s "$folder/without" ]
cmp "$folder/without" "$folder/with"

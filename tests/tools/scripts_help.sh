#!/usr/bin/env bash
# Each script answers --help with its usage, and begins no work: a copy of the scripts alone stays as it is.
set -uo pipefail
cd "$(dirname "$0")/../.."
export PYTHONDONTWRITEBYTECODE=1

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mapfile -t scripts < <(find .ci bench scripts -type f -perm -u+x | sort)
cp -r --parents scripts bench .ci "$copy"
before=$(find "$copy" | sort)
failed=0
for script in "${scripts[@]}"; do
    said=$(cd / && timeout 30 "$copy/$script" --help 2>&1) && grep -qi "usage: " <<<"$said" && continue
    echo "$script --help: $(tail -n 3 <<<"$said")"
    failed=1
done
made=$(comm -13 <(echo "$before") <(find "$copy" | sort))
[ -z "$made" ] || { echo "Made by a script that was called with --help: $made"; failed=1; }
echo "${#scripts[@]} scripts"
exit $failed

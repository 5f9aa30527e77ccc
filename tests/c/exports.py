"""libacre.so shows the functions that acre.h declares, and nothing else.

Usage: exports.py HEADER LIBRARY NM
"""
import re
import subprocess
import sys

header, library, nm = sys.argv[1:]
with open(header, encoding="utf-8") as file:
    declared = set(re.findall(r"^ACRE_EXPORT [^;]*?\b(acre_\w+)\(", file.read(), re.MULTILINE))
listed = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
# Lines as "0000000000001234 T acre_malloc@@ACRE_0.1"; the version itself is an absolute symbol.
shown = {fields[2].split("@")[0] for fields in map(str.split, listed.splitlines()) if fields[1] != "A"}
for name in sorted(declared - shown):
    print(f"{name} is declared, and the library does not show it")
for name in sorted(shown - declared):
    print(f"{name} is shown, and not declared")
print(f"{len(declared)} functions")
sys.exit(not declared or declared != shown)

"""ARCHITECTURE.md names functions that exist, each in the file whose link follows it, and is three pages at most.

Usage: architecture_test.py ROOT
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
max_steps, max_words = 12, 1700
TOKEN = re.compile(r"`([^`]+)`|\]\(([\w./]+\.(?:hpp|cpp))\)")
STEP = re.compile(r"^\d+\. (?:.+\n)(?:   .*\n)*", re.MULTILINE)
wrong = []


def code_of(name):
    """The file without its comments."""
    path = root / name
    return re.sub(r"//.*", "", path.read_text(encoding="utf-8")) if path.exists() else ""


def check(step):
    """Names wait for the next file; text in backticks after the last file is no name of a function."""
    waiting, checked = [], 0
    for name, file in TOKEN.findall(step):
        if name:
            waiting.append(name)
            continue
        for each in (each for each in waiting if re.fullmatch(r"[a-z]\w*", each)):
            checked += 1
            if not re.search(rf"\b{each}\b\s*[(<{{]|class {each}\b", code_of(file)):
                wrong.append(f"'{each}' is not in {file}")
        waiting = []
    if checked == 0:
        wrong.append(f"no function is named: {step.splitlines()[0]}")
    return checked


names = 0
for section in page.split("\n## ")[1:]:
    steps = STEP.findall(section)
    names += sum(check(step) for step in steps)
    if len(steps) > max_steps:
        wrong.append(f"{len(steps)} steps, at most {max_steps}: {section.splitlines()[0]}")
if len(page.split()) > max_words:
    wrong.append(f"{len(page.split())} words, at most {max_words}")
print("\n".join([f"ARCHITECTURE.md: {each}" for each in wrong] + [f"{names} names"]))
sys.exit(1 if wrong or names == 0 else 0)

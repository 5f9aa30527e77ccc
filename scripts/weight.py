"""Compares what each room weighs with the limits in the table of CONTRIBUTING.md, section "What a room may weigh".

Lines count in all text files that git tracks or would track, words in Markdown. Used by scripts/lint.
"""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| (.+?) \| (lines|headers|words|pages) \| ([0-9,]+) \| ([0-9,]+) \|$", re.MULTILINE)


def tracked(paths):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *paths], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


def text_of(file):
    """The text of a file, or nothing of one that is none."""
    content = file.read_bytes()
    return "" if b"\0" in content else content.decode("utf-8", errors="replace")


MEASURES = {
    "lines": lambda files: sum(text_of(file).count("\n") for file in files),
    "headers": lambda files: sum("detail" not in file.parts and file.suffix == ".hpp" for file in files),
    "words": lambda files: sum(len(text_of(file).split()) for file in files if file.suffix == ".md"),
    "pages": lambda files: sum(file.suffix == ".md" for file in files),
}


def weights():
    """(room, unit, weight, limit, goal) of each row of the table."""
    for room, unit, limit, goal in ROW.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        paths = re.findall(r"`([^`]+)`", room)
        yield (", ".join(paths), unit, MEASURES[unit](tracked(paths)), *(int(n.replace(",", "")) for n in (limit, goal)))


def report():
    """The weights as lines of text, and whether all are within their limits."""
    lines, within = [], True
    for room, unit, weight, limit, goal in weights():
        verdict = "" if weight <= limit else f"  MORE THAN {limit:,}"
        within = within and weight <= limit
        lines.append(f"{room:28} {weight:8,} {unit:8} of {limit:8,}, goal {goal:8,}{verdict}")
    return lines, within

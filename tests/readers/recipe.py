"""Runs the queries of docs/export.md in DuckDB, over exports in the folders that it names.

Usage: recipe.py EXPORT.md FOLDER < NAMES.json     FOLDER/NAME/run/ holds each export
"""

import json
import os
import pathlib
import re
import shutil
import sys

import duckdb

document, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
names = json.load(sys.stdin)
fleet = folder / "fleet"
for name in names:
    shutil.copytree(folder / name / "run", fleet / name)
shutil.copytree(folder / names[0] / "run", folder / "run")
os.chdir(folder)
database = duckdb.connect()
answers = []
for query in re.findall(r"```sql\n(.*?)```", document.read_text(encoding="utf-8"), re.S):
    try:
        done = database.execute(query)
    except duckdb.Error as error:
        sys.exit(" ".join(f"{query}: {error}".split()))
    if query.startswith("CREATE"):
        continue
    answers.append(done.fetchall())

stacks, top, builds, advices = answers
if not any("main" in path and ";" in path for path, *_ in stacks):
    sys.exit(f"no whole stack among {stacks[:2]}")
if {row[0] for row in top} != {"sqlite3", "record-inlined"} or any(row[5] != 1 for row in top):
    sys.exit(f"the top sites are not those of both programs: {top[:2]}")
if not builds:
    sys.exit("no site has one percent of its run")
# Whether an advice saves anything is measured, so there may be none; but all of them must have been read.
reports = [json.loads((fleet / name / "advice.json").read_text()) for name in names]
verdicts = sorted(advice["verdict"] for report in reports for advice in report["advices"])
read = sorted(verdict for verdict, in database.execute("SELECT verdict FROM advices").fetchall())
if read != verdicts:
    sys.exit(f"the advices are {read} and not {verdicts}")

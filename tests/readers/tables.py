"""Reads the Parquet tables of an export with pyarrow and DuckDB, and compares them with `acre info` and with the CSV.

Usage: tables.py FOLDER < INFO.json     of `acre info --json`
"""

import json
import pathlib
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

TYPES = {
    "events": {"run": pa.string(), "event": pa.uint64(), "time_ns": pa.uint64(), "thread": pa.uint32(),
               "op": pa.string(), "allocates": pa.bool_(), "object": pa.uint64(), "size": pa.uint64(),
               "alignment": pa.uint64(), "stack": pa.uint32(), "site": pa.uint32(), "function": pa.string(),
               "file": pa.string(), "line": pa.uint32(), "lifetime_ns": pa.uint64()},
    "sites": {"recorded_at": pa.timestamp("us", tz="UTC"), "complete": pa.bool_(), "site": pa.uint32(),
              "allocations": pa.uint64(), "share": pa.float64(), "mean_lifetime_ns": pa.float64()},
    "stacks": {"stack": pa.uint32(), "parent": pa.uint32(), "inlined": pa.uint32(), "module_offset": pa.uint64()},
}
OPTIONAL = {
    "events": {"alignment", "stack", "function", "file", "line", "lifetime_ns"},
    "sites": {"host", "build_id", "recorded_at", "function", "file", "line", "path", "mean_lifetime_ns"},
    "stacks": {"parent", "file", "line", "module", "build_id"},
}


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found} and not {wanted}")


def check_schema(name, file):
    schema = file.schema_arrow
    for column, kind in TYPES[name].items():
        expect(f"type of {name}.{column}", schema.field(column).type, kind)
    expect(f"optional columns of {name}", {field.name for field in schema if field.nullable}, OPTIONAL[name])


def check_statistics(name, file):
    """The bounds and null counts in the metadata must match the values, because readers skip row groups by them."""
    for group in range(file.metadata.num_row_groups):
        values = file.read_row_group(group)
        for number, column in enumerate(file.schema_arrow.names):
            said = file.metadata.row_group(group).column(number).statistics
            expect(f"nulls of {name}.{column}", said.null_count, values[column].null_count)
            if not said.has_min_max:
                continue
            known = [each for each in values[column].to_pylist() if each is not None]
            key = (lambda text: text.encode()) if isinstance(known[0], str) else None
            expect(f"minimum of {name}.{column}", said.min, min(known, key=key))
            expect(f"maximum of {name}.{column}", said.max, max(known, key=key))


def check_with_pyarrow(folder, info):
    runs = set()
    for name in TYPES:
        file = pq.ParquetFile(folder / "run" / f"{name}.parquet")
        check_schema(name, file)
        check_statistics(name, file)
        table = file.read()
        table.validate(full=True)
        runs |= set(table["run"].to_pylist())
        expect(f"command of {name}", json.loads(file.metadata.metadata[b"acre.command"]), info["command"])
        expect(f"rows of {name}", table.num_rows, file.metadata.num_rows)
        if name == "events" and table.num_rows > 600_000 - 1 and file.metadata.num_row_groups < 3:
            sys.exit("many events are in few row groups")
    expect("runs", len(runs), 1)


def check_with_duckdb(folder, info):
    """The figures of `events` count the recorded allocations only; all others are scaled to the whole run."""
    period = info["sampling_period"]
    recorded = {name: info[name] // period for name in ("allocations", "bytes", "frees")}
    ask = lambda query: duckdb.sql(query).fetchall()
    events, sites, stacks = (f"'{folder}/run/{name}.parquet'" for name in TYPES)
    expect("events", ask(f"SELECT count(*), count(*) FILTER (allocates), sum(size) FILTER (allocates) FROM {events}"),
           [(info["events"], recorded["allocations"], recorded["bytes"])])
    expect("frees", ask(f"SELECT count(lifetime_ns), count(*) FILTER (NOT allocates) FROM {events}"),
           [(recorded["frees"], recorded["frees"])])
    expect("threads", ask(f"SELECT count(DISTINCT thread) FROM {events}"), [(info["threads"],)])
    expect("objects", ask(f"SELECT count(DISTINCT object), max(object) + 1 FROM {events}"),
           [(recorded["allocations"], recorded["allocations"])])
    expect("sites", ask(f"SELECT sum(allocations), sum(bytes), sum(at_peak_bytes), sum(never_freed), "
                        f"sum(never_freed_bytes), count(*) FROM {sites}"),
           [(info["allocations"], info["bytes"], info["peak_bytes"], info["never_freed"]["count"],
             info["never_freed"]["bytes"], len(info["sites"]))])
    expect("sites by their events", ask(
        f"SELECT site, count(*), sum(size) FROM {events} WHERE allocates GROUP BY site ORDER BY site"),
        ask(f"SELECT site, allocations // sampling_period, bytes // sampling_period FROM {sites} ORDER BY site"))
    expect("stacks that are missing", ask(
        f"SELECT count(*) FROM {events} WHERE stack NOT IN (SELECT stack FROM {stacks})"), [(0,)])
    # The CSV has "?" for characters that a terminal must not get, and an apostrophe before what begins like a formula.
    plain = "regexp_replace({}, '[^ -~]', '?', 'g')"
    written = plain.format(r"regexp_replace(COLUMNS(*)::VARCHAR, '^([-=+@\t\r])', '''\1')")
    expect("events of the CSV that are others", ask(
        f"SELECT count(*) FROM (SELECT {written} FROM {events} EXCEPT ALL "
        f"SELECT {plain.format('COLUMNS(*)')} FROM read_csv('{folder}/events.csv', all_varchar = true, header = true, "
        f"delim = ',', quote = '\"', escape = '\"', new_line = '\\r\\n'))"), [(0,)])
    for row in ask(f"SELECT function, file, line, allocations FROM {sites} ORDER BY bytes DESC "
                   f"LIMIT 1"):
        top = info["sites"][0]
        expect("top site", row, (top["function"], top["file"] or None, top["line"] or None, top["allocations"]))


folder = pathlib.Path(sys.argv[1])
wanted = json.load(sys.stdin)
check_with_pyarrow(folder, wanted)
check_with_duckdb(folder, wanted)

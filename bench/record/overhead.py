#!/usr/bin/env python3
"""The cost of recording: CPU time of real programs alone, recorded by acre in every way, and under heaptrack.

Each round runs every program in every way, one after the other. The first table shows medians of the program's own user
+ system time, without the process that reads its log, and ratios to a plain run. The second table shows the size of a
trace on disk, and whether it has as many events as a separate library counts. Usage: overhead.py [--build DIR]
[--rounds N] [PROGRAM...]
"""

import argparse
import glob
import json
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

SQL = """
create table t(id integer primary key, a text, b integer, c text);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)
  insert into t select i, hex(randomblob(12)), abs(random()) % 1000, hex(randomblob(30)) from n;
commit;
create index ta on t(a);
create index tb on t(b, c);
select count(*) from t where a like 'A%';
select b, count(*), max(c), length(group_concat(substr(a, 1, 3))) from t group by b having count(*) > 350;
delete from t where id % 7 = 0;
update t set a = a || 'x' where b < 100;
select count(distinct substr(c, 1, 4)) from t;
"""

FILTER = ("[.[] | select(.v > 0.5) | {id, name, n: (.tags | map(length) | add)}] | "
          "group_by(.n) | map({n: .[0].n, c: length})")

PYTHON = """
import json
rows = [{"id": i, "name": "n%d" % (i % 977), "tags": [str(i), str(i * 7)]} for i in range(60000)]
for _ in range(3):
    text = json.dumps(rows)
    rows = sorted(json.loads(text), key=lambda row: row["name"])
"""

THREADS = r"""
#include <map>
#include <string>
#include <thread>
#include <vector>
static void work(unsigned seed) {
    for (int request = 0; request < 3000; ++request) {
        std::vector<std::string> words;
        std::map<unsigned, std::string> index;
        for (unsigned i = 0; i < 100; ++i) {
            seed = seed * 1664525 + 1013904223;
            words.push_back(std::string(16 + seed % 100, 'x'));
            index[seed >> 8] = words.back();
        }
    }
}
int main() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
    for (auto& thread : threads) thread.join();
}
"""


HERE = os.path.dirname(os.path.abspath(__file__))
COMPILER = shutil.which("g++") or shutil.which("clang++-19")

# Options of `acre record`, and the letters that pass them to the recorder (tools/acre/record/raw_log.hpp).
WAYS = {
    "acre": "",
    "--no-free-stacks": "a",
    "--stacks=fp": "s1",
    "--stacks=caller": "s2",
    "--sample=100": "n100",
}


def write_json(path):
    """About 20 MB of objects."""
    source = random.Random(1)
    rows = [{"id": i, "name": "name%d" % source.randrange(10**6), "v": source.random(),
             "tags": [source.choice("abcdefgh") * source.randrange(1, 20) for _ in range(5)],
             "s": {"x": source.randrange(100), "y": None}} for i in range(120000)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file)


def compile_program(folder, source):
    program = os.path.join(folder, os.path.basename(source).removesuffix(".cpp"))
    subprocess.run([COMPILER, "-O2", "-std=c++17", "-pthread", source, "-o", program], check=True)
    return program


def build_threads(folder):
    source = os.path.join(folder, "threads.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write(THREADS)
    return compile_program(folder, source)


def programs(folder, wanted):
    """Name -> (arguments, text for standard input, environment)."""
    found = {}
    if "sqlite3" in wanted and shutil.which("sqlite3"):
        found["sqlite3"] = ([shutil.which("sqlite3"), ":memory:"], SQL, {})
    if "jq" in wanted and shutil.which("jq"):
        data = os.path.join(folder, "data.json")
        write_json(data)
        found["jq"] = ([shutil.which("jq"), FILTER, data], "", {})
    if "python3" in wanted:
        found["python3"] = ([os.path.realpath(sys.executable), "-c", PYTHON], "", {"PYTHONMALLOC": "malloc"})
    if "threads" in wanted:
        found["threads"] = ([build_threads(folder)], "", {})
    for threads in (1, 2):
        name = f"storm-{threads}"
        if name in wanted:
            found[name] = ([compile_program(folder, os.path.join(HERE, "storm.cpp")), str(threads)], "", {})
    for name in wanted:
        if name not in found:
            print(f"{name} is missing on this machine", file=sys.stderr)
    return found


def run(arguments, text, environment, folder, for_process=None):
    """Returns the user + system seconds of a process; for_process(pid) returns additions to its environment."""
    given = os.path.join(folder, "input")
    with open(given, "w", encoding="utf-8") as file:
        file.write(text)
    process = os.fork()
    if process == 0:
        os.dup2(os.open(given, os.O_RDONLY), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        every = dict(os.environ, **environment)
        if for_process:
            every.update(for_process(os.getpid()))
        os.execve(arguments[0], arguments, every)
    _, status, usage = os.wait4(process, 0)
    if status != 0:
        sys.exit(f"{arguments[0]} failed with status {status}")
    return usage.ru_utime + usage.ru_stime


def ways(build, folder):
    """Maps each way to run to the environment variables that `acre record` or `heaptrack` would add."""
    recorder = os.path.join(build, "lib", "libacre-record.so")
    if not os.path.exists(recorder):
        sys.exit(f"'{recorder}' is missing: build first, or name the build directory with --build")
    logs = os.path.join(folder, "logs")

    def acre(options):
        def environment(process):
            os.makedirs(logs, exist_ok=True)
            return {"LD_PRELOAD": recorder, "ACRE_RECORD_DIRECTORY": logs, "ACRE_RECORD_PROCESS": str(process),
                    "ACRE_RECORD_OPTIONS": options}
        return environment

    found = {"plain": None, **{way: acre(letters) for way, letters in WAYS.items()}}
    heaptrack = sorted(glob.glob("/usr/lib*/heaptrack/libheaptrack_preload.so") +
                       glob.glob("/usr/lib/*/heaptrack/libheaptrack_preload.so"))
    if heaptrack:
        found["heaptrack"] = lambda _: {"LD_PRELOAD": heaptrack[0],
                                        "DUMP_HEAPTRACK_OUTPUT": os.path.join(folder, "heaptrack.raw")}
    return found, logs


def build_counter(folder):
    """Builds a library that stands in front of the recorder and counts all calls of a process."""
    library = os.path.join(folder, "count_calls.so")
    source = os.path.join(HERE, "..", "..", "tests", "tools", "record", "subjects", "count_calls.cpp")
    subprocess.run([COMPILER, "-O2", "-std=c++17", "-shared", "-fPIC", "-fno-builtin", source, "-o", library],
                   check=True)
    return library


def trace_figures(build, folder, counter, program, environment_of):
    """The events that the library counted, the events recorded in the same run, and the bytes of the trace."""
    arguments, text, environment = program
    counts, trace = os.path.join(folder, "counts"), os.path.join(folder, "counted.acre")
    command = os.path.join(build, "bin", "acre")

    def for_process(process):
        recorded = environment_of(process)
        return dict(recorded, LD_PRELOAD=counter + ":" + recorded["LD_PRELOAD"], ACRE_COUNT_FILE=counts)

    run(arguments, text, environment, folder, for_process)
    subprocess.run([command, "-q", "finish", os.path.join(folder, "logs"), "-o", trace], check=True)
    shown = subprocess.run([command, "info", "--json", trace], check=True, capture_output=True)
    recorded = json.loads(shown.stdout)
    with open(counts, "rb") as file:
        counted = sum(struct.unpack("QQ", file.read(16)))
    return counted, recorded["events"] + recorded["unmatched_frees"], recorded["file_bytes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.join(HERE, "..", "..")
    parser.add_argument("--build", default=os.path.join(root, "build"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("programs", nargs="*", default=["sqlite3", "jq", "python3", "threads", "storm-1", "storm-2"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="acre-overhead-") as folder:
        each_way, logs = ways(os.path.abspath(options.build), folder)
        each_program = programs(folder, options.programs)
        seconds = {(program, way): [] for program in each_program for way in each_way}
        build = os.path.abspath(options.build)
        counter = build_counter(folder)
        figures = {}
        for name, program in each_program.items():
            figures[name] = trace_figures(build, folder, counter, program, each_way["acre"])
            shutil.rmtree(logs, ignore_errors=True)
        for _ in range(options.rounds):
            for program, (arguments, text, environment) in each_program.items():
                for way, for_process in each_way.items():
                    seconds[program, way].append(run(arguments, text, environment, folder, for_process))
                    shutil.rmtree(logs, ignore_errors=True)
    print("| program | " + " | ".join(f"{way}, s | ratio" if way != "plain" else "plain, s" for way in each_way) + " |")
    print("|---" * (2 * len(each_way)) + "|")
    for program in each_program:
        cells = []
        plain = statistics.median(seconds[program, "plain"])
        for way in each_way:
            median = statistics.median(seconds[program, way])
            cells.append(f"{median:.2f}" if way == "plain" else f"{median:.2f} | {median / plain:.2f}")
        print(f"| {program} | " + " | ".join(cells) + " |")
    print("\n| program | events counted | events recorded | bytes an event on disk |\n|---|---|---|---|")
    for program, (counted, recorded, size) in figures.items():
        print(f"| {program} | {counted:,} | {recorded:,} | {size / recorded:.2f} |")
    if "heaptrack" not in each_way:
        print("\nheaptrack is missing on this machine (Debian: apt install heaptrack)")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares what the pools of two or more trees cost: the sources of one program, compiled with the headers of each.

All run in one process in turns, so other programs on the machine do not count. Prints a Markdown table: nanoseconds of
processor time for a pair of allocate and deallocate in the first tree; then for each further tree the same, the median
of its ratios to the first tree within a round, and for several threads that of elapsed time.

With --costs arena_costs.cpp the same for arenas. A tree may be named twice, with a macro for the second:
`unchecked=include,BENCH_DOUBLE_FREES=none` measures pools that look at nothing in a free.

Usage: bench/limits/compare_pools.py [--costs FILE] [--only WORKLOAD [POOL]] [--rounds N] NAME=INCLUDE_FOLDER[,MACRO]...
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# As in bench/CMakeLists.txt.
FLAGS = ["-std=c++20", "-O2", "-DNDEBUG", "-falign-functions=64", "-falign-loops=32", "-falign-jumps=32", "-pthread"]


def compiled(compiler, source, result, *options):
    subprocess.run([*compiler, *FLAGS, *options, "-c", str(source), "-o", str(result)], check=True)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--costs", default="pool_costs.cpp")
    parser.add_argument("--rounds", default="101")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("trees", nargs="+", metavar="NAME=INCLUDE_FOLDER[,MACRO]")
    given = parser.parse_args()
    trees = [each.split("=", 1) for each in given.trees]
    compiler = os.environ.get("CXX", "g++").split()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as workers:
        jobs = []
        for name, tree in trees:
            include, *macros = tree.split(",")
            jobs.append(workers.submit(compiled, compiler, HERE / given.costs, f"{folder}/{name}.o", f"-I{include}",
                                       f"-Dacre=acre_{name}", f"-Dbench_tree=tree_{name}",
                                       *(f"-D{macro}" for macro in macros)))
        include = f"-I{trees[0][1].split(',')[0]}"
        jobs.append(workers.submit(compiled, compiler, HERE.parent / "harness.cpp", f"{folder}/harness.o", include))
        declared = " ".join(f"BENCH_TREE(tree_{name})" for name, _ in trees)
        listed = ", ".join(f"tree_{name}::all_costs" for name, _ in trees)
        jobs.append(workers.submit(compiled, compiler, HERE / "compare_pools.cpp", f"{folder}/main.o", include,
                                   f"-DBENCH_TREES_DECLARED={declared}", f"-DBENCH_TREES_LISTED={listed}"))
        objects = [str(each.result()) for each in jobs]
        subprocess.run([*compiler, "-pthread", *objects, "-o", f"{folder}/compare"], check=True)
        first, others = trees[0][0], [name for name, _ in trees[1:]]
        print(f"| workload | pool | {first}, ns |" + "".join(f" {n}, ns | {n} / {first} | elapsed |" for n in others))
        print("|---|---|--:|" + "--:|--:|--:|" * len(others), flush=True)
        subprocess.run([f"{folder}/compare", given.rounds, *given.only], check=True)


main()

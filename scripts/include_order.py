"""Finds files that include each other in a ring, and files of a lower floor that include one of a higher floor.

A source and the header of the same name count as one file. A folder includes itself and what is
on floors below it. Used by scripts/lint.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREES = [ROOT / folder for folder in ("include/acre", "tools/acre", "tools/malloc", "c")]
# From the ground up. What stands beside each other does not include each other.
FLOORS = [
    ["include/acre/core"],
    ["include/acre/fwd", "include/acre/version"],
    ["include/acre/memory"],
    ["include/acre/arenas", "include/acre/heaps", "include/acre/pools"],
    ["include/acre/observe"],
    ["include/acre/adapt", "include/acre/combine"],
    ["include/acre/acre"],
    ["c", "tools/acre/text"],
    ["tools/acre/trace"],
    ["tools/acre/programs"],
    ["tools/acre/record", "tools/acre/replay"],
    ["tools/acre/export", "tools/acre/fit", "tools/acre/info"],
    ["tools/acre/advise", "tools/acre/diff"],
    ["tools/acre/plan", "tools/acre/report"],
    ["tools/acre/try", "tools/malloc"],
    ["tools/acre/commands"],
    ["tools/acre/main", "tools/acre/precompiled"],
]
INCLUDE = re.compile(r'^#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def files():
    return sorted(file for tree in TREES for kind in ("hpp", "cpp", "h") for file in tree.rglob(f"*.{kind}"))


def target(file, name):
    """The file of ours that an #include names, or nothing."""
    for folder in (file.parent, ROOT / "include", ROOT / "tools/acre", ROOT / "tools/malloc", ROOT / "c"):
        found = folder / name
        if found.exists():
            return found.resolve()
    return None


def included():
    """{file: the files that it includes}, each without its suffix and relative to the root."""
    graph = {}
    for file in files():
        node = str(file.relative_to(ROOT).with_suffix(""))
        for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
            found = target(file, name)
            if found and ROOT in found.parents:
                graph.setdefault(node, set()).add(str(found.relative_to(ROOT).with_suffix("")))
        graph.setdefault(node, set()).discard(node)
    return graph


def rings(graph):
    """The strongly connected parts of more than one file, by Tarjan's algorithm."""
    number, low, stack, waiting, found = {}, {}, [], set(), []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        waiting.add(node)
        for other in sorted(graph.get(node, ())):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in waiting:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            ring = []
            while not ring or ring[-1] != node:
                ring.append(stack.pop())
                waiting.discard(ring[-1])
            if len(ring) > 1:
                found.append(sorted(ring))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def floor_of(node):
    """The number of the floor that a file is on, and the folder's name there."""
    for number, names in enumerate(FLOORS):
        for name in names:
            if node == name or node.startswith(name + "/"):
                return number, name
    return None


def faults():
    """One sentence for each ring, and for each #include that does not go down."""
    graph = included()
    said = [f"these include each other in a ring: {', '.join(ring)}" for ring in rings(graph)]
    for node, others in sorted(graph.items()):
        own = floor_of(node)
        if own is None:
            said.append(f"{node}: on no floor of scripts/include_order.py")
            continue
        for other in sorted(others):
            floor = floor_of(other)
            if floor and floor != own and floor[0] >= own[0]:
                said.append(f"{node} includes {other}, which is on no floor below its own")
    return said

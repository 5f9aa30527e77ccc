"""The section "Measured" of a type's page: tables of bench/results in which the type has a row."""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What a page is about, as the tables name it, and at most how many tables it shows.
NAMES = {
    "arena": ["acre::arena"], "scratch": ["acre::arena + scratch"],
    "arena_vector": ["acre::arena_vector", "acre::cursor"], "typed_arena": ["acre::typed_arena"],
    "object_pool": ["acre::object_pool", "acre::pool"], "multi_pool": ["acre::multi_pool"],
    "chunk_pool": ["acre::chunk_pool"], "multi_arena": ["acre::multi_arena"], "static_pool": ["acre::static_pool"],
    "pooled": ["acre::pooled"], "concurrent_arena": ["acre::concurrent_arena"],
    "concurrent_multi_arena": ["acre::concurrent_multi_arena"],
    "concurrent_pool": ["acre::concurrent_pool", "acre::concurrent_multi_pool"],
    "adapters": ["acre::pmr over a multi_pool", "acre::allocator over a multi_pool", "acre::allocator over a pool",
                 "acre::synchronized_pool_resource"],
    "combine": ["acre::synchronized multi_arena"],
    "migrating": ["acre::arena", "acre::object_pool", "acre::multi_pool"],
}
MOST_TABLES = 3
# Pages whose figures stand below a heading: the first table there.
HEADINGS = {"hardened": ("pools", "What hardening costs"), "checked": ("pools", "What checked costs"),
            "wait_free_pool": ("pools", "Instructions of a call"), "c": ("pools", "The calls of the C interface"),
            "general_heap": ("whole_programs", "Under each malloc"),
            "malloc_library": ("whole_programs", "Under each malloc"),
            "realtime_heap": ("arenas", "realtime_heap, the instructions of one call"),
            "virtual_memory": ("pools", "What hardening costs"), "memory": ("pools", "What hardening costs")}
# Of those, pages whose table is not the first one below the heading: words of the paragraph above it.
ABOVE = {"virtual_memory": "virtual_memory", "memory": "virtual_memory"}
# Pages that show the rows of one library of the table of hooks.
HOOK_ROWS = {"ambient": "nlohmann::json"}
HOOKS = ("whole_programs", "Libraries on their hooks")
TABLE = re.compile(r"^## ([^\n]+)\n\n((?:\|[^\n]*\n)+)", re.MULTILINE)
BELOW = r"((?:[^\n|]+\n)+)\n((?:\|[^\n]*\n)+)"


def text_of(page):
    return (ROOT / f"bench/results/{page}.md").read_text(encoding="utf-8")


@functools.cache
def tables():
    """(file, machine, compiler and date, caption, lines) of each table of nanoseconds of acre-bench."""
    found = []
    for page in ("pools", "arenas", "threads"):
        about = ", ".join(re.findall(r"^- (?:machine|compiler|date): ([^\n]*?)(?:, load [^\n]*| UTC[^\n]*)?$",
                                     text_of(page), re.MULTILINE))
        found += [(f"{page}.md", about, caption, lines.strip().split("\n"))
                  for caption, lines in TABLE.findall(text_of(page)) if "| ns |" in lines]
    return found


def below(page, heading):
    """The part of a page of bench/results below a heading."""
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text_of(page), re.MULTILINE | re.DOTALL)[1]


def link(page, heading, words):
    anchor = re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")
    return f"[{words}](../bench/results/{page}.md#{anchor})"


def of_a_heading(name):
    """A table below its heading, with the paragraph above it."""
    place = HEADINGS[name]
    above, table = next(each for each in re.findall(BELOW, below(*place)) if ABOVE.get(name, "") in each[0])
    return f"\n\n## Measured\n\n{above}\n{link(*place, 'The other tables')}\n\n{table}"


def hook_rows(workload):
    """The rows of one library in the table of hooks."""
    lines = below(*HOOKS).split("\n")
    rows = [line for line in lines if line.startswith(f"| {workload}")]
    head = next(line for line in lines if line.startswith("| library and workload | memory |"))
    ruler = re.sub(r"[^|]+", "---", head.strip("|"))
    return (f"\n\n## Measured\n\n{link(*HOOKS, 'How, and the other libraries')}\n\n{head}\n|{ruler}|\n"
            + "\n".join(rows) + "\n")


def names_in(line):
    return line.split("|")[1].strip() if line.startswith("|") else ""


def is_of(variant, names):
    """acre::arena, and "acre::arena, one a thread", but not acre::arena_vector."""
    return any(variant == name or variant.startswith(name + ",") for name in names)


def section(page, path):
    """Markdown, empty for a page without a measured type. Its links are those of docs/."""
    if page in HEADINGS and path == f"guide/{page}.md":
        return of_a_heading(page)
    if page in HOOK_ROWS and path == f"guide/{page}.md":
        return hook_rows(HOOK_ROWS[page])
    names = NAMES.get(page, []) if path == f"guide/{page}.md" else []
    chosen = [each for each in tables() if any(is_of(names_in(line), names) for line in each[3])] if names else []
    if not chosen:
        return ""
    # W: a published table that was run again, on whose terms; the others were made to compare.
    chosen.sort(key=lambda each: each[2].startswith("W"))
    shown, files = [], {}
    for file, about, caption, lines in chosen[:MOST_TABLES]:
        files[file] = about
        bold = [re.sub(r"\| ([^|]+) \|", r"| **\1** |", line, count=1) if is_of(names_in(line), names) else line
                for line in lines]
        shown.append(f"**{caption.split(': ', 1)[-1]}**\n\n" + "\n".join(bold) + "\n")
    where = " · ".join(f"[{file[:-3]}](../bench/results/{file}): {about}" for file, about in files.items())
    return ("\n\n## Measured\n\n"
            "Medians on one machine: read the ratios, not the nanoseconds. `least` is the fastest round. "
            f"{where}\n\n" + "\n".join(shown))

"""The section "Measured" of a type's page: tables of bench/results in which the type has a row."""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What a page is about, as the tables name it, and at most how many tables it shows.
NAMES = {
    "arena": ["acre::arena"], "scratch": ["acre::arena + scratch"], "cursor": ["acre::cursor"],
    "arena_vector": ["acre::arena_vector"], "typed_arena": ["acre::typed_arena"],
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
# Pages whose figures are in a file of their own: the first table of the newest of these files.
FILES = {"hardened": "hardened", "checked": "checked", "wait_free_pool": "pool-instructions", "c": "c",
         "general_heap": "whole-program", "realtime_heap": "realtime-heap", "malloc_library": "whole-program"}
# Pages that show the rows of one library of the table of hooks.
HOOK_ROWS = {"ambient": "nlohmann::json", "ambient_arena": "nlohmann::json", "program_pools": "nlohmann::json"}
# Pages whose table stands in a file about something else: that file, and words of the paragraph above the table.
OTHER_TABLES = {"virtual_memory": ("hardened", "virtual_memory"), "memory": ("hardened", "virtual_memory")}
TABLE = re.compile(r"^## ([^\n]+)\n\n((?:\|[^\n]*\n)+)", re.MULTILINE)


@functools.cache
def tables():
    """(file, date and compiler, caption, lines) of each table of nanoseconds on a clean heap; newest files first."""
    found = []
    for path in sorted((ROOT / "bench/results").glob("*.md"), reverse=True):
        text = path.read_text(encoding="utf-8")
        if not text.startswith("# acre-bench"):
            continue
        about = ", ".join(re.findall(r"^- (?:machine|compiler|date): ([^\n]*?)(?:, load [^\n]*| UTC[^\n]*)?$", text,
                                     re.MULTILINE))
        for caption, lines in TABLE.findall(text):
            if "littered" not in caption and "a thread was started" not in caption and "| ns |" in lines:
                found.append((path.name, about, caption, lines.strip().split("\n")))
    return found


def of_a_file(name):
    """The first table of the newest file of this name, with its title."""
    paths = sorted((ROOT / "bench/results").glob(f"????-??-??-{name}.md"), reverse=True)
    text = paths[0].read_text(encoding="utf-8") if paths else ""
    table = re.search(r"^(?:\|[^\n]*\n)+", text, re.MULTILINE)
    if table is None:
        return ""
    title = text.split("\n", 1)[0].lstrip("# ")
    return (f"\n\n## Measured\n\n**{title}** · [how, and the other tables](../bench/results/{paths[0].name})\n\n"
            f"{table[0]}")


def other_table(name, words):
    """The table below the paragraph with these words, in the newest file of this name."""
    paths = sorted((ROOT / "bench/results").glob(f"????-??-??-{name}.md"), reverse=True)
    text = paths[0].read_text(encoding="utf-8") if paths else ""
    for above, table in re.findall(r"([^\n]+(?:\n[^\n|]+)*)\n\n((?:\|[^\n]*\n)+)", text):
        if words in above:
            return (f"\n\n## Measured\n\n{above}\n\n{table}\n"
                    f"From [what else was measured there](../bench/results/{paths[0].name}).\n")
    return ""


def hook_rows(workload):
    """The rows of one library in the newest table of hooks."""
    paths = sorted((ROOT / "bench/results").glob("????-??-??-hooks.md"), reverse=True)
    lines = paths[0].read_text(encoding="utf-8").split("\n") if paths else []
    rows = [line for line in lines if line.startswith(f"| {workload}")]
    head = [line for line in lines if line.startswith("| library and workload | memory |")][:1]
    if not rows or not head:
        return ""
    ruler = re.sub(r"[^|]+", "---", head[0].strip("|"))
    return (f"\n\n## Measured\n\n[How, and the other libraries](../bench/results/{paths[0].name})\n\n"
            f"{head[0]}\n|{ruler}|\n"
            + "\n".join(rows) + "\n")


def names_in(line):
    return line.split("|")[1].strip() if line.startswith("|") else ""


def is_of(variant, names):
    """acre::arena, and "acre::arena, one a thread", but not acre::arena_vector."""
    return any(variant == name or variant.startswith(name + ",") for name in names)


def section(page, path):
    """Markdown, empty for a page without a measured type. Its links are those of docs/."""
    if page in FILES and path == f"guide/{page}.md":
        return of_a_file(FILES[page])
    if page in HOOK_ROWS and path == f"guide/{page}.md":
        return hook_rows(HOOK_ROWS[page])
    if page in OTHER_TABLES and path == f"guide/{page}.md":
        return other_table(*OTHER_TABLES[page])
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

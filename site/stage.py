"""Makes the pages of the guide from docs/, the README, bench/results and the headers, and the list of them (nav).

Usage: stage.py FOLDER     the pages go to FOLDER/docs, and the configuration for mkdocs to FOLDER/mkdocs.yml
"""
import json
import os
import pathlib
import re
import shutil
import sys

import choices
import measured
import reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(```[\w+-]+) [^\n]+$", re.MULTILINE)  # more than the language: what checks do with the block
CODE = {".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".py": "python"}

# The guide in its four parts, in the order of a reader.
NAV = [
    ("Start", ["tutorial", "begin", "types", "install", "examples"]),
    ("How to", ["migrating", "adapters", "own_resource", "combine", "ambient", "malloc_face", "coroutines", "statistics",
                "checked", "debugging"]),
    ("How to, the command", ["record", "advise", "report", "try", "malloc_library", "plan", "fit", "replay", "export",
                             "tracing"]),
    ("Reference, types", ["resources", "arena", "scratch", "arena_vector", "concurrent_arena", "multi_arena",
                          "concurrent_multi_arena", "object_pool", "multi_pool", "chunk_pool", "typed_arena", "hardened",
                          "concurrent_pool", "wait_free_pool", "static_pool", "pooled", "realtime_heap", "general_heap",
                          "memory", "virtual_memory"]),
    ("Reference", ["c", "command", "advise_json", "trace-format", "misuse", "porting", "targets", "versioning"]),
    ("Explanation", ["advise_rules", "hazards"]),
]
TITLES = {"ambient": "ambient", "c": "The C interface", "malloc_library": "libacre-malloc", "tutorial": "Tutorial",
          "trace-format": "The trace format"}


def pages():
    """Source: page, both relative, of all Markdown that becomes a page."""
    found = {"README.md": "guide/readme.md", "CHANGELOG.md": "about/changelog.md", "SECURITY.md": "about/security.md",
             "CONTRIBUTING.md": "about/contributing.md", "site/index.md": "index.md", "site/start.md": "start.md"}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.relative_to(ROOT / "docs")
        name = "index.md" if page.name == "README.md" else page.name
        found[str(path.relative_to(ROOT))] = str(pathlib.Path("guide") / page.parent / name)
    for path in sorted((ROOT / "bench/results").glob("*.md")):
        name = "index.md" if path.name == "README.md" else path.name
        found[str(path.relative_to(ROOT))] = f"results/{name}"
    return found


def target_of(source, link, found):
    """The page that a link of a source leads to: None where there is none; adds pages for example programs."""
    path = os.path.normpath(os.path.join(os.path.dirname(source), link))
    if path in found:
        return found[path]
    if os.path.join(path, "README.md") in found:
        return found[os.path.join(path, "README.md")]
    if pathlib.Path(path).suffix in CODE and path.startswith(("examples/", "bindings/")) and (ROOT / path).is_file():
        return f"programs/{path.replace('/', '_')}.md"
    return None


def rewritten(source, text, found, programs):
    """The text with links to pages of the guide; what is not in the guide keeps its words without a link."""
    page = found[source]

    def replace(match):
        bang, words, link, anchor = match[1], match[2], match[3], match[4] or ""
        if not link or re.match(r"[a-z]+:", link):
            return match[0]
        target = target_of(source, link, found)
        if target is None:
            return words
        if target.startswith("programs/"):
            programs[target] = os.path.normpath(os.path.join(os.path.dirname(source), link))
        relative = os.path.relpath(target, os.path.dirname(page) or ".")
        return f"{bang}[{words}]({relative}{anchor})"

    parts = re.split(r"(^```.*?^```\s*$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(FENCE.sub(r"\1", each) if each.startswith("```") else LINK.sub(replace, each) for each in parts)


def without_tests(text):
    """The text without columns of tables that name tests: those are for people who change acre."""
    lines, dropping = text.split("\n"), False
    for number, line in enumerate(lines):
        cells = re.split(r"(?<!\\)\|", line)
        if not line.startswith("|"):
            dropping = False
        elif not lines[number - 1].startswith("|"):
            dropping = cells[-2].strip() == "test"
        if dropping:
            lines[number] = "|".join(cells[:-2]) + "|"
    return "\n".join(lines)


def write(folder, page, text):
    path = folder / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def title_of(page, text):
    found = re.search(r"^# (.*)$", text, re.MULTILINE)
    return re.sub(r"[`*]", "", found[1]) if found else page


def make_pages(folder):
    found, programs, titles = pages(), {}, {}
    for source, page in found.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if page == "index.md":
            text = text.replace("<!-- the picture of the choices -->", choices.picture())
        if page.startswith("guide/"):
            text = without_tests(text) + measured.section(pathlib.Path(page).stem, page)
        text = rewritten(source, text, found, programs)
        titles[page] = title_of(page, text)
        write(folder, page, text)
    for page, source in programs.items():
        code = (ROOT / source).read_text(encoding="utf-8")
        name, language = pathlib.Path(source).name, CODE[pathlib.Path(source).suffix]
        write(folder, page, f"# {name}\n\n`{source}`\n\n```{language}\n{code}```\n")
    results = [page for page in titles if page.startswith("results/") and page != "results/index.md"]
    return titles, sorted(programs), results


def nav(titles, programs, results, rooms):
    def of(name):
        page = f"guide/{name}.md"
        return {TITLES.get(name, titles[page] if len(titles[page]) < 28 else name): page}

    listed = {f"guide/{name}.md" for _, names in NAV for name in names} | {"guide/index.md", "guide/readme.md"}
    hooks = sorted(page for page in titles if page.startswith("guide/hooks/") and not page.endswith("index.md"))
    listed |= {*hooks, "guide/hooks/index.md"}
    left = sorted(page for page in titles if page.startswith("guide/") and page not in listed)
    result = [{"acre": "index.md"}, {"Five minutes": "start.md"},
              {"Guide": [{"All pages": "guide/index.md"}, {"All types": "guide/readme.md"}] +
                        [{group: [of(name) for name in names]} for group, names in NAV] +
                        ([{"More": [{titles[page]: page} for page in left]}] if left else [])},
              {"Hooks": [{"All hooks": "guide/hooks/index.md"}] + [{titles[page][:40]: page} for page in hooks]},
              {"Reference": rooms},
              {"Measured": ["results/index.md"] + sorted(results, reverse=True)},
              {"Project": ["about/changelog.md", "about/contributing.md", "about/security.md", {"Programs": programs}]}]
    return result


def main():
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder / "docs", ignore_errors=True)
    docs = folder / "docs"
    titles, programs, results = make_pages(docs)
    rooms = reference.write_pages(ROOT / "include", docs / "reference")
    shutil.copy(ROOT / "site/extra.css", docs / "extra.css")
    # JSON is YAML.
    config = {"INHERIT": str(ROOT / "mkdocs.yml"), "docs_dir": "docs", "site_dir": "html",
              "nav": nav(titles, programs, results, rooms)}
    (folder / "mkdocs.yml").write_text(json.dumps(config, indent=1), encoding="utf-8")


main()

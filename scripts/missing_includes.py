"""Finds names of the standard library and of other libraries whose header a source of the tools does not include.

The tools compile with precompiled headers (tools/acre/CMakeLists.txt), which hide a missing #include. A header counts
as included if a header of acre brings it. Used by scripts/lint.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = [ROOT / folder for folder in ("tools/acre", "include", "c")]

# The precompiled headers: what a source needs each for. <new> and <cstddef> come with all others.
USES = {header: re.compile(use) for header, use in {
    "algorithm": r"std::(?:ranges::)?(?:all_of|any_of|clamp|copy|copy_n|count_if|fill|fill_n|find|find_if|lower_bound|max|"
                 r"max_element|min|min_element|none_of|nth_element|remove_if|reverse|sort|stable_sort|transform|unique|"
                 r"upper_bound)\b",
    "array": r"std::array\b",
    "chrono": r"std::chrono\b",
    "cstdint": r"std::u?int(?:8|16|32|64|ptr)_t\b",
    "filesystem": r"std::filesystem\b",
    "fmt/format.h": r"\bfmt::(?:format|format_to|print)\b",
    "functional": r"std::(?:function|greater|hash|less)\b",
    "map": r"std::(?:multi)?map\b",
    "memory": r"std::(?:allocator|make_shared|make_unique|shared_ptr|unique_ptr)\b",
    "nlohmann/json.hpp": r"\bnlohmann::",
    "optional": r"std::(?:nullopt|optional)\b",
    "span": r"std::span\b",
    "string": r"std::(?:string|to_string)\b",
    "string_view": r"std::string_view\b",
    "unordered_map": r"std::unordered_map\b",
    "utility": r"std::(?:exchange|forward|move|pair|swap)\b",
    "vector": r"std::vector\b",
}.items()}
# Comments, and literals: raw strings, characters, strings.
WITHOUT_CODE = r"""//.*|R"\((?s:.*?)\)"|'(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\\n])*\""""
ALSO = {"nlohmann/json.hpp": {"nlohmann/json_fwd.hpp"}}


def included(file, known):
    """All headers, by name, that a file includes, itself and by headers of acre. `known`: the answers so far."""
    if file not in known:
        known[file] = found = set()
        for name in re.findall(r'^#\s*include [<"]([^>"]+)[>"]', file.read_text(), re.MULTILINE):
            own = next((folder / name for folder in (file.parent, *FOLDERS) if (folder / name).exists()), None)
            found |= included(own.resolve(), known) if own else {name}
    return known[file]


def missing_includes(files):
    """One sentence for each header that is missing in a file."""
    known = {}
    said = []
    for file in files:
        text = re.sub(WITHOUT_CODE, "", file.read_text())
        for header, use in USES.items():
            used = use.search(text)
            if used and not included(file, known) & {header, *ALSO.get(header, ())}:
                said.append(f"{file.relative_to(ROOT)}: uses {used.group(0)} without #include <{header}>")
    return said

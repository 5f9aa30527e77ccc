#!/usr/bin/env python3
"""The reference: a page for each public header, from its first comment and from the comments of its declarations.

Usage: reference.py --check     fails, and prints them, where public names are without a comment

The headers are formatted by clang-format, on which the parser relies: a body's brace stands behind a space, that of a
value does not.
"""
import functools
import itertools
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = [("core", "Core"), ("memory", "Memory"), ("arenas", "Arenas"), ("pools", "Pools"), ("heaps", "Heaps"),
         ("combine", "Combining"), ("observe", "Observing"), ("adapt", "Adapting"), ("adapt/hooks", "Hooks"),
         ("", "All")]
# Names that mean in acre what they mean in the standard library, and those that say all.
OBVIOUS = re.compile(r"^(name|operator(=|==|<=>)|begin|end|size|swap|[a-z_]+_type|is_always_equal|propagate_on_\w+|"
                     r"rebind|other|(const_)?((reverse_)?iterator|pointer|reference)|npos|is_transparent|ptr|count|"
                     r"__attribute__|(try_)?lock|unlock)$")

# Parentheses and what is in them, to some depth.
NESTED = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
# Public names that stand in a folder named detail, so that other headers can include less: the page they belong to.
ELSEWHERE = {"core/alignment.hpp": "core/detail/alignments.hpp"}
ABOVE = "said above"  # of a value of an enumeration, which its type's comment explains


class Declaration:
    """A name with its text, its comment and, of a class, its members."""

    def __init__(self, kind, name, text, comment, line):
        self.kind, self.name, self.text, self.comment, self.line = kind, name, text, comment, line
        self.members = []


def first_comment(text):
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line[3:] if line.startswith("// ") else line[2:])
    return lines


def shadow_of(text):
    """The text with comments, strings and directives blanked out; what is left is where it was."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    text = re.sub(r"//[^\n]*", blank, text)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda match: '"' + "x" * (len(match[0]) - 2) + '"', text)
    text = re.sub(r"'(?:\\.|[^'\\\n])'", lambda match: "x" * len(match[0]), text)
    return re.sub(r"^[ ]*#(?:[^\n]*\\\n)*[^\n]*$", blank, text, flags=re.MULTILINE)


def without_angles(text):
    """The text without template parameters and arguments."""
    text = re.sub(r"operator\s*[<>=!]+|->|<=|>=|<<|>>(?=\s*\()",
                  lambda match: match[0].replace("<", "x").replace(">", "x"), text)
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>]*>", "", text)
    return text


class Parser:
    """Reads the declarations of a header. A declaration ends at a semicolon, or behind the braces of its body."""

    CLASS = re.compile(r"^(?:\s|requires\s*\(.*?\))*(?:requires\b.*?)?\b(class|struct|union|enum class|enum)\b\s*"
                       r"(?:\[\[.*?\]\]\s*|alignas\(.*?\)+\s*)*([A-Za-z_]\w*(?:::\w+)*)?")
    # Parentheses that may stand in front of a class, as those of a function may not.
    CALLS = re.compile(r"alignas\(.*?\)+|requires\b.*?\)\s*(?=class|struct)|decltype\(.*?\)")

    def __init__(self, text):
        self.text, self.shadow = text, shadow_of(text)
        self.lines = text.split("\n")
        self.at = 0

    def line_at(self, position):
        return self.text.count("\n", 0, position)

    def parse(self, visible=True):
        """The visible declarations up to the brace that closes this scope."""
        found, group, last_line = [], "", -2
        while self.skip_space():
            if self.shadow[self.at] == "}":
                self.at += 1
                return found
            label = re.match(r"(public|protected|private):", self.shadow[self.at:])
            if label:
                visible = label[1] == "public"
                self.at += label.end()
                continue
            start = self.at
            declared, space = self.declaration()
            line = self.line_at(start)
            said = self.comment_above(line) or self.comment_behind(self.line_at(self.at - 1))
            if line > last_line + 1 and not said:
                group = ""
            group = said or group
            last_line = self.line_at(self.at - 1)
            if space is not None:
                found += space
                continue
            if declared is None or not visible or not declared.name:
                continue
            if declared.kind == "named" and not said:
                continue  # defined elsewhere
            declared.comment = group
            found.append(declared)
        return found

    def skip_space(self):
        rest = re.compile(r"[\s;]*").match(self.shadow, self.at)
        self.at = rest.end()
        return self.at < len(self.shadow)

    def comment_above(self, line):
        said = []
        while line > 0 and self.lines[line - 1].strip().startswith("///"):
            line -= 1
            said.insert(0, self.lines[line].strip()[4:])
        return "\n".join(said)

    def comment_behind(self, line):
        match = re.search(r";\s+//(?:/<)? (.*)$", self.lines[line])
        return match[1] if match else ""

    def matching(self, position):
        """The position behind the bracket that closes the one at `position`."""
        pairs, depth = {"{": "}", "(": ")", "[": "]"}, 0
        opening = self.shadow[position]
        while position < len(self.shadow):
            if self.shadow[position] == opening:
                depth += 1
            elif self.shadow[position] == pairs[opening]:
                depth -= 1
                if depth == 0:
                    return position + 1
            position += 1
        return position

    def declaration(self):
        """(declaration, None), or (None, declarations) of a namespace."""
        start = position = self.at
        while position < len(self.shadow):
            each = self.shadow[position]
            if each in "([":
                position = self.matching(position)
            elif each == ";":
                self.at = position + 1
                return self.named(start, position), None
            elif each == "{":
                head = self.shadow[start:position]
                if re.match(r"(inline )?namespace\b", head):
                    self.at = position + 1
                    return None, self.inside_namespace(head)
                bare = re.sub(r"\s+", " ", without_angles(head))
                kind = self.CLASS.match(re.sub(r"^\s*template\s*", "", bare))
                if kind and "(" not in self.CALLS.sub("", bare[:kind.end()]):
                    self.at = position + 1
                    return self.scope(kind, start, position), None
                if self.is_value(head, bare):
                    position = self.matching(position)
                    continue
                self.at = self.matching(position)
                return self.named(start, position), None
            else:
                position += 1
        self.at = position
        return None, None

    @staticmethod
    def is_value(head, bare):
        """Whether a brace behind this text begins a constraint or a value, and not a body."""
        if re.search(r"requires\s*(%s\s*)?$" % NESTED, head) or not head[-1:].isspace():
            return True
        plain = re.sub(r"operator\s*[=!<>x]+|\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)|[=!]=", "", bare)
        return "=" in plain

    def inside_namespace(self, head):
        members = self.parse()
        shown = re.match(r"(inline )?namespace (acre::)?(inline )?(acre|literals|smart_pointers)\s*$", head)
        return members if shown else []

    def scope(self, kind, start, position):
        text = self.one_line(start, position)
        declared = Declaration(kind[1], kind[2] or "", text, "", self.line_at(start) + 1)
        if kind[1].startswith("enum"):
            end = self.matching(position)
            for line in self.text[position + 1:end - 1].split("\n"):
                match = re.match(r"\s*(\w+)(?: = [^,/]*)?,?\s*(?:// (.*))?$", line)
                if match:
                    declared.members.append(Declaration("value", match[1], match[1], match[2] or ABOVE, 0))
            self.at = end
        else:
            declared.members = self.parse(kind[1] != "class")
        return declared

    def one_line(self, start, end):
        """The declaration without comments and directives, on one line."""
        both = zip(self.text[start:end], self.shadow[start:end])
        kept = "".join(own if shadow != " " else " " for own, shadow in both)
        return re.sub(r"\s+", " ", kept).strip()

    def named(self, start, end):
        text = self.one_line(start, end)
        if re.match(r"friend\b(?!.*\()|static_assert|extern|__?asm", text):
            return None
        only_named = re.match(r"(?:template <[^{}]*> )?(?:class|struct|enum class|union) (\w+)$", text)
        if only_named:  # with a comment: a type that stands for something, and has no definition
            return Declaration("named", only_named[1], text, "", self.line_at(start) + 1)
        friend = r"template class|friend (class|struct)|template <.*> friend|friend (detail::|typename )?[\w:<>, ]+$"
        if re.match(friend, text) or "= delete" in text:
            return None
        text = re.sub(r"^((?:\[\[.*?\]\] )+)", "", text)
        text = re.sub(r"(\)(?: (?:const|noexcept(?:\([^()]*(?:\([^()]*\))*\))?|requires .*?))*) : [\w:<>, ]+[({].*$",
                      r"\1", text)
        kind = "function" if "(" in text else "value"
        return Declaration(kind, self.name_of(text), text, "", self.line_at(start) + 1)

    @staticmethod
    def name_of(text):
        concept = re.search(r"\bconcept (\w+)", text)
        if concept:
            return concept[1]
        using = re.search(r"\busing (\w+) =", text)
        if using or re.search(r"\busing ", text):
            return using[1] if using else ""
        operator = re.search(r"\boperator ?(?:\(\)|\[\]|\"\" ?_\w+|[^\s\w(]+|[\w:]+[ *&]*(?:<.*?>)?)(?=\s*\()", text)
        if operator:
            return operator[0]
        head = re.sub(r"\[\[.*?\]\]|\b(alignas|noexcept|decltype|explicit)\([^()]*(?:\([^()]*\)[^()]*)*\)", "",
                      without_angles(text))
        braces = r"\{[^{}]*(\{[^{}]*\}[^{}]*)*\}"
        head = re.sub(r"\brequires( requires)?\s*(%s)?\s*%s|\brequires\s*%s" % (NESTED, braces, NESTED), "", head)
        head = re.sub(r"^(template|requires [\w:]+(?= [\w~]+ ?\())", "", head.strip()).strip()
        function = re.search(r"(~?\w+) ?\(", head)
        if function and " = " not in head[:function.start()]:
            return function[1]
        value = re.match(r".*?(\w+)\s*(?:\[[^\]]*\])?(?: = .*|\{.*)?$", head)
        return value[1] if value else ""


def macros(text):
    """The public macros, with the comment above each."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = re.match(r"#define (ACRE_(?!DETAIL|HAS|RECORDER)(\w+?)(?:\([^)]*\))?)(\s|$)", line)
        if match:
            above, at = [], number
            while lines[at - 1].startswith("//"):
                at -= 1
                above.insert(0, lines[at].lstrip("/ "))
            yield Declaration("macro", match[1].split("(")[0], "#define " + match[1], "\n".join(above), number + 1)


def public_headers(include):
    for path in sorted((include / "acre").rglob("*.hpp")):
        # fwd.hpp declares what other headers define.
        if "detail" not in path.parts and path.name != "fwd.hpp":
            yield path


@functools.cache
def declared_in(path):
    text = path.read_text(encoding="utf-8")
    return [*macros(text), *Parser(text).parse()]


def parsed(path):
    """The first comment of a header, and its declarations with those that stand elsewhere."""
    declarations = list(declared_in(path))
    include = next(each for each in path.parents if each.name == "acre")
    elsewhere = ELSEWHERE.get(str(path.relative_to(include)))
    if elsewhere:
        declarations = declared_in(include / elsewhere) + declarations
    return first_comment(path.read_text(encoding="utf-8")), declarations


def exempt(declared, owner):
    """Names that need no comment: constructors' kin without arguments to explain, and those that say all."""
    name = declared.name
    guide_or_specialisation = r"\) -> %s<|\b(class|struct) %s<" % ((re.escape(name),) * 2)
    # The requests of checked are those of its resource, with the caller's place.
    return (OBVIOUS.match(name) or name.startswith("~") or (owner is not None and owner.name == "checked") or declared.text.endswith("= default") or
            re.search(guide_or_specialisation, declared.text) or
            (owner is not None and name == owner.name and
             re.search(r"\((?:const )?%s(<.*>)?&&? ?\w*\)" % name, declared.text)))


def undocumented(declarations, owner=None):
    for each in declarations:
        full = each.name if owner is None else f"{owner.name}::{each.name}"
        if not each.comment and not exempt(each, owner):
            yield full
        if each.kind != "macro":
            yield from undocumented(each.members, each if owner is None else Declaration(each.kind, full, "", "", 0))


def parts_of(lines):
    """The parts of a first comment as (kind, number of the first line, lines): `prose`, `example`, `list`, `table`.

    The first of some indented lines says what they are: an example if it is indented by five spaces behind the slashes,
    which are four here; else a list if it begins with a hyphen; else a table or output.
    """
    number = 1
    for indented, run in itertools.groupby(lines, key=lambda line: line.startswith("  ")):
        part = list(run)
        kind = "prose"
        if indented:
            kind = "example" if part[0].startswith("    ") else "list" if part[0].startswith("  - ") else "table"
        yield kind, number, part
        number += len(part)


def as_markdown(lines):
    result = []
    for kind, _, part in parts_of(lines):
        if kind in ("example", "table"):
            result += ["", "```cpp" if kind == "example" else "```text",
                       *textwrap.dedent("\n".join(part)).split("\n"), "```", ""]
        else:
            result += [re.sub(r"^(Use it|Cost|Ideas?|Thread rules|Threads|Memory)(:?)(?= )", r"**\1\2**", escape(line))
                       for line in part]
    return "\n".join(result)


def escape(text):
    """Angle brackets and stars of C++ outside of code."""
    def plain(part):
        return re.sub(r"([*_\[\]])", r"\\\1", part.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))

    parts = re.split(r"(`[^`]*`)", text)
    return "".join(each if each.startswith("`") else plain(each) for each in parts)


def wrapped(text):
    """A declaration in lines of at most 100 characters, broken behind commas."""
    text = re.sub(r"\[\[gnu::\w+\]\] ?|\[\[nodiscard.*?\]\] ?|__attribute__\(\(.*?\)\) ?", "", text)
    text = re.sub(r"^(template <.*?>) (?=\w)", r"\1\n", text, count=1)
    lines = []
    for line in text.split("\n"):
        while len(line) > 96 and ", " in line[:96]:
            cut = line[:96].rindex(", ") + 1
            lines.append(line[:cut])
            line = "    " + line[cut:].strip()
        lines.append(line)
    return "\n".join(lines)


def entry(declared):
    comment = escape(declared.comment) if declared.comment != ABOVE else ""
    return f"```cpp\n{wrapped(declared.text)}\n```\n\n{comment}\n"


def groups(declarations):
    """Neighbours with one name and comment are shown together."""
    result = []
    for each in declarations:
        if result and result[-1][0].name == each.name and each.comment in ("", result[-1][0].comment):
            result[-1].append(each)
        else:
            result.append([each])
    return result


def body(declarations, level):
    parts = []
    for group in groups([each for each in declarations if each.kind != "value" or level == 2 or each.text]):
        first = group[0]
        prefix = "#" * level
        parts.append(f"{prefix} {escape(first.name)}\n")
        text = "\n".join(wrapped(each.text) for each in group)
        comment = escape(first.comment) if first.comment != ABOVE else ""
        if first.kind == "enum class":
            parts.append(f"```cpp\n{text}\n```\n\n{comment}\n")
            parts += [f"- `{each.name}`" + (f": {escape(each.comment)}" if each.comment != ABOVE else "")
                      for each in first.members] + [""]
            continue
        parts.append(f"```cpp\n{text}\n```\n\n{comment}\n")
        if first.members:
            parts.append(body(first.members, level + 1))
    return "\n".join(parts)


def page(path, include):
    lines, declarations = parsed(path)
    name = path.relative_to(include)
    return f"# {path.stem}\n\n`#include <{name}>`\n\n{as_markdown(lines)}\n\n{body(declarations, 2)}"


def write_pages(include, folder):
    """Writes the pages; returns the list of them for mkdocs, by room."""
    rooms = {room: [] for room, _ in ROOMS}
    for path in public_headers(include):
        relative = path.relative_to(include / "acre")
        target = folder / relative.with_suffix(".md")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(path, include), encoding="utf-8")
        room = str(relative.parent) if relative.parent.parts else ""
        rooms[room].append({path.stem: str(pathlib.Path("reference") / relative.with_suffix(".md"))})
    return [{title: rooms[room]} for room, title in ROOMS if rooms[room]]


def all_undocumented(include):
    for path in public_headers(include):
        for name in undocumented(parsed(path)[1]):
            yield f"{path.relative_to(include)}: {name}"


def check(include):
    """Whether a public name has no comment, or is not in the reference at all: all that the module exports must be."""
    found = sorted(set(all_undocumented(include)))
    for each in found:
        print(f"no comment: {each}")
    there = {each.name for path in public_headers(include) for each in parsed(path)[1]}
    module = (ROOT / "modules/acre.cppm").read_text(encoding="utf-8")
    exported = re.findall(r"^using acre::(?:\w+::)?([^;]+);", module, re.MULTILINE)
    lost = [each for each in exported if each not in there]
    for each in lost:
        print(f"in modules/acre.cppm, and the reference does not find it: {each}")
    count = sum(1 for path in public_headers(include) for _ in names(parsed(path)[1]))
    print(f"{count} public names, {len(found)} of them without a comment")
    return bool(found or lost)


def names(declarations):
    for each in declarations:
        yield each
        yield from names(each.members)


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        sys.exit(__doc__)
    sys.exit(check(ROOT / "include"))

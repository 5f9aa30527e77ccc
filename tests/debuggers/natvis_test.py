"""debuggers/acre.natvis is well-formed, and each class and member that it names is in the headers.

Usage: natvis_test.py NATVIS INCLUDE     INCLUDE: the folder that has acre/
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

SPACE = "{http://schemas.microsoft.com/vstudio/debugger/natvis/2010}"
# What expressions name besides members: C++, the debugger's own words, and the file's variables.
OTHER_WORDS = {"this", "nullptr", "void", "int", "unsigned", "char", "size_t", "acre", "detail"}


def class_of(name):
    """acre::pool<*> -> pool"""
    return re.sub(r"<.*", "", name).rsplit("::", 1)[-1]


def declaring(headers, name):
    """The header that defines a class: its path."""
    for path, text in headers.items():
        if re.search(r"^(class|struct) (alignas\(\w+\) )?%s( :|\s*\{|$| final)" % name, text, re.MULTILINE):
            return path
    return None


def with_included(headers, path, seen):
    """The text of a header and of the headers of acre that it includes."""
    if path in seen or path not in headers:
        return ""
    seen.add(path)
    included = re.findall(r"#include <(acre/[^>]+)>", headers[path])
    return headers[path] + "".join(with_included(headers, each, seen) for each in included)


def expressions(type):
    """All expressions of a <Type>: what stands in braces in texts to show, all of other texts, and conditions."""
    for each in type.iter():
        tag = each.tag.replace(SPACE, "")
        text = each.text or ""
        yield from re.findall(r"\{([^}]*)\}", text) if tag == "DisplayString" else [text]
        yield from (each.attrib[name] for name in ("Condition", "InitialValue") if name in each.attrib)


def is_member(name, text):
    """Whether a member of this name is declared: `name;` or `name = ...;`, `name[...]`, `name{...}`."""
    return re.search(r"[\w>*&]\s+\**%s(;| = [^;]*;|\[|\{[^;]*\};)" % name, text) is not None


def unknown_members(type, text):
    variables = {each.attrib["Name"] for each in type.iter(SPACE + "Variable")}
    for expression in expressions(type):
        expression = re.sub(r",s$", "", expression)  # as text
        for name in re.findall(r"(?<![\w$])[A-Za-z_]\w*", expression):
            if name not in OTHER_WORDS | variables and not is_member(name, text):
                yield name


def main():
    natvis, include = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    headers = {str(path.relative_to(include)): path.read_text() for path in include.rglob("*.hpp")}
    faults = []
    types = tree.parse(natvis).getroot().findall(SPACE + "Type")
    for type in types:
        name = type.attrib["Name"]
        path = declaring(headers, class_of(name))
        if path is None:
            faults.append("%s: no header defines this class" % name)
            continue
        text = with_included(headers, path, set())
        faults += ["%s: %s is no member" % (name, each) for each in unknown_members(type, text)]
    print("%d classes" % len(types))
    sys.exit("\n".join(faults) if faults or not types else 0)


main()

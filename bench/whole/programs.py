"""The programs of bench/whole: real ones, on inputs that are made here from a fixed seed.

Usage: python3 bench/whole/programs.py FOLDER    makes text.txt, rows.json and rows.xml there
"""
import dataclasses
import json
import pathlib
import random
import shutil
import subprocess
import sys


@dataclasses.dataclass
class Program:
    name: str
    command: list
    same_output: bool = True
    kind: str = "program"  # or a shape of allocation, which is no part of the mean


def words(chance, count):
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    return ["".join(chance.choice(letters[:12]) for _ in range(chance.randint(2, 11))) for _ in range(count)]


def write(path, text):
    if not path.exists():
        path.write_text(text)
    return str(path)


def make_inputs(folder):
    chance = random.Random(20)
    vocabulary = words(chance, 4000)
    lines = "\n".join(" ".join(chance.choice(vocabulary) for _ in range(12)) for _ in range(30000)) + "\n"
    text = write(folder / "text.txt", lines)
    rows = [{"id": i, "name": chance.choice(vocabulary), "tags": [chance.choice(vocabulary) for _ in range(4)],
             "at": {"x": chance.random(), "y": chance.randint(0, 10**6)}} for i in range(40000)]
    rows_file = write(folder / "rows.json", json.dumps(rows))
    xml = "<rows>" + "".join(f'<row id="{r["id"]}" name="{r["name"]}"><x>{r["at"]["x"]}</x>' +
                             "".join(f"<tag>{t}</tag>" for t in r["tags"]) + "</row>" for r in rows) + "</rows>"
    xml_file = write(folder / "rows.xml", xml)
    return {"text": text, "rows": rows_file, "xml": xml_file}


PYTHON = """
import json, collections, sys
rows = json.load(open(sys.argv[1]))
by_name = collections.defaultdict(list)
for row in rows:
    by_name[row['name']].append({**row, 'key': str(row['id']) + row['name']})
total = sum(len(json.dumps(group)) for group in by_name.values())
words = collections.Counter(word for line in open(sys.argv[2]) for word in line.split())
print(total, len(by_name), words.most_common(3))
class Node:
    def __init__(self, key): self.key, self.left, self.right = key, None, None
def insert(root, key):
    while True:
        side = 'left' if key < root.key else 'right'
        below = getattr(root, side)
        if below is None: setattr(root, side, Node(key)); return
        root = below
import random
random.seed(3)
root = Node(0.5)
for _ in range(30000): insert(root, random.random())
"""

PERL = r"""
my (%count, %lists); my $line = 0;
open my $in, '<', $ARGV[0];
while (<$in>) { my @words = split; for (@words) { $count{$_}++; push @{$lists{substr($_,0,3)}}, "$_.$line"; } $line++; }
my @best = (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0..9];
my $text = join ',', map { scalar @{$lists{$_}} } sort keys %lists;
print "@best ", length($text), "\n";
"""

AWK = """
{ for (i = 1; i <= NF; ++i) { count[$i]++; where[$i] = where[$i] NR % 10; pair[$i, $(i - 1)]++ } }
END { n = 0; for (w in count) { n += length(where[w]) + count[w] } m = 0; for (p in pair) m++; print n, m }
"""

LUA = """
local function tree(depth) if depth == 0 then return {} end return {tree(depth - 1), tree(depth - 1)} end
local function check(t) if t[1] then return 1 + check(t[1]) + check(t[2]) end return 1 end
local total = 0
for i = 1, 12 do total = total + check(tree(14)) end
local words = {}
for line in io.lines(arg[1]) do for word in line:gmatch('%a+') do words[word] = (words[word] or '') .. #word end end
local n = 0
for word, text in pairs(words) do n = n + #text end
print(total, n)
"""

TCL = """
set in [open [lindex $argv 0]]
while {[gets $in line] >= 0} { foreach word [split $line] { incr count($word); lappend lists([string range $word 0 2]) $word } }
set total 0
foreach key [array names lists] { incr total [llength [lsort $lists($key)]] }
puts "$total [array size count]"
"""

RUBY = """
require 'json'
rows = JSON.parse(File.read(ARGV[0]))
groups = rows.group_by { |row| row['name'] }.transform_values { |list| list.map { |row| row['tags'].join('-') } }
puts groups.size, groups.sum { |_, list| list.sum(&:size) }, JSON.generate(rows).size
"""

SQL = """
create table t(id integer primary key, name text, x real, note text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
insert into t select i, 'name' || (i * 7919 % 5003), i * 0.37, hex(i * 31) || '-' || (i % 17) from n;
create index by_name on t(name);
select count(*), sum(length(note)) from t a join (select name, max(x) m from t group by name) b on a.name = b.name;
select name, group_concat(note) from t where id % 50 = 0 group by name order by 2 limit 20;
select count(distinct substr(note, 1, 3) || name) from t;
"""

STYLE = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="xml"/>
<xsl:key name="n" match="row" use="@name"/>
<xsl:template match="/"><out><xsl:for-each select="rows/row"><xsl:sort select="@name"/><r n="{@name}">
<xsl:value-of select="concat(x, '-', count(key('n', @name)))"/><xsl:for-each select="tag"><xsl:value-of select="."/></xsl:for-each>
</r></xsl:for-each></out></xsl:template></xsl:stylesheet>"""

CPP = """#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
std::map<std::string, std::vector<std::function<int(int)>>> table;
std::unordered_map<std::string, std::map<int, std::string>> other;
int count(const std::string& s) { std::regex r{"a+b*"}; return std::regex_match(s, r) ? table[s].size() : other[s].size(); }
"""


def graph(chance):
    edges = [f"  n{chance.randint(0, 220)} -> n{chance.randint(0, 220)};" for _ in range(330)]
    return "digraph g {\n" + "\n".join(edges) + "\n}\n"


def all_programs(folder):
    root = pathlib.Path(__file__).resolve().parents[2]
    inputs = make_inputs(folder)
    chance = random.Random(21)
    cpp = write(folder / "unit.cpp", CPP)
    dot = write(folder / "graph.dot", graph(chance))
    pdf = next((path for path in ("/usr/share/doc/libtasn1-doc/libtasn1.pdf",) if pathlib.Path(path).exists()), None)
    python = subprocess.run(["python3", "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
    smt = write(folder / "problem.smt2", smt_problem(chance))
    found = [
        Program("python3", [python.stdout.strip(), write(folder / "a.py", PYTHON), inputs["rows"], inputs["text"]]),
        Program("python3-malloc", ["env", "PYTHONMALLOC=malloc", python.stdout.strip(), write(folder / "a.py", PYTHON),
                                   inputs["rows"], inputs["text"]]),
        Program("perl", ["perl", write(folder / "a.pl", PERL), inputs["text"]]),
        Program("gawk", ["gawk", "-f", write(folder / "a.awk", AWK), inputs["text"]]),
        Program("mawk", ["mawk", "-f", write(folder / "a.awk", AWK), inputs["text"]]),
        Program("jq", ["jq", "-c", "group_by(.name) | map({n: .[0].name, c: length, t: map(.tags[]) | unique})",
                       inputs["rows"]]),
        Program("xmllint", ["xmllint", "--xpath", "count(//row[x > 0.5]/tag)", inputs["xml"]]),
        Program("xsltproc", ["xsltproc", write(folder / "a.xsl", STYLE), inputs["xml"]]),
        Program("lua", ["lua5.4", write(folder / "a.lua", LUA), inputs["text"]]),
        Program("tclsh", ["tclsh", write(folder / "a.tcl", TCL), inputs["text"]]),
        Program("ruby", ["ruby", write(folder / "a.rb", RUBY), inputs["rows"]]),
        Program("sqlite3", ["sqlite3", ":memory:", ".read " + write(folder / "a.sql", SQL)]),
        Program("g++", ["g++", "-S", "-O1", "-std=c++17", cpp, "-o", "/dev/null"]),
        Program("clang", ["clang-19", "-fsyntax-only", "-std=c++17", cpp]),
        Program("dot", ["dot", "-Tsvg", dot]),
        Program("z3", ["z3", smt]),
        Program("git", ["git", "-C", str(pathlib.Path(__file__).resolve().parent), "log", "--stat", "-n", "150"]),
        Program("cmake", ["cmake", "--help-full"]),
        Program("clang-format", ["clang-format-19", str(root / "include/acre/observe/checked.hpp")]),
        Program("sort", ["sort", "--parallel=2", inputs["text"]]),
        Program("short", ["sh", "-c",
                          "for each in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do ls / ; done"]),
    ]
    shapes = folder / "shapes"
    subprocess.run(["g++", "-O2", "-std=c++20", "-fno-builtin", pathlib.Path(__file__).resolve().parent / "shapes.cpp",
                    "-o", shapes, "-lpthread"], check=True)
    for shape, threads in (("larson", 4), ("larson", 16), ("xmalloc", 4), ("scratch", 4), ("mixed", 1), ("large", 1)):
        found.append(Program(f"{shape}-{threads}", [str(shapes), shape, str(threads)], kind="shape"))
    if pdf:
        found.append(Program("pdftotext", ["pdftotext", "-layout", pdf, "-"]))
    return found


def smt_problem(chance):
    lines = [f"(declare-const v{i} Int)" for i in range(30)]
    for _ in range(60):
        a, b, c = (f"v{chance.randint(0, 29)}" for _ in range(3))
        sum_below, difference_above = chance.randint(-20, 60), chance.randint(-10, 30)
        lines.append(f"(assert (or (< (+ {a} {b}) {sum_below}) (> (- {c} {a}) {difference_above})))")
    lines += ["(assert (distinct " + " ".join(f"v{i}" for i in range(20)) + "))", "(check-sat)"]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    made_in = pathlib.Path(sys.argv[1])
    made_in.mkdir(parents=True, exist_ok=True)
    make_inputs(made_in)

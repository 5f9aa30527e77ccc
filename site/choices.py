"""The picture of the choices: one question after the other, and the types that answer it, as SVG within a page.

It has the page's colours, so it is readable in light and dark, and letters that stay readable at 390 pixels.
"""
from html import escape

# Question, what is meant, the answer for one thread and for several: (name, page).
ROWS = [
    ("All die together?", "a frame, a request, a parse",
     ("arena", "guide/arena/"), ("concurrent_arena", "guide/concurrent_arena/")),
    ("Within a function?", "temporaries",
     ("scratch", "guide/scratch/"), ("thread_scratch", "guide/scratch/#thread_scratch")),
    ("One type, one by one?", "bullets, connections, nodes",
     ("object_pool<T>", "guide/object_pool/"), ("concurrent_object_pool", "guide/concurrent_pool/")),
    ("Many sizes, any order?", "maps, strings, graphs",
     ("multi_pool", "guide/multi_pool/"), ("concurrent_multi_pool", "guide/concurrent_pool/#concurrent_multi_pool")),
    ("In order of making?", "messages, frames, jobs",
     ("multi_arena", "guide/multi_arena/"), ("concurrent_multi_arena", "guide/concurrent_multi_arena/")),
    ("A known maximum?", "memory taken up front",
     ("chunk_pool, typed_arena", "guide/chunk_pool/"), ("wait_free_object_pool", "guide/wait_free_pool/")),
    ("Not measured yet?", "let the program tell",
     ("acre advise", "guide/advise/"), None),
]

WIDTH, ROW, LEFT = 720, 128, 340
STYLE = """
.acre-choices { width: 100%; max-width: 46rem; height: auto; display: block; margin: 1rem auto; }
.acre-choices text { font-family: inherit; fill: var(--md-default-fg-color, #222); }
.acre-choices .question { font-size: 24px; font-weight: 700; }
.acre-choices .meant, .acre-choices .label { font-size: 21px; fill: var(--md-default-fg-color--light, #555); }
.acre-choices .answer { font-size: 22px; font-weight: 600; fill: var(--md-typeset-a-color, #3949ab); }
.acre-choices rect { fill: var(--md-code-bg-color, #f5f5f5); stroke: var(--md-default-fg-color--lighter, #aaa); }
.acre-choices path { stroke: var(--md-default-fg-color--light, #777); stroke-width: 2; fill: none; }
.acre-choices a:hover .answer, .acre-choices a:focus .answer { text-decoration: underline; }
"""


def text(x, y, kind, words):
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(words)}</text>'


def answer(x, y, label, named):
    name, page = named
    return (text(x, y, "label", label) +
            f'<a href="{escape(page)}">{text(x, y + 27, "answer", name)}</a>')


def row(index, question, meant, one, several):
    top = index * ROW
    parts = [f'<rect x="1" y="{top + 2}" width="{LEFT}" height="{ROW - 34}" rx="10"/>',
             text(16, top + 42, "question", question), text(16, top + 76, "meant", meant),
             f'<path d="M{LEFT + 2} {top + 49} h34"/>']
    if several is None:
        parts.append(answer(LEFT + 48, top + 40, "ask", one))
    else:
        parts += [answer(LEFT + 48, top + 22, "one thread", one),
                  answer(LEFT + 48, top + 77, "several threads", several)]
    if index + 1 < len(ROWS):
        parts.append(f'<path d="M60 {top + ROW - 31} v31"/>' + text(72, top + ROW - 9, "label", "no"))
    return "\n".join(parts)


def picture():
    rows = "\n".join(row(index, *each) for index, each in enumerate(ROWS))
    return (f'<style>{STYLE}</style>\n<svg class="acre-choices" viewBox="0 0 {WIDTH} {len(ROWS) * ROW}" '
            f'xmlns="http://www.w3.org/2000/svg" role="group" aria-label="Which type for which allocations">\n'
            f'{rows}\n</svg>\n')

"""The automaton as an SVG picture: the chain of states, and the formulas below it."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from ostinato.inspect.automaton.automaton import EventAutomaton
from ostinato.inspect.automaton.formulas import AND
from ostinato.inspect.automaton.layout import HALF_HEIGHT, LOOP, MARGIN, Box, Layout, Line, layout_of
from ostinato.inspect.automaton.structure import FINAL, Edge, Kind
from ostinato.inspect.automaton.text import distinct_formulas, negation_lines

LINE = 19  # from one line of the formulas to the next
LETTER = 7.3
MOST_LETTERS = 120

# Plain values, not variables: simple viewers know no others. In the dark the same classes get other colours.
LIGHT = {
    "paper": "#ffffff", "ink": "#1c2330", "begin": "#1f4e9e", "take": "#0b6e4f", "proceed": "#8a5a00", "ignore": "#6b7280",
    "absent": "#b3261e",
}  # fmt: skip
DARK = {
    "paper": "#14181f", "ink": "#e6e9ef", "begin": "#8ab4f8", "take": "#6fd3a8", "proceed": "#f0b95a", "ignore": "#9aa3b2",
    "absent": "#ff8a80",
}  # fmt: skip


def to_svg(automaton: EventAutomaton) -> str:
    layout = layout_of(automaton)
    lines = _formula_lines(automaton)
    width = max(layout.width, 2 * MARGIN + LETTER * max(len(line) for line in lines))
    height = layout.height + LINE * len(lines) + MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" {size} role="img">',
        f"<title>The automaton of an event pattern, {automaton.query.selection.value}</title>",
        f"<style>{_style()}</style>",
        f'<rect class="paper" {size}/>',
        "<defs>", *(_arrow(kind) for kind in Kind), "</defs>",
        *(_line(line, layout) for line in layout.lines),
        *(_loop(edge, layout.boxes[edge.source]) for edge in layout.loops),
        *_states(automaton, layout),
        *_negations(automaton, layout),
        *_formulas(lines, layout.height),
        "</svg>",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _style() -> str:
    rules = [
        "text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:12px}",
        "text.state{font-size:14px;text-anchor:middle}",
        "text.edge{text-anchor:middle}",
        "path{fill:none;stroke-width:1.6}",
        "path.ignore{stroke-dasharray:5 4}",
        "path.proceed{stroke-dasharray:1.5 3;stroke-linecap:round;stroke-width:2}",
        "rect.state{stroke-width:1.6}",
        "rect.absent{stroke-width:1.4;stroke-dasharray:5 4;fill:none}",
    ]
    return "".join(rules) + _colours(LIGHT) + f"@media (prefers-color-scheme:dark){{{_colours(DARK)}}}"


def _colours(colours: dict[str, str]) -> str:
    found = [f".paper,rect.state{{fill:{colours['paper']}}}text{{fill:{colours['ink']}}}rect.state{{stroke:{colours['ink']}}}"]
    for kind in (*(kind.value for kind in Kind), "absent"):
        colour = colours[kind]
        found.append(f"path.{kind},rect.{kind},.head-{kind}{{stroke:{colour}}}text.{kind}{{fill:{colour}}}")
        if kind != "proceed":
            found.append(f".head-{kind}{{fill:{colour}}}")
    return "".join(found)


def _arrow(kind: Kind) -> str:
    """A proceed edge consumes nothing: its head is open."""
    shape = "M1,1 L8,5 L1,9" if kind is Kind.PROCEED else "M1,1 L8,5 L1,9 Z"
    return (
        f'<marker id="to-{kind.value}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path class="head-{kind.value}" d="{shape}" style="stroke-dasharray:none"/></marker>'
    )


def _path(kind: Kind, course: str, label: str, x: float, y: float) -> str:
    name = kind.value
    return (
        f'<path class="{name}" d="{course}" marker-end="url(#to-{name})"/>'
        f'<text class="edge {name}" x="{x:.0f}" y="{y:.0f}">{escape(label)}</text>'
    )


def _line(line: Line, layout: Layout) -> str:
    source, target = layout.boxes[line.edge.source], layout.boxes[line.edge.target]
    if line.ceiling is not None:
        return _long_line(line, line.ceiling, source, target)
    lower = 13 if line.bow > 0 else (-13 if line.bow < 0 else 0)
    inset = 4 if lower else 0  # the border of a state is round
    x1, y1, x2, y2 = source.x + source.half_width - inset, source.y + lower, target.x - target.half_width - 2 + inset, target.y + lower
    middle = (x1 + x2) / 2
    course = f"M{x1:.0f},{y1:.0f} C{middle:.0f},{y1 + line.bow:.0f} {middle:.0f},{y2 + line.bow:.0f} {x2:.0f},{y2:.0f}"
    return _path(line.edge.kind, course, line.label, middle, (y1 + y2) / 2 + 0.75 * line.bow + (16 if line.bow > 0 else -8))


def _long_line(line: Line, ceiling: float, source: Box, target: Box) -> str:
    """Up through the gap beside its state, along above all states, and down through another gap."""
    x1, y1, x2, y2 = source.x + source.half_width - 5, source.y - 14, target.x - target.half_width + 4, target.y - 14
    up, down = line.leaves_at, line.arrives_at
    course = (
        f"M{x1:.0f},{y1:.0f} Q{up:.0f},{y1 - 4:.0f} {up:.0f},{y1 - 24:.0f} L{up:.0f},{ceiling + 12:.0f} Q{up:.0f},{ceiling:.0f} "
        f"{up + 12:.0f},{ceiling:.0f} L{down - 12:.0f},{ceiling:.0f} Q{down:.0f},{ceiling:.0f} {down:.0f},{ceiling + 12:.0f} "
        f"L{down:.0f},{y2 - 24:.0f} Q{down:.0f},{y2 - 6:.0f} {x2:.0f},{y2:.0f}"
    )
    return _path(line.edge.kind, course, line.label, (up + down) / 2, ceiling - 6)


def _loop(edge: Edge, box: Box) -> str:
    """Take above its state, ignore below."""
    side = -1 if edge.kind is Kind.TAKE else 1
    y, far = box.y + side * HALF_HEIGHT, box.y + side * (HALF_HEIGHT + LOOP)
    course = f"M{box.x - 9:.0f},{y:.0f} C{box.x - 34:.0f},{far:.0f} {box.x + 34:.0f},{far:.0f} {box.x + 9:.0f},{y + 2 * side:.0f}"
    return _path(edge.kind, course, edge.kind.value, box.x, far - 4 if side < 0 else far + 4)


def _states(automaton: EventAutomaton, layout: Layout) -> Iterator[str]:
    for state in automaton.structure.states:
        box = layout.boxes[state.name]
        yield _rect("state", box, 0)
        if state.name == FINAL:
            yield _rect("state", box, 4)
        if state.name == automaton.structure.start:
            x, y = box.x - box.half_width, box.y
            yield f'<path class="begin" d="M{x - 26:.0f},{y:.0f} L{x - 2:.0f},{y:.0f}" marker-end="url(#to-begin)"/>'
        yield f'<text class="state" x="{box.x:.0f}" y="{box.y + 5:.0f}">{escape(state.name)}</text>'


def _rect(name: str, box: Box, inset: float) -> str:
    half, high = box.half_width - inset, HALF_HEIGHT - inset
    size = f'width="{2 * half:.0f}" height="{2 * high:.0f}" rx="{high:.0f}"'
    return f'<rect class="{name}" x="{box.x - half:.0f}" y="{box.y - high:.0f}" {size}/>'


def _negations(automaton: EventAutomaton, layout: Layout) -> Iterator[str]:
    hanging: dict[str, int] = {}
    for negation in automaton.negations:
        box = layout.boxes[negation.state]
        nth = hanging.get(negation.state, 0)
        hanging[negation.state] = nth + 1
        half = len(negation.shown) * LETTER / 2 + 10
        top = box.y + HALF_HEIGHT + LOOP + 12 + 30 * nth
        yield f'<rect class="absent" x="{box.x - half:.0f}" y="{top:.0f}" width="{2 * half:.0f}" height="22" rx="4"/>'
        yield f'<text class="edge absent" x="{box.x:.0f}" y="{top + 15:.0f}">{escape(negation.shown)}</text>'


def _formula_lines(automaton: EventAutomaton) -> list[str]:
    formulas = distinct_formulas(automaton)
    pairs = [(f"θ{f.name}", f.basic) for f in formulas]
    pairs += [(f"θ*{f.name}", f.pushed) for f in formulas if f.pushed is not None]
    pairs += negation_lines(automaton)
    width = max(len(name) for name, _ in pairs)
    return [line for name, text in pairs for line in _wrapped(f"{name:{width}} = {text}", width + 3)]


def _wrapped(line: str, indent: int) -> Iterator[str]:
    """Broken before an ∧, where it is too long."""
    while len(line) > MOST_LETTERS and AND in line[indent:MOST_LETTERS]:
        at = line.rindex(AND, indent, MOST_LETTERS)
        yield line[:at]
        line = " " * indent + line[at + 1 :]
    yield line


def _formulas(lines: list[str], top: float) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f'<text xml:space="preserve" x="{MARGIN}" y="{top + LINE * number + 12:.0f}">{escape(line)}</text>'

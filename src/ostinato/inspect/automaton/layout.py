"""Where states and edges are drawn: a chain from left to right, alternatives above one another, long edges above all."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.inspect.automaton.automaton import EventAutomaton
from ostinato.inspect.automaton.formulas import FALSE
from ostinato.inspect.automaton.structure import Edge, Kind, Structure

HALF_HEIGHT = 24
LETTER = 8.4  # the width of a letter of a state's name
GAP = 120  # between the borders of two states of the chain
LANE = 196  # from one alternative to the next
LOOP = 42  # how far a loop reaches beyond its state
BOW = 46  # how far parallel edges are apart
STOREY = 28  # from one long edge to the next
ABOVE_LOOPS = 22  # from the loops and their labels to the first of them
MARGIN = 40


@dataclass(frozen=True)
class Box:
    """A state's place: its middle, and half its width."""

    x: float
    y: float
    half_width: float


@dataclass(frozen=True)
class Line:
    """An edge from one state to another. `bow` is how far its middle lies off the straight line, downwards. An edge past other states
    has a `ceiling`, the height where it runs, and leaves and arrives through the gaps beside its states."""

    edge: Edge
    label: str
    bow: float = 0
    ceiling: float | None = None
    leaves_at: float = 0
    arrives_at: float = 0


@dataclass(frozen=True)
class Layout:
    boxes: dict[str, Box]
    lines: tuple[Line, ...]
    loops: tuple[Edge, ...]
    width: float
    height: float


def layout_of(automaton: EventAutomaton) -> Layout:
    structure = automaton.structure
    shown = [edge for edge in structure.edges if automaton.formula(edge).basic != FALSE]
    ranks = _ranks(structure)
    forward = [edge for edge in shown if edge.source != edge.target]
    long = sum(ranks[edge.target] - ranks[edge.source] > 1 for edge in forward)
    boxes = _boxes(structure, ranks, MARGIN + STOREY * long + (ABOVE_LOOPS if long else 0))
    height = max(box.y for box in boxes.values()) + _below(automaton) + MARGIN
    width = max(box.x + box.half_width for box in boxes.values()) + MARGIN
    return Layout(boxes, tuple(_lines(structure, forward, ranks, boxes)), tuple(e for e in shown if e.source == e.target), width, height)


def _ranks(structure: Structure) -> dict[str, int]:
    """How many edges the longest way to each state has; states stand in an order in which all edges lead on."""
    ranks = {structure.start: 0}
    changed = True
    while changed:
        changed = False
        for edge in structure.edges:
            if edge.source != edge.target and edge.source in ranks:
                rank = ranks[edge.source] + 1
                if rank > ranks.get(edge.target, -1):
                    ranks[edge.target] = rank
                    changed = True
    return ranks


def _boxes(structure: Structure, ranks: dict[str, int], top: float) -> dict[str, Box]:
    boxes: dict[str, Box] = {}
    most = max(list(ranks.values()).count(rank) for rank in ranks.values())
    x = float(MARGIN)
    for rank in range(max(ranks.values()) + 1):
        names = [state.name for state in structure.states if ranks.get(state.name) == rank]
        half = max(HALF_HEIGHT, max(len(name) for name in names) * LETTER / 2 + 12)
        x += half
        for lane, name in enumerate(names):
            y = top + LOOP + HALF_HEIGHT + LANE * (lane + (most - len(names)) / 2)
            boxes[name] = Box(x, y, max(HALF_HEIGHT, len(name) * LETTER / 2 + 12))
        x += half + GAP
    return boxes


def _below(automaton: EventAutomaton) -> float:
    """What hangs below a state: its ignore loop, and the negations."""
    stacked = [sum(negation.state == state.name for negation in automaton.negations) for state in automaton.structure.states]
    return HALF_HEIGHT + LOOP + 20 + 30 * max(stacked)


def _lines(structure: Structure, forward: list[Edge], ranks: dict[str, int], boxes: dict[str, Box]) -> list[Line]:
    lines = []
    between: dict[tuple[str, str], int] = {}
    storey = min(box.y for box in boxes.values()) - HALF_HEIGHT - LOOP - ABOVE_LOOPS
    at_side: dict[tuple[int, bool], int] = {}
    for edge in sorted(forward, key=lambda e: ranks[e.target] - ranks[e.source]):
        label = edge.kind.value
        if edge.kind is Kind.BEGIN and len(structure.state(edge.source).waits_for) > 1:
            label += f" {structure.element(edge.element or 0).variable}"
        if ranks[edge.target] - ranks[edge.source] == 1:
            nth = between.get((edge.source, edge.target), 0)
            between[edge.source, edge.target] = nth + 1
            lines.append(Line(edge, label, bow=BOW * ((nth + 1) // 2) * (1 if nth % 2 else -1)))
        else:
            leaves, arrives = (_side(ranks, boxes, name, right, at_side) for name, right in ((edge.source, True), (edge.target, False)))
            lines.append(Line(edge, label, ceiling=storey, leaves_at=leaves, arrives_at=arrives))
            storey -= STOREY
    return lines


def _side(ranks: dict[str, int], boxes: dict[str, Box], name: str, right: bool, used: dict[tuple[int, bool], int]) -> float:
    """A place in the gap beside a column of states, another one for each edge."""
    rank = ranks[name]
    half = max(boxes[other].half_width for other in boxes if ranks[other] == rank)
    nth = used.get((rank, right), 0)
    used[rank, right] = nth + 1
    return boxes[name].x + (half + 12 + 6 * nth if right else -(half + 18 + 6 * nth))

"""Random NEEL texts over small streams: nested to a depth, with negations, correlation, alternatives, lists, members without variable,
members that may be left empty, ties and nulls.

Every text means something over `COLUMNS` read by `type_by="kind"`. `queries()` draws a text with the rows of a stream; `texts()` a text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from ostinato.expr.types import INT, STRING
from ostinato.expr.typing.schema import Schema

KINDS = "ABCD"
COLUMNS = (("id", INT), ("ts", INT), ("kind", STRING), ("x", INT), ("y", INT), ("s", STRING))
SCHEMA = Schema(COLUMNS)
NUMBERS = ("x", "y")
OPERATORS = ("=", "=", "!=", "<", "<=", ">", ">=")


@dataclass
class _Names:
    """`count` numbers the variables; `left` is how many more positive ones the text may have, so that a match is cheap to look for.
    `bare`: some members have no variable; `optional`: some may be left empty; `negations`: some things must not be there."""

    left: int
    lists: bool
    bare: bool
    optional: bool
    negations: bool
    count: int = 0
    kleene: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Drawn:
    """`positive` are the named variables that a match of it holds."""

    text: str
    positive: tuple[str, ...]


@st.composite
def texts(
    draw: st.DrawFn,
    depth: int = 4,
    lists: bool = False,
    windows: str = "both",
    bare: bool = False,
    optional: bool = False,
    most: int = 5,
    longest: int = 10,
) -> str:
    """`depth` is how deep groups nest; `lists`: with `B+ b[]`; `windows` are "time", "events" or "both", `longest` what they span; `bare`:
    some members have no variable; `optional`: with `B? b`, and `B* b[]` where there are lists; `most`: how many events a match has, lists
    as one."""
    by_events = windows == "events" or (windows == "both" and draw(st.integers(0, 3)) == 0)
    # a negation beside members that are left empty may stand at an end, where a window of events does not bound it
    empties = optional and not (by_events and draw(st.booleans()))
    names = _Names(draw(st.integers(2, most)), lists, bare, empties, not (by_events and empties))
    root = _group(draw, names, depth, (), ends=not by_events)
    window = f"{draw(st.integers(2, longest))} events" if by_events else str(draw(st.integers(1, longest)))
    shown = draw(st.lists(st.sampled_from(root.positive), unique=True)) if root.positive and draw(st.integers(0, 4)) == 0 else []
    return f"PATTERN {root.text} WITHIN {window}" + (f" RETURN {', '.join(shown)}" if shown else "")


def _group(
    draw: st.DrawFn, names: _Names, depth: int, around: tuple[str, ...], ends: bool, negated: bool = False, needed: bool = False
) -> _Drawn:
    """`around` stands before it in the text. `ends`: a negation may stand at an end of it, for something bounds it there; `needed`: it
    must not be left empty."""
    operator = draw(st.sampled_from(("SEQ", "SEQ", "SEQ", "AND", "AND", "OR")))
    count = draw(st.integers(1, 3))
    members: list[_Drawn] = []
    for _ in range(count):
        if members and names.left <= 0 and not negated:
            break
        seen = (*around, *(name for member in members for name in member.positive))
        members.append(_member(draw, names, depth - 1, seen, ends, negated, operator == "OR" or (needed and not members)))
    positive = tuple(name for member in members for name in member.positive)
    written = [(member.text, member.positive) for member in members]
    if operator != "OR" and names.negations:
        for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2)))):
            place = _place(draw, operator, len(written), ends)
            if place is not None:
                before = (*around, *(name for _, shown in written[:place] for name in shown))
                bounded = ends or operator == "AND" or 0 < place < len(written)
                written.insert(place, (_negation(draw, names, depth - 1, (*around, *positive), before, bounded), ()))
    conditions = _conditions(draw, names, positive, around, around)
    return _Drawn(f"{operator}({', '.join((*(text for text, _ in written), *conditions))})", positive)


def _place(draw: st.DrawFn, operator: str, count: int, ends: bool) -> int | None:
    if operator == "AND" or ends:
        return draw(st.integers(0, count))
    return draw(st.integers(1, count - 1)) if count > 1 else None


def _member(draw: st.DrawFn, names: _Names, depth: int, around: tuple[str, ...], ends: bool, negated: bool, needed: bool) -> _Drawn:
    if depth > 0 and draw(st.integers(0, 2)) == 0:
        return _group(draw, names, depth, around, ends, negated, needed)
    return _event(draw, names, negated, needed)


def _event(draw: st.DrawFn, names: _Names, negated: bool, needed: bool = True) -> _Drawn:
    kind = draw(st.sampled_from(KINDS))
    names.count += 1
    name = f"{kind.lower()}{names.count}"
    if not negated:
        names.left -= 1
    left_out = names.optional and not needed and draw(st.integers(0, 2)) == 0
    if names.bare and draw(st.integers(0, 3)) == 0:
        return _Drawn(f"{kind}?" if left_out else kind, ())
    if names.lists and draw(st.integers(0, 4)) == 0:
        names.kleene.add(name)
        return _Drawn(f"{kind}{'*' if left_out else '+'} {name}[]", (name,))
    return _Drawn(f"{kind}{'?' if left_out else ''} {name}", (name,))


def _negation(draw: st.DrawFn, names: _Names, depth: int, around: tuple[str, ...], before: tuple[str, ...], ends: bool) -> str:
    """Of those `around` it, some stand `before` it in the text."""
    if depth > 0 and draw(st.booleans()):
        return "!" + _group(draw, names, depth, before, ends, negated=True, needed=True).text
    event = _event(draw, names, negated=True)
    conditions = _conditions(draw, names, event.positive, around, before)
    return f"!({event.text}, {' AND '.join(conditions)})" if conditions else f"!{event.text}"


def _conditions(draw: st.DrawFn, names: _Names, own: tuple[str, ...], around: tuple[str, ...], before: tuple[str, ...]) -> list[str]:
    count = draw(st.sampled_from((0, 0, 1, 1, 2)))
    return [_condition(draw, names, own, around, before) for _ in range(count)] if own else []


def _condition(draw: st.DrawFn, names: _Names, own: tuple[str, ...], around: tuple[str, ...], before: tuple[str, ...]) -> str:
    first = draw(st.sampled_from(own))
    column = draw(st.sampled_from(NUMBERS))
    form = draw(st.integers(0, 5))
    if form == 0 and first not in names.kleene:
        return f"{first}.s {draw(st.sampled_from(('=', '!=')))} '{draw(st.sampled_from('pq'))}'"
    if form == 1:
        return f"{_value(draw, names, first, column)} {draw(st.sampled_from(OPERATORS))} {draw(st.integers(0, 3))}"
    if form == 2 and first in names.kleene:
        return f"{first}[i].{column} {draw(st.sampled_from(('>=', '<=', '!=')))} {_running(draw, names, first, (*before, *own), column)}"
    others = (*own, *around)
    second = draw(st.sampled_from(others))
    operator = draw(st.sampled_from(OPERATORS))
    chained = f" {operator} {_value(draw, names, draw(st.sampled_from(others)), column)}" if form == 3 else ""
    return f"{_value(draw, names, first, column)} {operator} {_value(draw, names, second, draw(st.sampled_from(NUMBERS)))}{chained}"


def _value(draw: st.DrawFn, names: _Names, name: str, column: str) -> str:
    if name not in names.kleene:
        return f"count({name})" if names.optional and draw(st.integers(0, 5)) == 0 else f"{name}.{column}"
    aggregates = tuple(f"{function}({name}[].{column})" for function in ("max", "min", "sum", "count"))
    forms = (f"{name}[1].{column}", f"{name}[{name}.LEN].{column}", f"{name}.LEN", f"count({name}[])", *aggregates)
    return draw(st.sampled_from(forms))


def _running(draw: st.DrawFn, names: _Names, name: str, visible: tuple[str, ...], column: str) -> str:
    """What each event of a list is compared with: those of the list before it, or what stands before the list in the text."""
    before = tuple(_value(draw, names, other, column) for other in visible[: visible.index(name)])
    return draw(st.sampled_from((f"{name}[i-1].{column}", f"max({name}[..i-1].{column})", f"sum({name}[..i-1].{column})", *before)))


@st.composite
def streams(draw: st.DrawFn, at_most: int = 10, ties: bool = True, at_least: int = 0) -> list[dict[str, Any]]:
    """Events in the order of their times; `ties`: some are simultaneous."""
    rows: list[dict[str, Any]] = []
    time = 0
    numbers = st.one_of(st.none(), st.integers(0, 3), st.integers(0, 3))
    for number in range(draw(st.integers(at_least, at_most))):
        time += draw(st.integers(0 if ties else 1, 2))
        kind = draw(st.sampled_from(KINDS + "Z"))
        x, y, s = draw(numbers), draw(numbers), draw(st.sampled_from((None, "p", "q")))
        rows.append({"id": number, "ts": time, "kind": kind, "x": x, "y": y, "s": s})
    return rows


@st.composite
def queries(draw: st.DrawFn, at_most: int = 10, at_least: int = 0, **drawn: Any) -> tuple[str, list[dict[str, Any]]]:
    """`drawn` is as for `texts`."""
    return draw(texts(**drawn)), draw(streams(at_most=at_most, at_least=at_least))

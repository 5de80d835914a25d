"""Random SASE+ queries of a given shape: a selection strategy, a place for a negation, and what repeats in the pattern."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

SELECTIONS = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
NEGATIONS = ("none", "start", "middle", "end")
REPEATS = ("nothing", "+", "*", "+ in an alternative")
OUTPUTS = ("all", "nonoverlapping", "first", "count", "compressed", "aggregates")
COMPARISONS = ("<", "<=", ">", ">=", "!=")
FUNCTIONS = ("min", "max", "sum", "avg", "count", "first", "last", "stddev")


@dataclass(frozen=True)
class Drawn:
    """`columnar`: every condition on a selected event looks at that event alone, so that each strategy can evaluate the query."""

    text: str
    columnar: bool
    options: dict[str, str]


def random_query(rng: random.Random, selection: str, negation: str, repeats: str) -> Drawn:
    """`a`, `b` and `c` in sequence; `b` is the list, if there is one, `d` its alternative, and `x` what is negated."""
    middle = {"nothing": f"{_kind(rng)} b", "+": f"{_kind(rng)}+ b[ ]", "*": f"{_kind(rng)}* b[ ]"}.get(repeats)
    items = [f"A{_mark(rng)} a", middle or f"({_kind(rng)}+ b[ ] | {_kind(rng)} d)", f"{_kind(rng)}{_mark(rng)} c"]
    listed = repeats != "nothing"
    columnar = rng.random() < 0.4
    conditions = ["[k]"] * (rng.random() < 0.5) + _conditions(rng, listed, columnar)
    names = [*("a", "b", "c"), *("d",) * (middle is None)]
    if negation != "none":
        negated = rng.choice((("x",), ("x",), ("x", "y")))
        place = {"start": 0, "middle": rng.choice((1, 2)), "end": 3}[negation]
        items.insert(place, _absence(rng, negated))
        conditions += _about_forbidden(rng, negated, listed)
        names += negated
    window = rng.choice((f"WITHIN {rng.randint(1, 5)}", f"WITHIN {rng.randint(2, 5)} events", *("",) * 2 * (negation == "none")))
    if not window and any("?" in item for item in (items[0], items[-1])):
        window = "WITHIN 6"
    text = f"PATTERN SEQ({', '.join(items)}) WHERE {selection}({', '.join(names)}) {{ {' and '.join(conditions)} }} {window}"
    if negation == "middle" and not window:
        text += "WITHIN 5"
    columnar = columnar and not (selection == "strict_contiguity" and "[k]" in conditions)  # keys cut the stream, which strictness looks at
    return Drawn(text, columnar, {"type_by": "kind", "ties": rng.choice(("order", "order", "order", "epoch"))})


def with_output(drawn: Drawn, output: str) -> str:
    """Aggregates over all matches need something to return."""
    returned = "RETURN count(*) AS n, count(b.v) AS held, sum(b.v) AS total, avg(c.v) AS mean, min(a.v) AS least, max(b.v) AS most "
    return f"{drawn.text} {returned if output == 'aggregates' else ''}OUTPUT {output}"


def random_rows(rng: random.Random) -> list[dict[str, Any]]:
    """With ties in time, a few nulls, and two kinds of events in two partitions."""
    nulls = (None,) * rng.choice((0, 0, 1))
    time = 0
    rows = []
    for _ in range(rng.choice((0, 4, 6, 7, 8, 8))):
        time += rng.choice((0, 1, 1, 1, 2))
        key, value = rng.choice(("x", "x", "y", *nulls)), rng.choice((0, 1, 2, 3, *nulls))
        rows.append({"ts": time, "kind": rng.choice("AAB"), "k": key, "v": value})
    return rows


def _mark(rng: random.Random) -> str:
    return rng.choice(("", "", "?"))


def _kind(rng: random.Random) -> str:
    return rng.choice("AB")


def _absence(rng: random.Random, negated: tuple[str, ...]) -> str:
    events = ", ".join(f"{_kind(rng)} {name}" for name in negated)
    return f"~({events})" if len(negated) == 1 else f"~(SEQ({events}))"


def _conditions(rng: random.Random, listed: bool, columnar: bool) -> list[str]:
    sign, number = rng.choice(COMPARISONS), rng.randint(0, 3)
    element = "b[i]" if listed else "b"
    of_one = (f"a.v {sign} {number}", f"{element}.v {sign} {number}", f"c.v {sign} {number}", f"not (c.v {sign} {number})")
    if columnar:
        return rng.sample(of_one, rng.randint(0, 2))
    of_several = [f"c.v {sign} a.v", f"{element}.v {sign} 80%*a.v"]
    if listed:
        function = rng.choice(FUNCTIONS)
        of_several += [
            f"b[i].v {sign} b[i-1].v", f"b[i].v {sign} {function}(b[..i-1].v)", f"b[i].v {sign} b[1].v", f"b[b.LEN].v {sign} {number}",
            f"b.LEN {sign} {number}", f"{function}(b[].v) {sign} {number}", f"c.v {sign} {function}(b[].v)",
        ]  # fmt: skip
    return [rng.choice(of_several), *rng.sample(of_one, rng.randint(0, 1))]


def _about_forbidden(rng: random.Random, negated: tuple[str, ...], listed: bool) -> list[str]:
    sign = rng.choice(COMPARISONS)
    compared = [f"x.v {sign} 1", f"x.v {sign} a.v", f"x.v {sign} c.v", f"x.v {sign} {'b.LEN' if listed else 'b.v'}"]
    if len(negated) == 2:
        compared += [f"y.v {sign} x.v"] * 2
    return rng.sample(compared, rng.randint(0, 1))

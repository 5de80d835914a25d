"""Random SASE+ queries as text, with small streams: every element, index, aggregate, strategy, window and output."""

from __future__ import annotations

import datetime
import random
from typing import Any

from tests.conformance.case import Case, Matches, Rows

TYPES = "ABC"
STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
OUTPUTS = ("all", "nonoverlapping", "first", "count")
COMPARISONS = ("<", "<=", ">", ">=", "=", "!=")
START = datetime.datetime(2026, 1, 1)


def random_case(seed: int) -> Case:
    """What is expected is left open; its kind says whether matches or rows come out."""
    rng = random.Random(seed)
    elements = [(rng.choice(TYPES), rng.choice(("", "", "+", "+", "*", "?")), name) for name in "abcd"[: rng.randint(1, 4)]]
    strategy = rng.choice(STRATEGIES)
    output = rng.choice([one for one in OUTPUTS if one != "first" or strategy != "skip_till_any_match"])
    timestamps = rng.random() < 0.3
    text = (
        f"PATTERN SEQ({_sequence(rng, elements)})\n"
        f"WHERE {strategy}({', '.join(_declared(mark, name) for _, mark, name in elements)}) {{ {_conditions(rng, elements)} }}"
        f"{_window(rng, timestamps)}{_returns(rng, elements)}\nOUTPUT {output}"
    )
    columns = (("id", "string"), ("ts", "timestamp" if timestamps else "int"), ("kind", "string"), ("symbol", "string"))
    columns += (("price", "int"), ("volume", "double"))
    options = {"type_by": "kind", "ties": rng.choice(("order", "order", "epoch"))}
    size = rng.randint(0, 9 if strategy == "skip_till_any_match" else 14)
    unknown = Rows((), ()) if "\nRETURN" in text or output == "count" else Matches(())
    return Case(f"random-{seed}", "sase", text, columns, _events(rng, size, timestamps), unknown, options)


def _sequence(rng: random.Random, elements: list[tuple[str, str, str]]) -> str:
    """Now and then neighbours are alternatives of one another; an alternative selects at least one event."""
    shown = [f"{kind}{mark} {_declared(mark, name)}" for kind, mark, name in elements]
    if len(elements) < 2 or rng.random() < 0.6:
        return ", ".join(shown)
    first = rng.randrange(len(elements) - 1)
    split_statement, end = first + 1, rng.randint(first + 2, len(elements))
    for place in (first, split_statement):
        kind, mark, name = elements[place]
        elements[place] = (kind, "+" if mark in ("+", "*") else "", name)
        shown[place] = f"{kind}{elements[place][1]} {_declared(mark, name)}"
    rest = shown[split_statement] if end - split_statement == 1 else f"SEQ({', '.join(shown[split_statement:end])})"
    choice = rng.choice((f"({shown[first]} | {rest})", f"({shown[first]} OR {rest})", f"ANY({shown[first]}, {rest})"))
    return ", ".join([*shown[:first], choice, *shown[end:]])


def _declared(mark: str, name: str) -> str:
    return name + ("[ ]" if mark in ("+", "*") else "")


def _events(rng: random.Random, size: int, timestamps: bool) -> tuple[tuple[Any, ...], ...]:
    kinds = rng.choice(("A", "AB", "ABC"))
    times = sorted(rng.randint(0, size) for _ in range(size))
    return tuple(
        (
            f"e{number}",
            START + datetime.timedelta(minutes=time) if timestamps else time,
            rng.choice(kinds),
            rng.choice(("x", "x", "x", "y", None)),
            rng.choice((0, 1, 2, 3, 4, 5, None)),
            rng.choice((0.5, 1.0, 2.5, 3.0, None)),
        )
        for number, time in enumerate(times, 1)
    )


def _conditions(rng: random.Random, elements: list[tuple[str, str, str]]) -> str:
    found = ["[symbol]"] if rng.random() < 0.5 else []
    for _ in range(rng.randint(0, 3)):
        place = rng.randrange(len(elements))
        _, mark, name = elements[place]
        condition = f"{_subject(rng, mark, name)} {rng.choice(COMPARISONS)} {_object(rng, elements[:place])}"
        if mark in ("+", "*") and rng.random() < 0.5:
            condition = _stepping(rng, name)
        if rng.random() < 0.15:
            condition = f"not ({condition})"
        found.append(condition)
    return rng.choice((" and ", ", ")).join(found)


def _stepping(rng: random.Random, name: str) -> str:
    other = rng.choice((f"{name}[i-1].price", f"{name}[1].price", f"{_aggregate(rng)}({name}[..i-1].price)", f"count({name}[..i-1])"))
    return f"{name}[i].{rng.choice(('price', 'volume'))} {rng.choice(COMPARISONS)} {other}"


def _subject(rng: random.Random, mark: str, name: str) -> str:
    attribute = rng.choice(("price", "price", "volume"))
    if mark not in ("+", "*"):
        return f"{name}.{attribute}"
    finished = (f"{name}.LEN", f"{name}[{name}.LEN].{attribute}", f"{_aggregate(rng)}({name}[].{attribute})")
    return rng.choice((f"{name}[1].{attribute}", f"{name}[i].{attribute}", f"{name}[i].{attribute}", *finished))


def _object(rng: random.Random, earlier: list[tuple[str, str, str]]) -> str:
    if not earlier or rng.random() < 0.4:
        return str(rng.randint(0, 5))
    _, mark, name = rng.choice(earlier)
    if mark not in ("+", "*"):
        return rng.choice((f"{name}.price", f"{name}.price + 1", f"80%*{name}.volume"))
    return rng.choice((f"{name}[1].price", f"{name}[{name}.LEN].price", f"{name}.LEN", f"{_aggregate(rng)}({name}[].price)"))


def _aggregate(rng: random.Random) -> str:
    return rng.choice(("min", "max", "sum", "avg", "count", "first", "last", "stddev"))


def _window(rng: random.Random, timestamps: bool) -> str:
    length = rng.randint(0, 6)
    return rng.choice(("", f"\nWITHIN {length + 1} events", f"\nWITHIN {length}{' minutes' if timestamps else ''}"))


def _returns(rng: random.Random, elements: list[tuple[str, str, str]]) -> str:
    if rng.random() < 0.7:
        return ""
    items = []
    for _, mark, name in elements:
        if mark in ("+", "*"):
            items += [f"{name}[1].id AS {name}_first", f"{_aggregate(rng)}({name}[].price) AS {name}_value", f"{name}.LEN AS {name}_len"]
        else:
            items.append(f"{name}.id AS {name}_id")
    return f"\nRETURN {', '.join(items)}"

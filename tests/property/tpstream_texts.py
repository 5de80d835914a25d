"""Random TPStream texts with streams that they can read: nulls, ties, several partitions and streams, rows that last, both latencies."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from ostinato.algebra.allen import Relation

ZERO = datetime.datetime(2026, 1, 1)
NAMES = ("A", "B", "C", "D")
OF_VALUES = (  # unknown where these are unknown
    "f", "NOT f", "g", "f OR g", "f AND NOT g", "x > 1", "x >= 2", "x < 2", "x <> 1", "x IN (0, 3)", "x BETWEEN 1 AND 2", "x + 1 > 2 OR f",
)  # fmt: skip
CONDITIONS = (
    *OF_VALUES, "f", "f IS NULL", "x > PREV(x)", "x >= PREV(x, 2)", "PREV(f)", "NOT PREV(f)", "PREV(x) IS NULL OR x < PREV(x)", "TRUE",
)  # fmt: skip
READ = (("s",), ("s",), ("s",), ("s", "t"), ("s", "j"))  # streams: of events, of others with the same columns, of rows that last
RETURNED = (
    "first({}.id)", "last({}.id)", "count({}.*)", "count({}.x)", "sum({}.x)", "avg({}.x)", "min({}.x)", "max({}.id)", "stddev({}.x)",
    "first({}.x)", "last({}.x)", "max({}.x) - min({}.x)", "sum({}.x * 2) + 1", "first({}.k)", "min({}.s)", "last({}.s)",
)  # fmt: skip


@dataclass(frozen=True)
class Written:
    """A text, the tables that it reads, and whether times are integers."""

    text: str
    tables: dict[str, pa.Table]
    latency: str
    integers: bool

    @property
    def options(self) -> dict[str, str]:
        return {"language": "tpstream", "latency": self.latency}


@st.composite
def written(
    draw: st.DrawFn,
    most_rows: int = 16,
    most_situations: int = 4,
    read: Sequence[tuple[str, ...]] = READ,
    conditions: Sequence[str] = CONDITIONS,
    pattern: bool = True,
    bounded: bool = False,
) -> Written:
    """Without a pattern the situations are what is returned. `bounded`: it is said how long each lasts at the most."""
    integers = draw(st.booleans())
    streams = draw(st.sampled_from(read))
    names = NAMES[: draw(st.integers(1, most_situations))]
    tables = {name: draw(_table(integers, lasting=name == "j", most_rows=most_rows)) for name in streams}
    text = "\n".join(draw(_clauses(streams, names, integers, conditions, pattern, bounded)))
    return Written(text, tables, draw(st.sampled_from(("earliest", "final"))), integers)


@st.composite
def _clauses(
    draw: st.DrawFn,
    streams: tuple[str, ...],
    names: tuple[str, ...],
    integers: bool,
    conditions: Sequence[str],
    pattern: bool,
    bounded: bool,
) -> list[str]:
    said = {"s": "s", "t": "t", "j": "j INTERVAL (begun, ended)"}
    every = len(streams) > 1 and "j" not in streams and draw(st.booleans())
    partition = draw(st.sampled_from(("", "", " PARTITION BY k", " PARTITION BY k, s")))
    definitions = []
    for name in names:
        source = draw(st.sampled_from(streams))
        stream = "" if every or source == "s" and draw(st.booleans()) else f" FROM {said[source]}"
        definitions.append(f"{name}{stream} AS {draw(_condition(conditions))}{draw(_duration(integers, bounded))}")
    found = [
        f"FROM {', '.join(said[stream] for stream in (streams if every else streams[:1]))}{partition}",
        f"DEFINE {', '.join(definitions)}",
    ]
    if not pattern:
        return [*found, draw(_returned_of_each(names))]
    found.append(f"PATTERN {draw(_pattern(names, integers))}")
    if draw(st.integers(0, 5)):
        found.append(f"WITHIN {_shown(draw(st.sampled_from((3, 8, 20, 30))), integers)}")
    returned = draw(st.lists(st.tuples(st.sampled_from(RETURNED), st.sampled_from(names)), max_size=4))
    every_id = [f"first({name}.id) AS {name.lower()}_id" for name in names]
    items = [f"{form.replace('{}', name)} AS r{number}" for number, (form, name) in enumerate(returned)]
    return [*found, f"RETURN {', '.join((*every_id, *items))}"]


@st.composite
def _returned_of_each(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    """Of the situation, whichever it is, or of those of one name."""
    owners = ("", "", *(f"{name}." for name in names))
    returned = draw(st.lists(st.tuples(st.sampled_from(RETURNED), st.sampled_from(owners)), max_size=4))
    items = ["count(*) AS n", *(f"{form.replace('{}.', owner)} AS r{number}" for number, (form, owner) in enumerate(returned))]
    return f"RETURN {', '.join(items)}"


@st.composite
def _condition(draw: st.DrawFn, conditions: Sequence[str]) -> str:
    first = draw(st.sampled_from(conditions))
    if draw(st.integers(0, 5)):
        return first
    return f"({first}) {draw(st.sampled_from(('AND', 'OR')))} ({draw(st.sampled_from(conditions))})"


@st.composite
def _duration(draw: st.DrawFn, integers: bool, bounded: bool) -> str:
    upper = (" AT MOST ", " BETWEEN ")
    kind = draw(st.sampled_from(upper if bounded else ("", "", "", "", " AT LEAST ", *upper)))
    if not kind:
        return ""
    least = draw(st.integers(1, 4))
    if kind != " BETWEEN ":
        return kind + _shown(least, integers)
    return f" BETWEEN {_shown(least, integers)} AND {_shown(least + draw(st.integers(0, 6)), integers)}"


def _shown(length: int, integers: bool) -> str:
    return str(length) if integers else f"{length} SECONDS"


@st.composite
def _pattern(draw: st.DrawFn, names: tuple[str, ...], integers: bool) -> str:
    if len(names) == 1:
        return names[0]
    edges = [(names[draw(st.integers(0, place - 1))], names[place]) for place in range(1, len(names))]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    edges += draw(st.lists(st.sampled_from(pairs), max_size=2))
    return " AND ".join(draw(_constraint(*(edge if draw(st.booleans()) else edge[::-1]), integers)) for edge in edges)


@st.composite
def _constraint(draw: st.DrawFn, first: str, second: str, integers: bool) -> str:
    groups = (("before", "meets"), ("starts", "equals", "started by"), ("overlaps", "finished by", "contains"))
    chosen = [list(draw(st.sampled_from(groups)))] if draw(st.booleans()) else []
    chosen.append([relation.value for relation in draw(st.lists(st.sampled_from(Relation), min_size=3, max_size=9, unique=True))])
    relations = list(dict.fromkeys(name for group in chosen for name in group))
    return f"{first} {';'.join(draw(_relation(name, integers)) for name in relations)} {second}"


@st.composite
def _relation(draw: st.DrawFn, name: str, integers: bool) -> str:
    spelled = draw(st.sampled_from((name, name.replace(" ", "_"), "".join(word.capitalize() for word in name.split()), name.upper())))
    if name not in ("before", "after", "overlaps", "overlapped by") or draw(st.integers(0, 3)):
        return spelled
    least = draw(st.integers(0, 4))
    return f"{spelled}[{_shown(least, integers)}, {_shown(max(1, least + draw(st.integers(0, 6))), integers)}]"


@st.composite
def _table(draw: st.DrawFn, integers: bool, lasting: bool, most_rows: int) -> pa.Table:
    """Rows come from a seed: what is drawn one by one is mostly the simplest value, and situations that never end match nothing."""
    count = draw(st.sampled_from((0, 1, most_rows // 2, most_rows, most_rows, most_rows)))
    random = Random(draw(st.integers(0, 2**32)))
    now, rows = random.randint(-3, 3), []
    for number in range(count):
        now += random.choice((1, 1, 1, 1, 0, 2, 3))
        rows.append(_row(random, number, now, integers, lasting))
    return pa.Table.from_pylist(rows, _schema(integers, lasting))


def _schema(integers: bool, lasting: bool) -> pa.Schema:
    time = pa.int64() if integers else pa.timestamp("us")
    times = [("begun", time), ("ended", time)] if lasting else [("ts", time)]
    return pa.schema(
        [*times, ("id", pa.int64()), ("k", pa.int64()), ("s", pa.string()), ("x", pa.int64()), ("f", pa.bool_()), ("g", pa.bool_())]
    )


def _row(random: Random, number: int, now: int, integers: bool, lasting: bool) -> dict[str, Any]:
    times = {"ended" if lasting else "ts": _time(now, integers)}
    if lasting:
        times = {"begun": _time(now - random.randint(0, 8), integers)} | times
    return times | {
        "id": number,
        "k": random.choice((0, 0, 0, 1, None)),
        "s": random.choice(("a", "a", "a", "b", None)),
        "x": random.choice((0, 1, 2, 3, None)),
        "f": random.choice((True, True, True, False, False, None)),
        "g": random.choice((True, False, False, None)),
    }


def _time(value: int, integers: bool) -> Any:
    return value if integers else ZERO + datetime.timedelta(seconds=value)

"""Random CEL texts over small streams: nested to a depth, several queries that read each other, aggregates, ties, nulls, events that last.

Every text means something over `SCHEMAS`. `texts()` draws a text; `rows()` the rows of all streams, by name, in the order of time. Both are
made of a seed: choices that are drawn one by one make texts of which few find anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

BOX = pa.struct([("number", pa.int64()), ("tag", pa.string())])
SCHEMAS = {
    "stock": pa.schema(
        [("ts", pa.int64()), ("id", pa.int64()), ("name", pa.string()), ("price", pa.int64()), ("volume", pa.int64()), ("box", BOX)]
    ),
    "news": pa.schema([("ts", pa.int64()), ("id", pa.int64()), ("name", pa.string()), ("score", pa.int64())]),
    "quote": pa.schema([("ts", pa.int64()), ("id", pa.int64()), ("name", pa.string()), ("price", pa.float64()), ("box", BOX)]),
    "trade": pa.schema([("start_ts", pa.int64()), ("end_ts", pa.int64()), ("id", pa.int64()), ("name", pa.string())]),  # lasts
}
TIMES = ("ts", "start_ts", "end_ts")
KINDS = {pa.int64(): "int", pa.float64(): "float", pa.string(): "text", BOX: "box"}
INSIDE = {"int": ".number", "text": ".tag"}  # fields of structs, by what they are
COMPARISONS = ("=", "!=", "!=", "<", "<=", "<=", ">", ">=", ">=")
Attributes = tuple[tuple[str, str], ...]  # names and kinds


@dataclass(frozen=True)
class _Drawn:
    """`combined`: it needs parentheses as a right operand."""

    text: str
    attributes: Attributes
    combined: bool = False


@dataclass
class _Text:
    """What a text has so far. `streams` can be read from here on; `folds` and `joins` are how many more it may have, so that results are
    cheap to compute. `nested`: queries inside of others may publish, and stand on the right."""

    streams: dict[str, Attributes]
    folds: int
    joins: int
    nested: bool
    count: int = 0
    published: list[str] = field(default_factory=list)

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"


def _attributes_of(stream: str) -> Attributes:
    """Ids tell events apart, and are carried along; compared with anything else they would all be alike."""
    columns = [column for column in SCHEMAS[stream] if column.name not in TIMES]
    return tuple((column.name, "id" if column.name == "id" else KINDS[column.type]) for column in columns)


SEEDS = st.integers(0, 2**48)


def texts(**limits: Any) -> st.SearchStrategy[str]:
    return SEEDS.map(lambda seed: text_of(Random(seed), **limits))


def rows(**limits: Any) -> st.SearchStrategy[dict[str, list[dict[str, Any]]]]:
    return SEEDS.map(lambda seed: rows_of(Random(seed), **limits))


def text_of(
    random: Random, queries: int = 3, folds: int = 2, joins: int = 4, nested: bool = True, streams: tuple[str, ...] = tuple(SCHEMAS)
) -> str:
    """`queries`, `folds` and `joins` are the most that a text has; not `nested`: every query is one automaton."""
    made = _Text({name: _attributes_of(name) for name in streams}, folds, joins, nested)
    parts = []
    for _ in range(random.randint(0, queries - 1)):
        drawn = _query(random, made, random.randint(0, 3))
        name = made.fresh("s")
        parts.append(f"{drawn.text} PUBLISH {name}")
        made.streams[name] = drawn.attributes
    last = _query(random, made, random.randint(1, 4)).text
    return ";\n".join((*random.sample(parts, len(parts)), last))


def _query(random: Random, made: _Text, depth: int) -> _Drawn:
    """A whole query: with SELECT, with FROM, or bare."""
    drawn = _expression(random, made, depth)
    form = random.choice(("select", "select", "star", "from", "bare"))
    if form == "select":
        return _selected(random, made, drawn)
    return _Drawn({"star": "SELECT * FROM ", "from": "FROM ", "bare": ""}[form] + drawn.text, drawn.attributes, drawn.combined)


def _expression(random: Random, made: _Text, depth: int) -> _Drawn:
    forms = ["stream"]
    if depth > 0:
        forms += ["filter", "select"] + ["next"] * 2 * (made.joins > 0) + ["fold"] * 2 * (made.folds > 0)
    form = random.choice(forms)
    if form == "stream":
        name = random.choice(sorted(made.streams))
        return _Drawn(name, made.streams[name])
    if form in ("next", "fold"):
        return _next(random, made, depth) if form == "next" else _fold(random, made, depth)
    inner = _expression(random, made, depth - 1)
    if form == "filter":
        return _filtered(random, inner)
    return _parenthesised(random, made, _selected(random, made, inner))


def _filtered(random: Random, inner: _Drawn) -> _Drawn:
    condition = _condition(random, [("", inner.attributes)], duration=True)
    return _Drawn(f"FILTER {{{condition}}} ({inner.text})", inner.attributes)


def _parenthesised(random: Random, made: _Text, query: _Drawn) -> _Drawn:
    """A query inside of another one; some publish."""
    if not made.nested or random.randint(0, 5):
        return _Drawn(f"({query.text})", query.attributes)
    name = made.fresh("p")
    made.streams[name] = query.attributes
    return _Drawn(f"({query.text} PUBLISH {name})", query.attributes)


def _selected(random: Random, made: _Text, inner: _Drawn) -> _Drawn:
    """Some attributes as they are, some renamed, some computed."""
    items: list[str] = []
    attributes: list[tuple[str, str]] = []
    kept = random.sample(inner.attributes, random.randint(0, min(5, len(inner.attributes))))
    for name, kind in kept:
        renamed = random.randint(0, 2) == 0
        called = made.fresh("r") if renamed else name
        items.append(f"{name} AS {called}" if renamed else name)
        attributes.append((called, kind))
    if random.randint(0, 2) == 0 or not items:
        kind = random.choice(("int", "int", "text"))
        called = made.fresh("c")
        items.append(f"{_value(random, [('', inner.attributes)], kind)} AS {called}")
        attributes.append((called, kind))
    return _Drawn(f"SELECT {', '.join(items)} FROM {inner.text}", tuple(attributes))


def _operand(random: Random, made: _Text, depth: int) -> _Drawn:
    """On the right: a stream, filtered or projected; some are combined."""
    if not made.nested and depth > 0:
        made.joins, kept = 0, made.joins
        made.folds, folds = 0, made.folds
        drawn = _expression(random, made, min(depth, 2))
        made.joins, made.folds = kept, folds
    else:
        drawn = _expression(random, made, depth)
    return _Drawn(f"({drawn.text})", drawn.attributes) if drawn.combined else drawn


def _next(random: Random, made: _Text, depth: int) -> _Drawn:
    made.joins -= 1
    first = _expression(random, made, depth - 1)
    second = _operand(random, made, random.randint(0, depth - 1))
    first = _renamed(made, first, second.attributes)
    braces = ""
    if random.randint(0, 4):
        braces = f" {{{_condition(random, [('$1.', first.attributes), ('$2.', second.attributes)])}}}"
    return _Drawn(f"{first.text} NEXT{braces} {second.text}", _joined(first.attributes, second.attributes), combined=True)


def _fold(random: Random, made: _Text, depth: int) -> _Drawn:
    """The first stream is made to have what the second has, and a few attributes to aggregate in."""
    made.folds -= 1
    inner = _expression(random, made, depth - 1)
    second = _operand(random, made, random.randint(0, min(depth - 1, 1)))
    if any((f"{name}_1", kind) in second.attributes for name, kind in second.attributes):
        second = _anew(made, second)
    shared = [(name, kind) for name, kind in second.attributes]
    kinds = ("int", "int", "text") if not _names([("", inner.attributes)], "box") else ("int", "text", "box")
    carried = [(made.fresh("agg"), random.choice(kinds)) for _ in range(random.randint(0, 2))]
    items = [f"{_value(random, [('', inner.attributes)], kind)} AS {name}" for name, kind in shared + carried]
    own = tuple(shared + carried)
    if not items:
        return inner
    first = f"(SELECT {', '.join(items)} FROM {inner.text})"
    seen = [("$1.", own), ("$.", own), ("$2.", second.attributes)]
    changed = [(name, kind) for name, kind in carried if random.random() < 0.5]
    changes = [f"{_value(random, seen, kind)} AS {name}" for name, kind in changed]
    conditions = [_condition(random, seen) if random.randint(0, 2) else "TRUE" for _ in range(2)]
    text = f"{first} FOLD {{{', '.join((*conditions, *changes))}}} {second.text}"
    result = [(f"{name}_1", kind) for name, kind in shared] + shared + carried
    return _Drawn(text, tuple(result), combined=True)


def _renamed(made: _Text, first: _Drawn, second: Attributes) -> _Drawn:
    """With other names where NEXT would give two attributes one name."""
    names = [name for name, _ in _joined(first.attributes, second)]
    if len(set(names)) == len(names):
        return first
    return _anew(made, first)


def _anew(made: _Text, drawn: _Drawn) -> _Drawn:
    """All attributes with names that nothing else has."""
    attributes = [(name, made.fresh("n"), kind) for name, kind in drawn.attributes]
    items = ", ".join(f"{name} AS {called}" for name, called, _ in attributes)
    return _Drawn(f"(SELECT {items} FROM {drawn.text})", tuple((called, kind) for _, called, kind in attributes))


def _joined(first: Attributes, second: Attributes) -> Attributes:
    taken = {name for name, _ in second}
    return (*((f"{name}_1" if name in taken else name, kind) for name, kind in first), *second)


Seen = list[tuple[str, Attributes]]  # decorators with what they are of


def _condition(random: Random, seen: Seen, duration: bool = False) -> str:
    terms = [_comparison(random, seen, duration) for _ in range(random.choice((1, 1, 1, 2, 3)))]
    joined = random.choice((" AND ", " OR ")).join(terms)
    return f"NOT ({joined})" if random.randint(0, 9) == 0 else joined


def _comparison(random: Random, seen: Seen, duration: bool) -> str:
    if duration and random.randint(0, 4) == 0:
        return f"DUR {random.choice(('<', '<=', '<=', '>', '>=', '!='))} {random.randint(0, 4)}"
    kind = random.choice(("int", "int", "text"))
    named = _names(seen, kind)
    if not named:
        return f"{random.randint(0, 2)} <= {random.randint(0, 2)}"
    left = random.choice(named)
    if random.randint(0, 9) == 0:
        return f"{left} IS {random.choice(('', 'NOT ', 'NOT '))}NULL"
    others = [(owner, tuple(own for own in attributes if not left.startswith(f"{owner}{own[0]}"))) for owner, attributes in seen]
    return f"{left} {random.choice(COMPARISONS)} {_value(random, others, kind)}"


def _names(seen: Seen, kind: str) -> list[str]:
    """Numbers of both kinds are compared with each other."""
    wanted = ("int", "float") if kind in ("int", "float") else (kind,)
    named = [f"{owner}{name}" for owner, attributes in seen for name, own in attributes if own in wanted]
    if kind not in INSIDE:
        return named
    return named + [f"{owner}{name}{INSIDE[kind]}" for owner, attributes in seen for name, own in attributes if own == "box"]


def _value(random: Random, seen: Seen, kind: str) -> str:
    """`float` is met by any number; an id by another one, if there is one, and so is a struct."""
    named = _names(seen, kind)
    if kind in ("id", "box"):
        return random.choice(named or ["0" if kind == "id" else "NULL"])
    if kind == "text":
        plain, other = random.choice((*named, *named, "'u'", "'v'")), random.choice((*named, "'w'"))
        form = random.randint(0, 9)
        if form == 0:
            return f"{plain} || {other}"
        return f"upper({plain})" if form == 1 else plain
    if not named or random.randint(0, 3) == 0:
        return str(random.randint(0, 6))
    name = random.choice(named)
    form = random.randint(0, 5)
    if form == 0:
        return f"{name} {random.choice(('+', '-'))} {random.choice((*named, '1', '2'))}"
    return f"greatest({name}, {random.choice(named)})" if form == 1 else name


def rows_of(random: Random, most: int = 12, ties: bool = True) -> dict[str, list[dict[str, Any]]]:
    """Of all streams. `ties`: some events of a stream happen at the same time, and with those of others."""
    counts = (0, *range(most // 3, most + 1))
    numbered = enumerate(SCHEMAS.items())
    return {name: _stream(random, schema, random.choice(counts), number * 100, ties) for number, (name, schema) in numbered}


def _stream(random: Random, schema: pa.Schema, count: int, first: int, ties: bool) -> list[dict[str, Any]]:
    found, time = [], 0
    for number in range(count):
        time += random.choice((0, 1, 1, 1, 2) if ties else (1, 1, 2, 3))
        row = {column.name: _cell(random, column.type) for column in schema} | {"id": first + number + 1}
        times = {"ts": time} if "ts" in schema.names else {"start_ts": time - random.randint(0, 3), "end_ts": time}
        found.append(row | times)
    return found


def _cell(random: Random, kind: pa.DataType) -> Any:
    if kind == BOX:
        return random.choice((None, *2 * [{field.name: _cell(random, field.type) for field in BOX}]))
    if kind == pa.string():
        return random.choice(("u", "u", "v", "v", "w", None))
    number = random.choice((None, *range(7), *range(7)))
    return number if kind == pa.int64() or number is None else number + random.choice((0.0, 0.5))


def tables(given: dict[str, list[dict[str, Any]]]) -> dict[str, pa.Table]:
    return {name: pa.Table.from_pylist(found, SCHEMAS[name]) for name, found in given.items()}

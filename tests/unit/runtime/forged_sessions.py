"""Forges snapshots, with right checksums, and goes on from those that are accepted. Run as a program, so that a crash is seen from outside:
`python -m tests.unit.runtime.forged_sessions FIRST COUNT`. The last line says what happened, the one before names the case at work."""

from __future__ import annotations

import faulthandler
import random
import resource
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

import ostinato as ost
from ostinato.runtime.snapshots import snapshot

SCHEMA = pa.schema([("ts", pa.int64()), ("type", pa.string()), ("k", pa.int64()), ("s", pa.string()), ("p", pa.float64())])
DEVICE = pa.struct([("id", pa.int64()), ("name", pa.string())])
NESTED = pa.schema([*SCHEMA, ("dev", DEVICE), ("tags", pa.list_(pa.string())), ("marks", pa.map_(pa.string(), pa.int64()))])
SECONDS = 60  # of a processor, for one case: how busy the machine is makes no difference
MOST_MEMORY = 6 << 30


def row_pattern(pattern: str, define: str, measures: str = "FIRST(p) AS a, LAST(s) AS z", more: str = "", keys: str = "k") -> str:
    return f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY {keys} ORDER BY ts MEASURES {measures} {more}
        PATTERN ({pattern}) WITHIN 9 DEFINE {define})"""


def events(pattern: str, variables: str, where: str, more: str = "", selection: str = "skip_till_any_match") -> str:
    return f"PATTERN SEQ({pattern}) WHERE {selection}({variables}) {{ {where} }} WITHIN 9 {more}"


QUERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "scan": (row_pattern("A B+ C", "B AS p < PREV(p), C AS p > PREV(p)"), {}),
    "scan, all rows": (row_pattern("A B+", "B AS p < PREV(p)", "LAST(s) AS z", "ALL ROWS PER MATCH WITH UNMATCHED ROWS", "k, s"), {}),
    "scan, numbers": (row_pattern("A B*", "B AS p < NEXT(p)", "MATCH_NUMBER() AS n, LAST(s) AS z"), {}),
    "threads": (row_pattern("A B+ C", "B AS p < A.p AND s >= A.s, C AS p > A.p"), {}),
    "threads, skip": (row_pattern("A B+ C", "B AS p < A.p, C AS p > LAST(B.p)", more="AFTER MATCH SKIP TO LAST B", keys="s"), {}),
    "runs": (events("A a, B b, C c", "a, b, c", "[k] and b.p > a.p and c.s = a.s"), {}),
    "runs, counted": (events("A a, B+ b[], C c", "a, b[], c", "[k] and b[i].p > a.p", "OUTPUT count"), {"strategy": "runs"}),
    "runs, next": (events("A a, B+ b[], C c", "a, b[], c", "[k] and b[i].p > a.p", "RETURN a.s AS s", "skip_till_next_match"), {}),
    "runs, contiguous": (events("A a, B+ b[]", "a, b[]", "[k] and b[i].p > a.p", "", "strict_contiguity"), {}),
    "runs, compressed": (events("A a, B b, C c", "a, b, c", "[k] and b.p > a.p", "OUTPUT compressed"), {}),
    "backtrack": (events("A a, B b, C c", "a, b, c", "[k] and b.p > a.p"), {"strategy": "backtrack"}),
    "backtrack, apart": (events("A a, B b", "a, b", "[k] and b.s = a.s", "OUTPUT nonoverlapping"), {"strategy": "backtrack"}),
    "compact": (events("A a, B+ b[], C c", "a, b[], c", "[k]"), {}),
    "compact, apart": (events("A a, B+ b[], C c", "a, b[], c", "[k]", "OUTPUT nonoverlapping"), {}),
    "compact, compressed": (events("A a, B b, C c", "a, b, c", "[k]", "OUTPUT compressed"), {}),
    "tally": (events("A a, B+ b[], C c", "a, b[], c", "[k]", "OUTPUT count"), {}),
    "tally, aggregates": (events("A a, B b", "a, b", "[k]", "RETURN SUM(b.p) AS n, MAX(a.p) AS m OUTPUT aggregates"), {}),
    "runs, aggregates": (events("A a, B b", "a, b", "[k] and b.p > a.p", "RETURN SUM(b.p) AS n, MAX(a.s) AS m OUTPUT aggregates"), {}),
    "starts": (events("A+ a[], ~(C x), B b", "a[], x, b", "[k] and x.p > a[1].p", "OUTPUT count"), {}),
    "starts, outside": (events("~(C y), A+ a[], B b, ~(C x)", "y, a[], b, x", "[k]", "OUTPUT count"), {}),
    "absence": (events("A a, ~(C x), B b", "a, x, b", "[k]"), {}),
    "absence behind": (events("A a, B b, ~(C x)", "a, b, x", "[k] and x.p > a.p"), {}),
    "absence before": (events("~(C x), A a, B b", "x, a, b", "[k] and b.p > a.p", "OUTPUT nonoverlapping"), {}),
    "timeouts": (row_pattern("A B+ C", "B AS p < PREV(p), C AS p > PREV(p)", more="ONE ROW PER MATCH SHOW TIMEOUT MATCHES"), {}),
    "timeouts of threads": (row_pattern("A B+ C", "B AS p < A.p, C AS s > A.s", more="ONE ROW PER MATCH SHOW TIMEOUT MATCHES"), {}),
    "timeouts of runs": (events("A a, B b, C c", "a, b, c", "[k] and b.p > a.p", "OUTPUT timeouts"), {}),
    "timeouts of runs, next": (
        events(
            "A a, B+ b[], C c", "a, b[], c", "[k] and b[i].s > a.s", "RETURN a.s AS s, c.p AS p OUTPUT timeouts", "skip_till_next_match"
        ),
        {},
    ),
    "situations": (
        "FROM t PARTITION BY k DEFINE A AS p > 3, B AS s = 'x' AT LEAST 1, C AS p < PREV(p) PATTERN A overlaps;before[0, 4];contains B "
        "AND B before;meets;starts C WITHIN 9 RETURN first(A.s) AS s, avg(B.p) AS p, max(A.s) AS m, count(C.*) AS n",
        {},
    ),
    "situations, final": (
        "FROM t DEFINE A AS p > 3, B AS s = 'x' PATTERN A overlaps;during;equals;before B RETURN last(A.s) AS s, stddev(B.p) AS p",
        {"latency": "final"},
    ),
    "nested, scan": (row_pattern("A B+", "B AS dev.id < PREV(dev.id)", "FIRST(dev) AS d, LAST(tags) AS t, LAST(marks) AS m"), {}),
    "nested, all rows": (row_pattern("A B+", "B AS p < A.p", "FIRST(tags) AS t", "ALL ROWS PER MATCH WITH UNMATCHED ROWS", "dev.name"), {}),
    "nested, runs": (events("A a, B b", "a, b", "[dev.name] and b.dev.id > a.dev.id"), {}),
    "nested, compact": (events("A a, B+ b[], C c", "a, b[], c", "[k]"), {}),
    "nested, timeouts": (events("A a, B b, C c", "a, b, c", "[k] and b.dev.name > a.dev.name", "OUTPUT timeouts"), {}),
    "streams": ("PATTERN SEQ(t a, u+ b[], t c) WHERE skip_till_any_match(a, b[], c) { [k] and b[i].p > a.p } WITHIN 9", {}),
    "composed": (
        "PATTERN SEQ(A a, B b) WHERE [k] and b.p > a.p WITHIN 6 RETURN P(a.k, b.s, b.p); "
        "PATTERN SEQ(P x, P y) WHERE [s] and y.p > x.p WITHIN 9 RETURN x.k AS k, y.s AS s",
        {},
    ),
    "composed, beside": (
        "PATTERN SEQ(A a, B b, ~(C x)) WHERE [k] WITHIN 4 RETURN P(a.k, b.s, b.p); PATTERN SEQ(P x, C y) WHERE [k] and y.p > x.p WITHIN 9",
        {},
    ),
    "composed, one input": (
        "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 3 RETURN P(a.k, b.p); PATTERN SEQ(B a, A b) WHERE [k] RETURN Q(a.k, b.p); "
        "PATTERN SEQ(P p, Q q) WHERE [k] and q.p > p.p WITHIN 9",
        {},
    ),
    "tree": ("PATTERN SEQ(A a, AND(B b, C c, b.k = c.k), !SEQ(C x, B y, x.s = y.s), A d, b.p > a.p AND d.s = a.s) WITHIN 9", {}),
    "tree, keyed": (
        "PATTERN SEQ(A a, !(C x, x.k = a.k AND x.p > b.p), OR(B b, C c), a.k = b.k AND a.k = c.k) WITHIN 9 RETURN a.s AS s, b.p AS p",
        {"language": "neel"},
    ),
    "tree, behind": ("PATTERN SEQ(!(C w, w.p > a.p), A a, B+ b[], !(C x, x.s = a.s), b[i].p > a.p) WITHIN 9", {"language": "neel"}),
    "tree, lists": ("PATTERN AND(A a, SEQ(B+ b[], C c, max(b[].p) > c.p AND b[i].s = a.s)) WITHIN 6 events", {"language": "neel"}),
    "tree, counted": ("PATTERN SEQ(A a, SEQ(B b, C c, b.s = a.s), A d) WITHIN 9", {"output": "count", "strategy": "iterative"}),
    "tree, objects": (
        "PATTERN SEQ(A a, SEQ(B b, !A e, C c, b.s = a.s), !AND(B x, C y, x.k = y.k = a.k), A d, c.p > d.p) WITHIN 9",
        {"strategy": "object cache"},
    ),
    "tree, intervals": (
        "PATTERN SEQ(A a, SEQ(B b, !A e, C c, b.s = a.s), !AND(B x, C y, x.k = y.k = a.k), A d, c.p > d.p) WITHIN 9",
        {"strategy": "semantic cache"},
    ),
    "tree, composed": (
        "PATTERN SEQ(A a, AND(B b, C c), a.k = b.k) WITHIN 4 RETURN P(a.k AS k, b.p AS p); "
        "PATTERN SEQ(P x, !(P z, z.k = x.k), P y, x.p < y.p) WITHIN 9",
        {"language": "neel"},
    ),
    "instances": (
        "SELECT k, s, p_1, n FROM FILTER {DUR < 9} ((SELECT k, s, p, 0 AS n FROM FILTER {type = 'A'} (t)) "
        "FOLD {$2.k = $.k, $2.p > $.p OR $.s = 'x', $.n + 1 AS n} (SELECT k, s, p FROM t))",
        {"language": "cel"},
    ),
    "instances, by value": (
        "SELECT a, s, UPPER(s_1) AS u, p + 1 AS q FROM (SELECT k AS a, s, s AS b FROM FILTER {type = 'A'} (t)) NEXT {$1.b = $2.s} t "
        "NEXT {$1.b < $2.c AND $2.d > $1.p} (SELECT s AS c, p AS d FROM t)",
        {"language": "cel"},
    ),
    "nested, instances": (
        "SELECT k, dev_1, last, tags FROM ((SELECT k, dev, tags, dev AS last FROM FILTER {type = 'A'} (t)) "
        "FOLD {$2.k = $.k, $2.dev.id <> $.last.id, $2.dev AS last} (SELECT k, dev FROM t))",
        {"language": "cel"},
    ),
    "instances, composed": (
        "SELECT k, s, p FROM FILTER {type = 'A'} (t) NEXT {$1.k = $2.k} (SELECT k, s AS s2 FROM t) PUBLISH c; "
        "SELECT * FROM FILTER {DUR <= 6} ((SELECT k, p FROM t) NEXT {$2.k = $1.k AND $2.p < $1.p} c)",
        {"language": "cel"},
    ),
    "absence, first": (events("A a, ~(C x), B b", "a, x, b", "[k] and x.p > b.p", "OUTPUT first", "skip_till_next_match"), {}),
}


def rows(first: int, count: int, seed: int) -> pa.Table:
    generator = random.Random(seed)
    listed = [
        {"ts": first + i // 2, "type": generator.choice("ABC"), "k": generator.randrange(4), "s": generator.choice("xyz"),
         "p": generator.choice([None, *range(9)]), "dev": generator.choice([None, {"id": i % 5, "name": generator.choice("xyz")}]),
         "tags": generator.choice([None, [], ["x"], ["y", "z"]]), "marks": generator.choice([None, [("x", i)]])}
        for i in range(count)
    ]  # fmt: skip
    return pa.Table.from_pylist(listed, NESTED)


def compiled(name: str) -> ost.Query:
    text, options = QUERIES[name]
    if not text.startswith(("SELECT", "FROM")) and name != "streams":
        options = {"type_by": "type", "time": "ts", **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ost.compile(text, dict.fromkeys(("t", "u") if name == "streams" else ("t",), _schema(name)), **options)


def _schema(name: str) -> pa.Schema:
    return NESTED if name.startswith("nested") else SCHEMA


def push(session: ost.Session, table: pa.Table) -> None:
    """To every stream that it reads."""
    for stream in session.graph.streams:
        session.push(stream, table)


def saved(query: ost.Query, lateness: int, seed: int) -> bytes:
    """The state of a session amidst its rows; with lateness some rows wait, and some that came too late have been kept."""
    session = query.open(lateness=lateness, late="keep" if lateness else "count")
    for step in range(3):
        push(session, rows(8 * step, 16, seed + step))
    if lateness:
        push(session, rows(0, 3, seed))
    return session.snapshot()


def forged(value: np.ndarray, generator: random.Random, others: list[np.ndarray]) -> np.ndarray:
    """Another array in the place of this one."""
    how = generator.randrange(9)
    array = value.copy()
    if how == 0:
        return array[: generator.randrange(len(array) + 1)]
    if how == 1:
        return np.concatenate([array, array]) if len(array) else np.zeros((3, *array.shape[1:]), array.dtype)
    if how == 2:
        return array.astype(generator.choice([np.int64, np.int32, np.uint8, np.float64, np.bool_]))
    if how == 3:
        return generator.choice(others).copy()
    if how == 4 and array.ndim:
        return array.reshape(-1) if array.ndim > 1 else array.reshape(-1, 1)
    if not array.size:
        return np.ones((1, *array.shape[1:]), array.dtype)
    flat = array.reshape(-1)
    if flat.dtype == np.bool_:
        flat.view(np.uint8)[generator.randrange(len(flat))] = generator.choice([0, 1, 7, 255])
        return array
    info = None if flat.dtype.kind == "f" else np.iinfo(flat.dtype)
    extremes = [0, 1, 2, 3, 5, 9, 64, 1 << 20, 1 << 40, -1, -2, -1000, *([] if info is None else [int(info.min), int(info.max)])]
    for _ in range(generator.choice([1, 1, 1, 2, 5])):
        at = generator.randrange(len(flat))
        wanted = (
            int(flat[at]) + generator.choice([-1, 1, 2]) if info is not None and generator.random() < 0.4 else generator.choice(extremes)
        )
        flat[at] = wanted if info is None else min(max(wanted, int(info.min)), int(info.max))
    return array


def _places(scalars: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every scalar, also those of parts."""
    for name, value in scalars.items():
        yield scalars, name
        if isinstance(value, dict):
            yield from _places(value)


def forge(query: ost.Query, data: bytes, generator: random.Random) -> tuple[bytes, str]:
    """A snapshot with something else in it, and what."""
    scalars, arrays, blobs = snapshot.unpack(query.program, data)
    kind = generator.random()
    if kind < 0.08:
        holder, name = generator.choice(list(_places(scalars)))
        holder[name] = generator.choice([-1, 1 << 70, None, "x", 3, [], {}])
    elif kind < 0.16:
        name = generator.choice(list(blobs))
        blob = bytearray(blobs[name])
        for _ in range(generator.choice([1, 3, 20])):
            blob[generator.randrange(len(blob))] = generator.randrange(256)
        blobs[name] = bytes(blob[: generator.choice([len(blob), len(blob) // 2])])
    elif kind < 0.2:
        name = generator.choice([*arrays, *blobs])
        arrays.pop(name, None)
        blobs.pop(name, None)
    else:
        name = generator.choice(list(arrays))
        arrays[name] = forged(arrays[name], generator, list(arrays.values()))
    return snapshot.pack(query.program, scalars, arrays, blobs), name


def go_on(query: ost.Query, data: bytes) -> str:
    """What becomes of a snapshot: refused, stopped by an error of ours, or used to the end."""
    try:
        session = query.open(snapshot=data)
    except ost.StateError:
        return "refused"
    try:
        push(session, rows(24, 12, 7))
        session.advance(26)
        session = query.open(snapshot=session.snapshot())
        push(session, rows(40, 12, 8))
        session.metrics()
        if session.options.late == "keep":
            session.take_late()
        session.close()
    except ost.OstinatoError:
        return "stopped"
    return "used"


def run(first: int, count: int) -> Counter[str]:
    found: Counter[str] = Counter()
    names = list(QUERIES)
    opened = {name: compiled(name) for name in names}
    originals = {(name, lateness): saved(opened[name], lateness, 5) for name in names for lateness in (0, 4)}
    for (name, _), data in originals.items():
        if go_on(opened[name], data) != "used":
            raise AssertionError(f"{name}: a snapshot that was not touched is refused")
    for number in range(first, first + count):
        generator = random.Random(number)
        name = names[number % len(names)]
        data, place = forge(opened[name], originals[name, generator.choice([0, 4])], generator)
        print(f"case {number}: {name}, {place}", flush=True)
        with ends_in_time():
            found[go_on(opened[name], data)] += 1
    return found


@contextmanager
def ends_in_time() -> Iterator[None]:
    """Else the process ends, and says where it was: also inside of a kernel."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def limit_process() -> None:
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # the traceback, then the end that the signal brings
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    limit_process()
    try:
        print(dict(run(int(sys.argv[1]), int(sys.argv[2]))))
    except BaseException:
        traceback.print_exc()
        sys.exit(1)

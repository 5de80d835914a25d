"""The paper's query about surgical tools: a nested negation over a long stream in which matches are rare."""

from __future__ import annotations

from functools import partial
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness, nested_plots
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.sase_plots import IMAGES

EVENTS, FEWER = 2_000_000, 200_000
BATCH = 50_000
TOOLS = 100_000
KINDS = ("Recycle", "Washing", "Sharpen", "Disinfect", "Checking", "Operate")
QUERY = """PATTERN SEQ(Recycle r, Washing w, !AND(Sharpen s, Disinfect d, Checking c, s.id = d.id = c.id = o.id), Operate o,
r.id = w.id AND o.ins_type = 'surgery'{more}) WITHIN {window} RETURN r, w, o"""
KEYED = " AND w.id = o.id"
SWITCHES = ("equality_chains", "join_order", "negation_cut")
UNION = """PATTERN SEQ(Recycle r, {a}, {b}, {c}, Operate o) WHERE skip_till_any_match(r, {x}, {y}, {z}, o)
{{ [id] AND o.ins_type = 'surgery' }}
WITHIN {window}"""
ANY_ORDER = "PATTERN SEQ(Recycle r, AND(Sharpen s, Disinfect d, Checking c), Operate o, {ids} AND o.ins_type = 'surgery') WITHIN {window}"
IDS = "r.id = s.id AND r.id = d.id AND r.id = c.id AND r.id = o.id"


def events(count: int, tools: int = TOOLS, surgery: float = 0.01, flawed: float = 0.001, at_once: int = 8) -> pa.Table:
    """Each tool goes through its cycle again and again, `at_once` of them at a time. A `flawed` cycle has no disinfection."""
    random = np.random.default_rng(1)
    cycles = -(-count // len(KINDS))
    kinds = np.tile(np.arange(len(KINDS)), (cycles, 1))
    kinds[:, 2:5] = 2 + np.argsort(random.random((cycles, 3)), axis=1)
    times = 6.0 * np.arange(cycles)[:, None] + np.sort(random.random((cycles, 6)), axis=1) * 6 * at_once
    place = np.argsort(times, axis=None)[:count]
    kind, cycle = kinds.ravel()[place], place // len(KINDS)
    kind = np.where((random.random(cycles) < flawed)[cycle] & (kind == 3), 2, kind)
    surgical = (random.random(cycles) < surgery)[cycle]
    return pa.table({
        "ts": np.arange(count),
        "id": cycle % tools,
        "kind": pa.DictionaryArray.from_arrays(kind.astype(np.int8), KINDS).cast(pa.string()),
        "ins_type": pa.DictionaryArray.from_arrays((~surgical).astype(np.int8), ["surgery", "dental"]).cast(pa.string()),
    })  # fmt: skip


def matched(table: pa.Table, text: str) -> int:
    return len(ost.match(text, language="neel", events=table, type_by="kind", time="ts"))


def compiled(table: pa.Table, text: str, **options: Any) -> ost.Query:
    return ost.compile(text, {"events": table.schema}, language="neel", type_by="kind", time="ts", **options)


def in_session(table: pa.Table, query: ost.Query) -> int:
    session = query.open()
    found = 0
    for start in range(0, table.num_rows, BATCH):
        found += session.push(table.slice(start, BATCH)).num_rows
    return found + session.close().num_rows


def visited(table: pa.Table, query: ost.Query) -> int:
    """How many events the search looks at."""
    session = query.open()
    for start in range(0, table.num_rows, BATCH):
        session.push(table.slice(start, BATCH))
    return int(session.metrics()["visited_events"])


def by_duckdb(table: pa.Table, window: int, more: str) -> int:
    between = "s.ts > w.ts AND d.ts > w.ts AND c.ts > w.ts AND s.ts < o.ts AND d.ts < o.ts AND c.ts < o.ts"
    kinds = {name: f"(SELECT ts, id FROM events WHERE kind = '{kind}') {name}" for name, kind in zip("rwsdc", KINDS, strict=False)}
    text = f"""SELECT count(*) FROM {kinds["r"]}, {kinds["w"]},
        (SELECT ts, id FROM events WHERE kind = 'Operate' AND ins_type = 'surgery') o
        WHERE r.id = w.id AND r.ts < w.ts AND w.ts < o.ts AND r.ts >= o.ts - {window} AND w.ts >= o.ts - {window} {more}
        AND NOT EXISTS (SELECT 1 FROM {kinds["s"]}, {kinds["d"]}, {kinds["c"]}
            WHERE s.id = o.id AND d.id = o.id AND c.id = o.id AND {between})"""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("events", table)
        found = connection.execute(text).fetchone()
    return int(found[0]) if found else 0


def speed(options: Options) -> None:
    experiment = Experiment(
        "surgical_tools", "Nested patterns: surgical tools",
        "`SEQ(Recycle r, Washing w, !AND(Sharpen s, Disinfect d, Checking c, s.id = d.id = c.id = o.id), Operate o, r.id = w.id AND "
        "o.ins_type = 'surgery')` over the cycles of 100,000 tools, eight at a time, of which 1 % are used for surgery; the window in "
        f"events. *ostinato* is `ost.match` over an Arrow table, *session* the same in batches of {BATCH:,}. *keyed* says in addition "
        "that all events are of the same tool. A tool that was not disinfected matches all pairs of a window, so that one in as many "
        "cycles is flawed as the window has events: matches are rare at every window.", show=("window", "matches", "visited events"),
    )  # fmt: skip
    for name, more in (("", ""), ("keyed, ", KEYED)):
        for window in (1_000, 10_000, 100_000, 1_000_000):
            table = events(options.rows(EVENTS, 20_000), flawed=1.0 / window)
            text = QUERY.format(more=more, window=window)
            query = compiled(table, text)
            case = experiment.case(f"{name}window {window:,}", rows=table.num_rows, window=window)
            runs = {"ostinato": partial(matched, table, text), "session": partial(in_session, table, query)}
            case.facts["matches"] = case.compare(runs, options, same=lambda found: found)["ostinato"].result
            case.facts["visited events"] = visited(table, query)
            if not options.quick:
                case.target_rate("ostinato", at_least=2e6)
                case.target_rate("session", at_least=2e6)
    experiment.save(options)


def peers(options: Options) -> None:
    experiment = Experiment(
        "surgical_tools_peers", "Nested patterns: surgical tools, beside DuckDB and flat queries",
        "The same query as self-joins with `NOT EXISTS` in DuckDB; and `SEQ(Recycle r, AND(Sharpen s, Disinfect d, Checking c), Operate o)`"
        " of one tool as the union of six flat SASE+ queries.", show=("window", "matches"),
    )  # fmt: skip
    table = events(options.rows(FEWER, 5_000))
    for name, more in (("", ""), ("keyed, ", KEYED)):
        for window in (1_000, 10_000):
            text = QUERY.format(more=more, window=window)
            case = experiment.case(f"{name}window {window:,}", rows=table.num_rows, window=window)
            runs = {"ostinato": lambda t=text: matched(table, t), "DuckDB": lambda w=window, m=more: by_duckdb(table, w, m)}
            case.facts["matches"] = case.compare(runs, options, same=lambda found: found)["ostinato"].result
    for window in (1_000, 10_000):
        case = experiment.case(f"any order, window {window:,}", rows=table.num_rows, window=window)
        text = ANY_ORDER.format(ids=IDS, window=window)
        runs = {"ostinato": lambda t=text: matched(table, t), "six SASE+ queries": lambda w=window: in_all_orders(table, w)}
        case.facts["matches"] = case.compare(runs, options, same=lambda found: found)["ostinato"].result
    experiment.save(options)


def in_all_orders(table: pa.Table, window: int) -> int:
    parts = {"s": "Sharpen s", "d": "Disinfect d", "c": "Checking c"}
    found = 0
    for x, y, z in ("sdc", "scd", "dsc", "dcs", "csd", "cds"):
        text = UNION.format(a=parts[x], b=parts[y], c=parts[z], x=x, y=y, z=z, window=window)
        found += len(ost.match(text, events=table, type_by="kind", time="ts"))
    return found


def ablations(options: Options) -> None:
    experiment = Experiment(
        "surgical_tools_ablations", "Nested patterns: surgical tools without parts of the evaluation",
        "The same query with parts left out (`without=`): events found by equal values (*equality_chains*), the order of variables by cost "
        "(*join_order*), the end of a walk to earlier events at what must not be there (*negation_cut*), evaluation value by value "
        "(*equality_key*).", show=("window", "matches"),
    )  # fmt: skip
    table = events(options.rows(FEWER, 5_000))
    for name, more, switches in (("", "", SWITCHES), ("keyed, ", KEYED, (*SWITCHES, "equality_key"))):
        for window in (1_000, 10_000):
            text = QUERY.format(more=more, window=window)
            case = experiment.case(f"{name}window {window:,}", rows=table.num_rows, window=window)
            queries = {"ostinato": compiled(table, text)}
            queries |= {f"without {one}": compiled(table, text, without=(one,)) for one in switches}
            runs = {who: lambda query=query: in_session(table, query) for who, query in queries.items()}
            case.facts["matches"] = case.compare(runs, options, same=lambda found: found)["ostinato"].result
    experiment.save(options)


def growth(options: Options) -> None:
    experiment = Experiment(
        "nested_growth", "Nested patterns: growth by tools, matches and depth",
        "The query about surgical tools, window 10,000, by the number of tools (*keyed*), and by how many operations are surgical and thus "
        "ask for matches; and negations inside of negations, `SEQ(Recycle, !SEQ(Washing, !SEQ(Sharpen, ...)), Operate)` of one tool.",
        show=("matches",),
    )  # fmt: skip
    count = options.rows(FEWER, 5_000)
    for tools in (100, 1_000, 10_000, 100_000):
        grown(experiment, f"keyed, {tools:,} tools", events(count, tools), QUERY.format(more=KEYED, window=10_000), options)
    for share in (0.001, 0.01, 0.1, 1.0):
        grown(experiment, f"{share:.1%} surgical", events(count, surgery=share), QUERY.format(more="", window=10_000), options)
    for depth in range(1, 5):
        grown(experiment, f"depth {depth}", events(count), f"PATTERN {nested(depth)} WITHIN 10000", options)
    experiment.save(options)


def grown(experiment: Experiment, name: str, table: pa.Table, text: str, options: Options) -> None:
    case = experiment.case(name, rows=table.num_rows)
    case.facts["matches"] = case.compare({"ostinato": lambda: matched(table, text)}, options, same=lambda found: found)["ostinato"].result


def nested(depth: int) -> str:
    """Of one tool, an operation after a recycling, without what is nested `depth` times."""
    inner = ""
    for level in range(depth, 0, -1):
        kind = KINDS[level]
        follows = f", !{inner}, " if inner else ", "
        inner = f"SEQ({kind} v{level}{follows}{KINDS[level % 4 + 1]} u{level}, v{level}.id = o.id AND u{level}.id = o.id)"
    return f"SEQ(Recycle r, !{inner}, Operate o, r.id = o.id)"


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    speed(options)
    peers(options)
    ablations(options)
    growth(options)
    if not options.quick:
        nested_plots.draw_all(options.results, IMAGES if options.results == harness.RESULTS else options.results)


if __name__ == "__main__":
    main()

"""What a snapshot of a session holds, and how a session is put back together from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.program.program import Program
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.opaque_values import OpaqueValues
from ostinato.runtime.session.forged_state import (
    check_input,
    check_operator,
    check_scalars,
    checked_strings,
    checked_table,
    checked_waiting,
    one_error,
)
from ostinato.runtime.session.graph import Graph
from ostinato.runtime.session.heap.value_sweep import sweep_values
from ostinato.runtime.session.input_rows import InputRows
from ostinato.runtime.session.pattern_operator import PatternOperator
from ostinato.runtime.session.session_options import SessionOptions
from ostinato.runtime.session.shape_rows import ShapeRows
from ostinato.runtime.snapshots import snapshot
from ostinato.runtime.snapshots.state_check import HeldRows

QUARANTINED = "quarantined"
OPAQUE = "opaque:"  # before the number of a heap of values: one Arrow column "v"; rows hold positions in it, -1 for null


@dataclass
class Saved:
    """A snapshot, or a part of one: scalars, arrays and blobs by name."""

    scalars: dict[str, Any]
    arrays: dict[str, np.ndarray]
    blobs: dict[str, bytes]

    @property
    def options(self) -> Any:
        """What the session was told, as `SessionOptions.state` gives it."""
        return self.scalars.get("options", {})

    def add(self, name: str, part: Saved) -> None:
        self.scalars[name] = part.scalars
        self.arrays |= {f"{name}.{key}": array for key, array in part.arrays.items()}
        self.blobs |= {f"{name}.{key}": blob for key, blob in part.blobs.items()}

    def part(self, name: str) -> Saved:
        blobs = {key.removeprefix(f"{name}."): blob for key, blob in self.blobs.items() if key.startswith(f"{name}.")}
        return Saved(self.scalars[name], snapshot.part_of(self.arrays, f"{name}."), blobs)


def save(program: Program, options: SessionOptions, graph: Graph) -> bytes:
    whole = Saved({"options": options.state(), QUARANTINED: graph.quarantine.state()}, {}, {})
    for number, source in enumerate(graph.inputs):
        sweep_values(source, graph.readers[number], at_once=True)
        whole.add(f"input{number}", _of_input(source))
    stopped = graph.quarantine.operators(program)
    for number, operator in enumerate(graph.operators):
        whole.add(f"operator{number}", Saved({"emitted": operator.report.emitted}, {}, {}) if number in stopped else _of_operator(operator))
    return snapshot.pack(program, whole.scalars, whole.arrays, whole.blobs)


def _of_input(source: InputRows) -> Saved:
    scalars = {
        "position": source.position,
        "rows_in": source.rows_in,
        "watermark": source.reorder.watermark,
        "late": source.late.count,
        "latest": source.latest,
    }
    arrays: dict[str, np.ndarray] = {"rows." + name: array for name, array in _rows(source).items()}
    arrays["source_watermarks"] = source.source_watermarks
    if isinstance(source, ShapeRows):
        arrays |= {"queries": source.queries.state(), "arrival": np.array([source.arrival])}
    if source.keys is not None:
        arrays |= {"keys." + name: array for name, array in source.keys.state().items()}
    blobs = {"strings": _ipc(pa.table({"s": source.pool.strings}))}
    waiting = {"waiting": source.reorder.state(), "late": source.late.state(), "last_row": source.batch_order.last}
    waiting |= {f"before{number}": buffer.state() for number, buffer in source.before.items()}
    blobs |= {name: _ipc(table) for name, table in waiting.items() if table is not None}
    blobs |= {OPAQUE + str(number): _ipc(heap.state()) for number, heap in enumerate(source.rows.heaps)}
    return Saved(scalars, arrays, blobs)


def _of_operator(operator: PatternOperator) -> Saved:
    operator.catch_up()
    report = operator.report
    scalars = {"emitted": report.emitted}
    arrays: dict[str, np.ndarray] = {"numbered": report.numbered}
    if operator.owns_progress:
        arrays["evaluated"] = operator.evaluated
    arrays |= {"matcher." + name: array for name, array in operator.matcher.state().items()}
    if report.unmatched is not None:
        arrays["unmatched"] = report.unmatched.passed
    if report.timeouts is not None:
        arrays["timeouts"] = report.timeouts.passed
        scalars["timed_out"] = report.timeouts.count
    return Saved(scalars, arrays, {} if report.totals is None else {"totals": report.totals.state()})


def opened(program: Program, data: bytes) -> Saved:
    with one_error():
        saved = Saved(*snapshot.unpack(program, data))
        check_scalars(saved.scalars, len(program.inputs), len(program.operators))
        return saved


def restore(graph: Graph, saved: Saved) -> None:
    with one_error():
        graph.quarantine.load(saved.scalars.get(QUARANTINED, {}), {result.query for result in graph.program.results})
        graph.expel()
        stopped = graph.quarantine.operators(graph.program)
        held = [_restore_input(source, saved.part(f"input{number}"), graph.readers[number]) for number, source in enumerate(graph.inputs)]
        for number, operator in enumerate(graph.operators):
            part = saved.part(f"operator{number}")
            if number in stopped:
                operator.report.emitted = part.scalars["emitted"]
            else:
                _restore_operator(operator, part, held[graph.program.operators[number].ports[0]])


def _restore_input(source: InputRows, saved: Saved, readers: list[PatternOperator]) -> HeldRows:
    scalars, arrays, blobs = saved.scalars, saved.arrays, saved.blobs
    strings = checked_strings(blobs["strings"])
    held = check_input(source, arrays, len(strings))
    source.position, source.rows_in, source.latest = scalars["position"], scalars["rows_in"], scalars["latest"]
    source.source_watermarks = arrays["source_watermarks"]
    waiting = checked_waiting(blobs["waiting"], source.reads) if "waiting" in blobs else None
    source.reorder.load(waiting, scalars["watermark"])
    for number, buffer in source.before.items():
        name = f"before{number}"
        buffer.load(checked_waiting(blobs[name], source.reads) if name in blobs else None, int(source.source_watermarks[number]))
    source.late.load(checked_table(blobs["late"]) if "late" in blobs else None, scalars["late"])
    source.batch_order.load(checked_table(blobs["last_row"]) if "last_row" in blobs else None)
    if len(strings):
        source.pool.codes_of(strings)
    if isinstance(source, ShapeRows):
        source.arrival, source.has_seen = int(arrays["arrival"][0]), source.has_begun
        source.queries.load_state(arrays["queries"])
    if source.keys is not None:
        source.keys.load(snapshot.part_of(arrays, "keys."))
    _restore_rows(source, snapshot.part_of(arrays, "rows."))
    for number, heap in enumerate(source.rows.heaps):
        heap.load(checked_table(blobs[OPAQUE + str(number)]), _positions(source, heap, arrays))
    return replace(held, values={heap.type: len(heap) for heap in source.rows.heaps})


def _restore_operator(operator: PatternOperator, saved: Saved, held: HeldRows) -> None:
    scalars, arrays, report = saved.scalars, saved.arrays, operator.report
    check_operator(operator, arrays, held)
    report.emitted, report.numbered = scalars["emitted"], arrays["numbered"]
    if operator.owns_progress:
        operator.progress.evaluated = grown(arrays["evaluated"], operator.rows.key_count)
    if report.unmatched is not None:
        report.unmatched.passed = arrays["unmatched"]
    if report.timeouts is not None:
        report.timeouts.passed, report.timeouts.count = arrays["timeouts"], scalars["timed_out"]
    operator.matcher.load(snapshot.part_of(arrays, "matcher."))
    if report.totals is not None:
        report.totals.load(saved.blobs["totals"])
    operator.was_restored = True
    operator.look_what_is_begun()


def _rows(source: InputRows) -> dict[str, np.ndarray]:
    rows = source.rows
    live, index = rows.retained()
    found = {"key_count": np.array([rows.key_count]), "base": rows.base, "live": live, "length": rows.length[live]}
    for name, data in rows.arena.saved.items():
        found["data." + name] = data[index]
        valid = rows.arena.valid[name]
        if valid is not None:
            found["valid." + name] = valid[index]
    return found


def _positions(source: InputRows, heap: OpaqueValues, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Those that rows have among opaque values, nulls left out."""
    found = []
    for held in (source.rows.held_as(name) for name, values in source.rows.opaque.items() if values is heap):
        positions, valid = arrays["rows.data." + held], arrays.get("rows.valid." + held)
        found.append(positions if valid is None else positions[valid])
    return np.concatenate(found)


def _restore_rows(source: InputRows, state: dict[str, np.ndarray]) -> None:
    rows = source.rows
    rows.ensure_keys(int(state["key_count"][0]))
    columns = {name: (state["data." + name], state.get("valid." + name)) for name in rows.arena.saved}
    rows.restore(state["live"], state["length"], state["base"], columns)


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()

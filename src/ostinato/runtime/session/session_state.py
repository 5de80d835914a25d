"""What a snapshot of a session holds, and how a session is put back together from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ostinato.program.pattern import Pattern
from ostinato.runtime.rows.longer_arrays import grown
from ostinato.runtime.session import snapshot
from ostinato.runtime.session.forged_state import check_scalars, check_session, checked_strings, checked_table, checked_waiting, one_error

if TYPE_CHECKING:
    from ostinato.runtime.session.session import Session


OPAQUE = "opaque:"  # before the name of a column whose values lie apart: one Arrow column "v"; rows hold positions in it, -1 for null


def save(session: Session) -> bytes:
    session.rows.forget_opaque(all_of_them=True)
    scalars = {
        "position": session.position,
        "rows_in": session.rows_in,
        "horizon": session.reorder.horizon,
        "late": session.late.count,
        "latest": session.latest,
        "emitted": session.report.emitted,
        "options": session.options.state(),
    }
    arrays: dict[str, np.ndarray] = {"evaluated": session.evaluated, "numbered": session.report.numbered}
    arrays |= {"rows." + name: array for name, array in _rows(session).items()}
    arrays |= {"matcher." + name: array for name, array in session.matcher.state().items()}
    if session.keys is not None:
        arrays |= {"keys." + name: array for name, array in session.keys.state().items()}
    if session.report.unmatched is not None:
        arrays["unmatched"] = session.report.unmatched.passed
    if session.report.timeouts is not None:
        arrays["timeouts"] = session.report.timeouts.passed
        scalars["timed_out"] = session.report.timeouts.count
    blobs = {"strings": _ipc(pa.table({"s": session.pool.strings}))}
    if session.report.totals is not None:
        blobs["totals"] = session.report.totals.state()
    waiting = session.reorder.state()
    if waiting is not None:
        blobs["waiting"] = _ipc(waiting)
    late = session.late.state()
    if late is not None:
        blobs["late"] = _ipc(late)
    blobs |= {OPAQUE + name: _ipc(values.state()) for name, values in session.rows.opaque.items()}
    if session.batch_order.last is not None:
        blobs["last_row"] = _ipc(session.batch_order.last)
    return snapshot.pack(session.pattern, scalars, arrays, blobs)


@dataclass(frozen=True)
class Saved:
    """A snapshot that belongs to the program."""

    scalars: dict[str, Any]
    arrays: dict[str, np.ndarray]
    blobs: dict[str, bytes]

    @property
    def options(self) -> Any:
        """What the session was told, as `SessionOptions.state` gives it."""
        return self.scalars.get("options", {})


def opened(pattern: Pattern, data: bytes) -> Saved:
    with one_error():
        saved = Saved(*snapshot.unpack(pattern, data))
        check_scalars(saved.scalars)
        return saved


def restore(session: Session, saved: Saved) -> None:
    with one_error():
        _restore(session, saved)


def _restore(session: Session, saved: Saved) -> None:
    scalars, arrays, blobs = saved.scalars, saved.arrays, saved.blobs
    strings = checked_strings(blobs["strings"])
    check_session(session, arrays, len(strings))
    session.position = scalars["position"]
    session.rows_in = scalars["rows_in"]
    session.report.emitted = scalars["emitted"]
    session.report.numbered = arrays["numbered"]
    session.evaluated = grown(arrays["evaluated"], len(arrays["rows.base"]))
    if session.report.unmatched is not None:
        session.report.unmatched.passed = arrays["unmatched"]
    if session.report.timeouts is not None:
        session.report.timeouts.passed, session.report.timeouts.count = arrays["timeouts"], scalars["timed_out"]
    waiting = checked_waiting(blobs["waiting"], session.pattern) if "waiting" in blobs else None
    session.reorder.load(waiting, scalars["horizon"])
    session.late.load(checked_table(blobs["late"]) if "late" in blobs else None, scalars["late"])
    session.latest = scalars["latest"]
    session.batch_order.load(checked_table(blobs["last_row"]) if "last_row" in blobs else None)
    if len(strings):
        session.pool.codes_of(strings)
    if session.keys is not None:
        session.keys.load(snapshot.part_of(arrays, "keys."))
    _restore_rows(session, snapshot.part_of(arrays, "rows."))
    for name, values in session.rows.opaque.items():
        values.load(checked_table(blobs[OPAQUE + name]), _positions(session.rows.held_as(name), arrays))
    session.matcher.load(snapshot.part_of(arrays, "matcher."))
    if session.report.totals is not None:
        session.report.totals.load(blobs["totals"])


def _rows(session: Session) -> dict[str, np.ndarray]:
    rows = session.rows
    live, index = rows.retained()
    found = {"key_count": np.array([rows.key_count]), "base": rows.base, "live": live, "length": rows.length[live]}
    for name, data in rows.arena.data.items():
        found["data." + name] = data[index]
        valid = rows.arena.valid[name]
        if valid is not None:
            found["valid." + name] = valid[index]
    return found


def _positions(held: str, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Those that rows have among opaque values, nulls left out."""
    positions, valid = arrays["rows.data." + held], arrays.get("rows.valid." + held)
    return positions if valid is None else positions[valid]


def _restore_rows(session: Session, state: dict[str, np.ndarray]) -> None:
    from_keys = state["live"]
    rows = session.rows
    rows.ensure_keys(int(state["key_count"][0]))
    columns = {name: (state["data." + name], state.get("valid." + name)) for name in rows.arena.data}
    rows.restore(from_keys, state["length"], state["base"], columns)


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()

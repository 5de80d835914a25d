"""What a session is told when it is opened. A snapshot carries it: what held at the beginning holds to the end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from ostinato.base.errors import OstinatoError, StateError
from ostinato.runtime.limits.budget import Budget, MemoryShare, memory_share

SHARE = "share"  # a limit that nobody gave is that of the machine where the session goes on
LATE = ("count", "keep")


class NotGiven(Enum):
    """Nothing was said: what a snapshot says, else the default. None is a lateness of its own."""

    VALUE = "not given"


NOT_GIVEN: Final = NotGiven.VALUE


@dataclass(frozen=True)
class SessionOptions:
    """See `Session`."""

    lateness: int | None = 0
    ordered: bool = False
    late: str = "count"
    budget: Budget | None = None

    def state(self) -> dict[str, Any]:
        """As JSON."""
        budget = None
        if self.budget is not None:
            limit = SHARE if isinstance(self.budget.bytes, MemoryShare) else self.budget.bytes
            budget = {"runs": self.budget.runs, "bytes": limit, "overflow": self.budget.overflow.value, "steps": self.budget.steps}
        return {"lateness": self.lateness, "ordered": self.ordered, "late": self.late, "budget": budget}


def settled(
    lateness: int | NotGiven | None,
    ordered: bool | None,
    late: str | None,
    budget: Budget | None,
    stored: Any = None,
) -> SessionOptions:
    """What holds for a session that is told this and goes on from a snapshot with `stored`. A budget may change with every restart: to
    raise it is what helps where it was too small."""
    if budget is not None and not isinstance(budget, Budget):
        raise OstinatoError(f"budget={budget!r} is no budget", hint="Pass ost.Budget(runs=..., bytes=...)")
    check_late(late)
    before = SessionOptions() if stored is None else _from_state(stored)
    if stored is not None:
        _same("lateness", before.lateness, lateness, given=lateness is not NOT_GIVEN)
        _same("ordered", before.ordered, ordered, given=ordered is not None)
        _same("late", before.late, late, given=late is not None)
    return SessionOptions(
        before.lateness if isinstance(lateness, NotGiven) else lateness,
        before.ordered if ordered is None else ordered,
        before.late if late is None else late,
        before.budget if budget is None else budget,
    )


def check_late(late: str | None) -> None:
    if late is not None and late not in LATE:
        raise OstinatoError(f"late={late!r} is unknown", hint="It is 'count' (late rows are counted) or 'keep' (they are handed over)")


def _same(name: str, stored: object, told: object, *, given: bool) -> None:
    if given and told != stored:
        raise StateError(
            f"the snapshot was made with {name}={stored!r}, and the session is to go on with {name}={told!r}",
            hint=f"leave {name}= out, or give the same; for another one begin anew (on Spark with a new checkpoint directory)",
        )


def _from_state(stored: Any) -> SessionOptions:
    try:
        lateness, ordered, late = stored["lateness"], stored["ordered"], stored["late"]
        if not (lateness is None or (type(lateness) is int and lateness >= 0)) or type(ordered) is not bool or late not in LATE:
            raise ValueError("what it says the session was told makes no sense")
        return SessionOptions(lateness, ordered, late, _budget(stored["budget"]))
    except (KeyError, TypeError, ValueError, OstinatoError) as error:
        raise StateError("the snapshot is damaged", detail=str(error), hint="restore an earlier one") from error


def _budget(stored: Any) -> Budget | None:
    if stored is None:
        return None
    limit = memory_share() if stored["bytes"] == SHARE else stored["bytes"]
    return Budget(stored["runs"], limit, stored["overflow"], stored.get("steps", Budget.steps))

"""How the rows of a one-shot query come: put in order first, or as they arrive; and what becomes of late ones."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.base.errors import OstinatoError, UnsupportedError
from ostinato.runtime.session.given_times import Lateness
from ostinato.runtime.session.session_options import check_late


@dataclass(frozen=True)
class Arrival:
    """`lateness` None: all rows are put in order first, and none is late. Otherwise they are taken one by one as they arrive, and each
    waits that long; `late` says what becomes of later ones, as in `Session`."""

    lateness: Lateness | None = None
    late: str | None = None

    def __post_init__(self) -> None:
        check_late(self.late)
        if self.late is not None and self.lateness is None:
            hint = "Without it all rows are put in order first, and none is late: say how late they may come, or leave out late="
            raise OstinatoError("late= needs lateness=", hint=hint)

    def refuse_kept(self, why: str, hint: str) -> None:
        if self.late == "keep":
            raise UnsupportedError(f"late rows are not kept {why}", hint=hint)

"""Who follows a set elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

import pyarrow as pa

from ostinato.program.program import Program
from ostinato.program.shapes.member import Member


class Follower(Protocol):
    """Somebody who runs the set elsewhere, and is told of its changes as sessions are. What he cannot do is refused before anything has
    changed."""

    def check_free(self) -> None: ...

    def check_query(self, program: Program, output: pa.Schema) -> None: ...

    def change(self, removed: Collection[str], added: Mapping[str, Program | Member]) -> None: ...

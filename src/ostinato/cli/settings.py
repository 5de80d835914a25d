"""The options of a SASE+ query that stand outside its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ostinato.cli.failure import Usage
from ostinato.cli.query_file import QueryFile


@dataclass(frozen=True)
class MatchSettings:
    time: str | None = None
    type_by: str | None = None
    output: str | None = None
    strategy: str | None = None

    @staticmethod
    def of(query: QueryFile, *, time: str | None, type_by: str | None, output: str | None, strategy: str | None = None) -> MatchSettings:
        """SQL says all of this in its text: ORDER BY, PARTITION BY, AFTER MATCH SKIP."""
        given = {"--time": time, "--type-by": type_by, "--output": output, "--strategy": strategy}
        unused = [option for option, value in given.items() if value is not None]
        if query.language == "sql" and unused:
            raise Usage(f"{unused[0]} is for SASE+ queries; in SQL use ORDER BY, DEFINE and AFTER MATCH SKIP")
        return MatchSettings(time, type_by, output, strategy)

    @property
    def given(self) -> dict[str, Any]:
        """Only what was said, so that the defaults stay with the engine."""
        return {name: value for name, value in vars(self).items() if value is not None}

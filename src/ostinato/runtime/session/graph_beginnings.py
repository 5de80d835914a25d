"""What the readers of each input of a graph begin alike. How it is shared is loaded only where there are queries that can: their strategy
comes with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from ostinato.program.instances import InstanceAutomaton
from ostinato.runtime.limits.budget import Budget, Overflow
from ostinato.runtime.session.input_rows import InputRows
from ostinato.runtime.session.pattern_operator import PatternOperator

if TYPE_CHECKING:
    from ostinato.runtime.session.shared_beginnings import BeginningOperator, SharedBeginnings


class GraphBeginnings:
    """Nothing is shared where `shares` is false, nor where the budget sheds: what it sheds is for each query to choose."""

    def __init__(self, budget: Budget, shares: bool) -> None:
        self._budget = budget
        self._shares = shares and budget.overflow is Overflow.ERROR
        self._of: dict[InputRows, SharedBeginnings] = {}

    def keep(self, inputs: Collection[InputRows]) -> None:
        """Others are gone."""
        self._of = {source: own for source, own in self._of.items() if source in inputs}

    def look(self, source: InputRows, readers: Sequence[PatternOperator]) -> bool:
        """Whether those that read an input have more in common now. Called when there is something to begin."""
        if source not in self._of:
            if not self._shares or sum(isinstance(reader.pattern, InstanceAutomaton) for reader in readers) < 2:
                return False
            shared = import_module("ostinato.runtime.session.shared_beginnings")
            self._of[source] = shared.SharedBeginnings(source, self._budget)
        return self._of[source].decide(readers)

    def among(self, source: InputRows, readers: Sequence[PatternOperator]) -> Sequence[PatternOperator]:
        """Those of the readers that are left."""
        return self._of[source].among(readers) if source in self._of else ()

    def part(self, source: InputRows, gone: Collection[PatternOperator]) -> None:
        """See `SharedBeginnings.part`."""
        if source in self._of:
            self._of[source].part(gone)

    @property
    def operators(self) -> list[BeginningOperator]:
        return [operator for shared in self._of.values() for operator in shared.operators]

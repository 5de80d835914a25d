"""The budget of a session as a whole: the rows that it keeps, and what a call returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from ostinato.base.errors import BudgetError
from ostinato.program.pattern import Pattern
from ostinato.runtime.limits.budget import Budget, in_words, over_budget
from ostinato.runtime.matches.listing import ways_out
from ostinato.runtime.session.heap.string_sweep import StringSweep
from ostinato.runtime.session.heap.value_sweep import sweep_values

if TYPE_CHECKING:
    from ostinato.runtime.session.input_rows import InputRows
    from ostinato.runtime.session.pattern_operator import PatternOperator


class SessionLimits:
    """`pattern` is named in errors; a set without queries has none."""

    def __init__(self, pattern: Pattern | None, budget: Budget) -> None:
        self._pattern = pattern
        self._limit = budget.bytes
        self._most: list[int] = []  # what each input takes at the most

    def connect(self, inputs: Sequence[InputRows], readers: Sequence[Sequence[PatternOperator]], sweeps: Sequence[StringSweep]) -> None:
        """All that hold rows from now on."""
        self._inputs, self._readers, self._sweeps = inputs, readers, sweeps
        self._most = []

    def check_rows(self, number: int) -> None:
        """After rows have come to an input. Rows that wait for earlier ones or to be taken as late ones, or may still be needed, cannot be
        shed; nor can the texts in them or in keys. Texts and opaque values that nothing refers to are forgotten first."""
        if self._limit is None:
            return
        if not self._most:
            self._most = [_most_bytes(source) for source in self._inputs]
            self._total = sum(self._most)
        most = _most_bytes(self._inputs[number])
        self._total += most - self._most[number]
        self._most[number] = most
        if self._total <= self._limit or sum(self._held()) <= self._limit:
            return
        for source, readers, sweep in zip(self._inputs, self._readers, self._sweeps, strict=True):
            sweep.sweep(source, readers, at_once=True)
            sweep_values(source, readers, at_once=True)
        waiting, kept, texts = self._held()
        if waiting + kept + texts > self._limit:
            raise over_budget(
                self._pattern,
                f"rows that wait, for earlier ones or to be taken as late, take {in_words(waiting)}, rows that are needed {in_words(kept)},"
                f" texts {in_words(texts)}; the budget is {in_words(self._limit)}",
                "shorten WITHIN or lateness, advance the watermark sooner, take late rows, or raise the budget: ost.Budget(bytes=...)",
            )

    def _held(self) -> tuple[int, int, int]:
        """Rows that wait, rows that are needed, texts."""
        inputs = self._inputs
        return sum(one.waiting_bytes for one in inputs), sum(one.rows.bytes for one in inputs), sum(one.pool.bytes for one in inputs)

    def out_of_memory(self, error: MemoryError) -> BudgetError:
        """Arrays grow in steps, and a budget may be larger than what is left of the memory: that is the same error, by another limit."""
        return over_budget(self._pattern, f"there is no memory left: {error}", ways_out(self._pattern))

    def within_budget(self, tables: Iterable[pa.Table]) -> list[pa.Table]:
        """All of them, where they are within the budget together. None of them is large."""
        found, most = [], 0  # whole buffers; what tables use of them is looked at when it matters, as that takes a hundred times as long
        for table in tables:
            found.append(table)
            most += table.get_total_buffer_size()
            if self._limit is None or most <= self._limit:
                continue
            most = size = sum(each.nbytes for each in found)
            if size > self._limit:
                raise over_budget(
                    self._pattern,
                    f"what one call returns takes {in_words(size)} so far, and the budget is {in_words(self._limit)}",
                    ways_out(self._pattern),
                )
        return found


def _most_bytes(source: InputRows) -> int:
    """Where it is not known without looking, as many as they are."""
    most = source.rows.most_bytes
    return source.waiting_bytes + source.pool.bytes + (source.rows.bytes if most is None else most)

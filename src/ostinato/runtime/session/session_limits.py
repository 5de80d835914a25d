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

    def check_rows(self, source: InputRows, readers: Sequence[PatternOperator], sweep: StringSweep) -> None:
        """Rows that wait for earlier ones or to be taken as late ones, or may still be needed, cannot be shed; nor can the texts in them
        or in keys. Texts and opaque values that nothing refers to are forgotten first."""
        if self._limit is None:
            return
        waiting, most = source.waiting_bytes, source.rows.most_bytes
        if most is not None and waiting + most + source.pool.bytes <= self._limit:
            return
        kept = source.rows.bytes
        if waiting + kept + source.pool.bytes > self._limit:
            sweep.sweep(source, readers, at_once=True)
            sweep_values(source, readers, at_once=True)
        kept, texts = source.rows.bytes, source.pool.bytes
        if waiting + kept + texts > self._limit:
            raise over_budget(
                self._pattern,
                f"rows that wait, for earlier ones or to be taken as late, take {in_words(waiting)}, rows that are needed {in_words(kept)},"
                f" texts {in_words(texts)}; the budget is {in_words(self._limit)}",
                "shorten WITHIN or lateness, advance the watermark sooner, take late rows, or raise the budget: ost.Budget(bytes=...)",
            )

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

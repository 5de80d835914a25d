"""Matches as the user sees them: numbered, ordered, with their output columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ostinato.kernels.vectors.evaluate import Evaluator
from ostinato.kernels.vectors.vector import to_arrow
from ostinato.program.code_inputs import numbers_matches
from ostinato.program.expansion import QUERY
from ostinato.program.pattern import Pattern, RowPattern
from ostinato.program.tree import TreePattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matcher import Matcher, SumsUp
from ostinato.runtime.matches.finished_instances import FinishedInstances
from ostinato.runtime.matches.interval_order import by_interval
from ostinato.runtime.matches.match_dag import MatchDag
from ostinato.runtime.matches.matches import Matches, completed
from ostinato.runtime.output.compressed_output import compressed_output
from ostinato.runtime.output.default_output import default_output
from ostinato.runtime.output.match_totals import MatchTotals, Total, totals_table
from ostinato.runtime.output.measures import MatchView, measure_evaluator, measured
from ostinato.runtime.output.output_schema import COUNT_SCHEMA, output_schema
from ostinato.runtime.output.shown_rows import rows_of_matches, rows_without_match
from ostinato.runtime.output.timeouts import Timeouts
from ostinato.runtime.output.unmatched_rows import UnmatchedRows
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool

# Matches of events, which can be many: what is computed on the way to their columns, and by which they are put in order, is let go piece
# by piece.
SHOWN_AT_ONCE = 1 << 16
LISTED_BYTES = 32  # of a value in an array, and of what it is taken from


class Report:
    def __init__(self, pattern: Pattern, pool: StringPool, budget: Budget) -> None:
        self._most_listed = None if budget.bytes is None else budget.bytes // LISTED_BYTES
        self._pattern = pattern
        self._pool = pool
        self._counts_only = pattern.output == "count"
        self.totals = MatchTotals(pattern) if pattern.output == "aggregates" else None
        self._compresses = pattern.output == "compressed"
        arrays = any(aggregate.function == "array" for aggregate in pattern.measures.aggregates)  # their budget is for all of them
        self._in_pieces = self.totals is None and not arrays
        self._evaluator: Evaluator | None = None
        self.schema = output_schema(pattern)
        self._nothing = self.schema.empty_table()
        self._shows_query = any(column.name == QUERY for column in pattern.reads.parameters)  # it is that of many queries
        self.needs_numbers = numbers_matches(pattern.measures)
        self.numbered = np.zeros(0, np.int64)  # matches so far, per key
        self.emitted = 0
        self.timeouts = Timeouts(pattern, budget, pool) if isinstance(pattern, RowPattern) and pattern.timeouts else None
        self.unmatched = UnmatchedRows() if pattern.rows_per_match == "all, with unmatched rows" else None

    def nothing(self) -> pa.Table:
        return self._nothing

    def joined(self, tables: list[pa.Table]) -> pa.Table:
        tables = [table for table in tables if table.num_rows]
        if not tables:
            return self.nothing()
        return tables[0] if len(tables) == 1 else pa.concat_tables(tables)

    def table(self, matches: Matches | MatchDag, rows: PatternRows, keys: KeyIndex | None, timed_out: bool = False) -> pa.Table:
        if self._compresses:
            view = MatchView(self._pattern, Matches.none(), rows, self._pool, keys, None)
            self.emitted += 1
            return compressed_output(view, matches, self.schema)
        assert isinstance(matches, Matches)
        if not self._pattern.selects_events:
            return self._shown(matches, rows, keys, timed_out)
        order = self._order(matches, rows)
        if len(matches) <= SHOWN_AT_ONCE or not self._in_pieces:
            return self._shown(matches if order is None else matches.take(order), rows, keys)
        pieces = []
        for begin in range(0, len(matches), SHOWN_AT_ONCE):
            behind = min(begin + SHOWN_AT_ONCE, len(matches))
            piece = matches.part(begin, behind) if order is None else matches.take(order[begin:behind])
            pieces.append(self._shown(piece, rows, keys))
        return pa.concat_tables(pieces)

    def of_instances(self, found: FinishedInstances, rows: PatternRows, keys: KeyIndex | None) -> pa.Table:
        """What an automaton returns has no rows."""
        raise TypeError("instances are reported by their own report")

    def _order(self, matches: Matches, rows: PatternRows) -> np.ndarray | None:
        """In which matches are listed; None: as they are."""
        if isinstance(self._pattern, TreePattern):
            return by_interval(matches, rows, len(self._pattern.variables))
        return _by_completion(matches, rows)

    def _shown(self, matches: Matches, rows: PatternRows, keys: KeyIndex | None, timed_out: bool = False) -> pa.Table:
        return self.with_queries(self._columns(matches, rows, keys, timed_out), matches.key, keys)

    def with_queries(self, shown: pa.Table, of: np.ndarray, keys: KeyIndex | None) -> pa.Table:
        """Where the pattern stands for many queries, with the number of each; `of` are the keys that the rows are of."""
        return shown if not self._shows_query or keys is None else shown.append_column(QUERY, to_arrow(keys.values(0, of)))

    def _columns(self, matches: Matches, rows: PatternRows, keys: KeyIndex | None, timed_out: bool) -> pa.Table:
        numbers = self._numbers(matches, rows.key_count) if self.needs_numbers else None
        view = MatchView(self._pattern, matches, rows, self._pool, keys, numbers, self._most_listed, self._measures())
        first = self.emitted
        self.emitted += 0 if timed_out else len(matches)
        if self.totals is not None:
            self.totals.add(view)
            return self.nothing()
        if self._pattern.measures.code is None:
            return default_output(view, self.schema, first + 1)
        if self._pattern.rows_per_match != "one":
            return rows_of_matches(view, self.schema)
        if self.timeouts is None:
            return measured(view, self.schema)
        shown = measured(view, pa.schema(list(self.schema)[:-1]))
        return shown.append_column(self.schema.field(-1), pa.repeat(timed_out, len(matches)))

    def _measures(self) -> Evaluator | None:
        """Made when it is first needed, and then used again."""
        if self._evaluator is None:
            self._evaluator = measure_evaluator(self._pattern)
        return self._evaluator

    @property
    def looks_between_matches(self) -> bool:
        """Whether `left_over` has something to report, for which it needs all matches of a call."""
        return self.unmatched is not None or self.timeouts is not None

    def left_over(
        self,
        matches: Matches | MatchDag,
        keys: np.ndarray,
        searched: np.ndarray,
        ready: np.ndarray,
        rows: PatternRows,
        known: KeyIndex | None,
    ) -> Iterator[pa.Table]:
        """What is known, where the query shows it, now that the search has come to `searched`: rows that are part of no match (see
        `UnmatchedRows.found`), and partial matches that their window ended (see `Timeouts.found`)."""
        if not self.looks_between_matches:
            return
        assert isinstance(matches, Matches)
        if self.timeouts is not None:
            for ended in self.timeouts.found(matches, keys, searched, ready, rows):
                yield self.table(ended, rows, known, timed_out=True)
        if self.unmatched is not None:
            index = self.unmatched.found(matches, keys, searched, rows)
            yield rows_without_match(MatchView(self._pattern, matches, rows, self._pool, None, None), index, self.schema)

    def _numbers(self, matches: Matches, key_count: int) -> np.ndarray:
        """Match numbers within their partitions. The matches of a key come in order."""
        self.numbered = grown(self.numbered, key_count)
        by_key = np.argsort(matches.key, kind="stable")
        keys = matches.key[by_key]
        first = np.concatenate([[True], keys[1:] != keys[:-1]])
        place = np.arange(len(keys)) - np.maximum.accumulate(np.where(first, np.arange(len(keys)), 0))
        numbers = np.empty(len(keys), np.int64)
        numbers[by_key] = self.numbered[keys] + place + 1
        self.numbered[:key_count] += np.bincount(matches.key, minlength=key_count)[:key_count]
        return numbers

    def renumber(self, old_of_new: np.ndarray) -> None:
        """Keys were renumbered, as in `Matcher.renumber`."""
        self.numbered = grown(self.numbered, int(old_of_new.max(initial=-1)) + 1)[old_of_new]
        if self.unmatched is not None:
            self.unmatched.renumber(old_of_new)
        if self.timeouts is not None:
            self.timeouts.renumber(old_of_new)

    def totals_of(self, matcher: Matcher) -> list[Total]:
        """The aggregates over all matches so far."""
        assert self.totals is not None
        return (matcher if isinstance(matcher, SumsUp) else self.totals).totals()

    def last(self, matcher: Matcher) -> pa.Table:
        """What close adds: where all matches make one row, that row."""
        if self.totals is not None:
            self.emitted = matcher.metrics()["matches"]
            return totals_table(self._pattern, self.schema, self.totals_of(matcher))
        if not self._counts_only:
            return self.nothing()
        self.emitted = matcher.metrics()["matches"]
        return pa.table({"count": pa.array([self.emitted], pa.int64())}, schema=COUNT_SCHEMA)


def _by_completion(matches: Matches, rows: PatternRows) -> np.ndarray | None:
    """The order of the completing events; those of one event keep the matcher's order. None: it is theirs already."""
    done = np.empty(len(matches), np.int64)
    for begin in range(0, len(matches), SHOWN_AT_ONCE):
        behind = min(begin + SHOWN_AT_ONCE, len(matches))
        done[begin:behind] = completed(rows, matches.part(begin, behind))
    return None if (done[1:] >= done[:-1]).all() else np.argsort(done, kind="stable")

"""A pattern at work: row code, matcher and report over the rows of its input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.program.analysis.event_links import linked_columns
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import Pattern, RowPattern
from ostinato.program.tree import TreePattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matcher import Matcher, SharesBeginning, SharesWork
from ostinato.runtime.matches.finished_instances import FinishedInstances
from ostinato.runtime.matches.held_matches import check_held
from ostinato.runtime.matches.match_dag import MatchDag
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.output.key_needs import KeyNeeds
from ostinato.runtime.row_code.row_code import RowCode
from ostinato.runtime.row_code.situation_code import SituationCode
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.begun_keys import BegunKeys
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.storage import bits_held_as, occurrence_columns
from ostinato.runtime.session.input_rows import NO_KEYS, InputRows
from ostinato.runtime.session.open_report import open_report
from ostinato.runtime.snapshots.state_check import HeldRows
from ostinato.runtime.strategies import open_matcher

Found = Matches | MatchDag | FinishedInstances


class Progress:
    """Per key, the ordinal up to which row code has run; patterns whose code is evaluated together share one."""

    def __init__(self) -> None:
        self.evaluated = np.zeros(1, np.int64)

    def grow_to(self, keys: int) -> None:
        self.evaluated = grown(self.evaluated, keys)


class PatternOperator:
    """`label` tells its columns from those of other patterns over the same rows. `in_order`: matches come in the
    order of their completing events, and wait for those before them that are not decided yet."""

    is_beginning = False  # of others, which go on with what it finds

    def __init__(self, pattern: Pattern, source: InputRows, label: str, budget: Budget, in_order: bool) -> None:
        self.pattern = pattern
        self.source = source
        linked = linked_columns(pattern) if isinstance(pattern, TreePattern) else ()
        self.rows = PatternRows(source.rows, label, len(pattern.slots), occurrence_columns(pattern), bits_held_as(pattern), linked)
        self.matcher: Matcher = open_matcher(pattern, budget, source.pool, in_order=in_order)
        if isinstance(self.matcher, SharesWork):
            self.matcher.share_with(source.workers)
        self.report = open_report(pattern, budget, source.pool)
        self._excludes_nulls = source.reads.null_keys != pattern.reads.null_keys  # keys with a null are there for others alone
        self.progress = Progress()
        self.owns_progress = True  # of those that share one, the first does
        self.needs = KeyNeeds(pattern)
        self._in_any_order = isinstance(pattern, RowPattern) or pattern.output in ("count", "aggregates")
        self.was_restored = False
        self._begun_keys: BegunKeys | None = None  # where it is fed only keys that concern it: those in which something is begun
        self._line = 0  # its own there
        self._searched: tuple[np.ndarray | None, np.ndarray] = (None, NO_KEYS)  # the keys that were fed last, and how far they are
        self.row_code: RowCode | None = None  # None: it is evaluated with that of others

    @property
    def begun_elsewhere(self) -> int:
        """Partial matches of its own that it shares with others."""
        return self.matcher.shared if isinstance(self.matcher, SharesBeginning) else 0

    def queries(self) -> Iterator[PatternOperator]:
        """The operators of queries for which it is there."""
        yield self

    @property
    def evaluated(self) -> np.ndarray:
        return self.progress.evaluated

    def feed(self, keys: np.ndarray, in_parts: bool, final: bool = False) -> Iterator[pa.Table]:
        """Evaluate new rows of these keys, which are its own, drive the matcher over them, and report. `final`: no row will come any
        more."""
        if not len(keys):
            return
        rows = self.rows
        self.progress.grow_to(rows.key_count)
        total = rows.base[keys] + rows.length[keys]
        ready = total
        if self.row_code is not None:
            start = self.evaluated[keys]
            if self.pattern.look_ahead and not final:
                ready = np.maximum(start, total - self.needs.awaited(rows, keys, self.source.reorder.watermark))
            self.row_code.fill(rows, keys, start, ready)
            self.evaluated[keys] = ready
        matches: Found = Matches.none()
        for matches in self._found(keys, ready, in_parts, final):
            if len(matches):
                yield self._shown(matches)
        if self._begun_keys is not None:
            self._begun_keys.flags[self._line, keys] = ~self.matcher.idle(keys)
            return
        searched = np.minimum(self.matcher.keep_from(keys), ready)
        if self.report.looks_between_matches:
            assert not isinstance(matches, FinishedInstances)
            yield from self.report.left_over(matches, keys, ready if final else searched, ready, rows, self.source.keys)
        self._searched = keys, searched

    def _shown(self, found: Found) -> pa.Table:
        if isinstance(found, FinishedInstances):
            return self.report.of_instances(found, self.rows, self.source.keys)
        if self.was_restored:
            check_held(found, self.rows)
        return self.report.table(found, self.rows, self.source.keys)

    def own_keys(self, keys: np.ndarray) -> np.ndarray:
        """Those among `keys` that are partitions for this pattern: a key with a null may be one for others alone."""
        nulls = self.with_null(keys)
        return keys if nulls is None else keys[~nulls]

    def with_null(self, keys: np.ndarray) -> np.ndarray | None:
        """Which of `keys` are none for this pattern; None: all are some."""
        return self.source.keys.with_null(keys) if self._excludes_nulls and self.source.keys is not None else None

    def _found(self, keys: np.ndarray, ready: np.ndarray, in_parts: bool, final: bool) -> Iterable[Found]:
        """In parts where somebody asks for it, and where the order of matches is that of the parts or does not matter. Rows of no match
        and timeouts are known by all matches together."""
        given = (self.rows, keys, ready, self.source.reorder.watermark, final)
        if (in_parts or self._in_any_order) and not self.report.looks_between_matches:
            return self.matcher.feed_in_parts(*given)
        return (self.matcher.feed(*given),)

    def kept_from(self, keys: np.ndarray) -> np.ndarray:
        """The first ordinal of each key whose row it may still need."""
        nulls = self.with_null(keys)
        if nulls is not None and nulls.any():
            kept = self.rows.base[keys] + self.rows.length[keys]
            kept[~nulls] = self._kept_from(keys[~nulls])
            return kept
        return self._kept_from(keys)

    def _kept_from(self, keys: np.ndarray) -> np.ndarray:
        fed, searched = self._searched
        if fed is not keys:
            searched = np.minimum(self.matcher.keep_from(keys), grown(self.evaluated, self.rows.key_count)[keys])
        return searched - self.pattern.look_back if self.pattern.look_back else searched

    @property
    def is_told_of_all(self) -> bool:
        """Whether it is fed every key that has got rows, and not only those that concern it."""
        return self._begun_keys is None

    @property
    def begun(self) -> np.ndarray:
        """Where it is fed only what concerns it, per key, whether something is begun there."""
        assert self._begun_keys is not None
        return self._begun_keys.flags[self._line]

    def feed_begun(self, keys: BegunKeys, line: int) -> None:
        """From now on it is fed only keys with rows that begin something, and those in which something is begun."""
        self._begun_keys, self._line = keys, line
        self.look_what_is_begun()

    def feed_all(self) -> None:
        """From now on it is fed all keys that get rows."""
        self.catch_up()
        self._begun_keys = None

    def evaluate_alone(self) -> None:
        """It shares its row code with no other any more."""
        if self.row_code is not None:
            return
        self.feed_all()
        progress, self.progress = self.progress, Progress()
        self.progress.evaluated = progress.evaluated.copy()
        if isinstance(self.pattern, IntervalPattern):
            self.row_code = SituationCode(self.pattern, self.source.pool, self.source.workers)
        else:
            self.row_code = RowCode([self.pattern], self.source.pool)
        self.owns_progress = True

    def look_what_is_begun(self) -> None:
        if self._begun_keys is not None:
            self._begun_keys.grow_to(self.rows.key_count)
            known = np.arange(self.source.key_count)
            self.begun[known] = ~self.matcher.idle(known)

    def catch_up(self) -> None:
        """Tell the matcher of rows that it was not fed, as they did not concern it."""
        if self._begun_keys is not None:
            self.progress.grow_to(self.rows.key_count)
            self._begun_keys.grow_to(self.rows.key_count)
            count = self.source.key_count
            known = self.own_keys(np.flatnonzero(~self.begun[:count] & (self.evaluated[:count] > 0)))
            if len(known):
                matcher: Any = self.matcher
                matcher.pass_over(known, self.evaluated[known])

    def held(self, rows: HeldRows) -> HeldRows:
        """What its state may refer to: of keys that are none for it, it has seen no row."""
        nulls = self.with_null(np.arange(self.source.key_count))
        if nulls is None:
            return rows
        base = rows.base.copy()
        base[np.flatnonzero(nulls)] = 0
        return replace(rows, base=base)

    def busy_keys(self) -> np.ndarray:
        """Keys with state or with rows that wait for their neighbours."""
        if self._begun_keys is not None:
            return np.flatnonzero(self.begun)
        known = np.arange(self.source.key_count)
        waiting = self.rows.base[known] + self.rows.length[known] > grown(self.evaluated, self.rows.key_count)[known]
        return self.own_keys(known[waiting | ~self.matcher.idle(known)])

    def needed_keys(self, keys: np.ndarray) -> np.ndarray:
        """Which of `keys` must not be forgotten."""
        self.progress.grow_to(self.rows.key_count)
        if self._begun_keys is not None:
            self._begun_keys.grow_to(self.rows.key_count)
        begun = ~self.matcher.idle(keys) if self._begun_keys is None else self.begun[keys]
        needed = self.needs.stay(self.rows, keys, self.evaluated, self.report) | begun
        nulls = self.with_null(keys)
        return needed if nulls is None else needed & ~nulls

    def renumber(self, old_of_new: np.ndarray) -> None:
        self.matcher.renumber(old_of_new)
        if self._begun_keys is not None and self._line == 0:  # of those that share them, the first does
            self._begun_keys.renumber(old_of_new)
        if self.owns_progress:
            self.progress.evaluated = grown(self.evaluated, int(old_of_new.max(initial=-1)) + 1)[old_of_new]
        self.report.renumber(old_of_new)

    def stop(self, budget: Budget) -> None:
        """It is fed nothing any more, and what it has begun is forgotten; its counters stay."""
        self.rows.forget()
        self.matcher = open_matcher(self.pattern, budget, self.source.pool, in_order=False)
        self._begun_keys, self.row_code = None, None

    def last(self) -> pa.Table:
        """What is known at the end alone."""
        return self.report.last(self.matcher)

    def metrics(self) -> dict[str, int]:
        timed_out = {} if self.report.timeouts is None else {"timed_out": self.report.timeouts.count}
        derived = self.row_code.metrics() if isinstance(self.row_code, SituationCode) else {}
        return {"matches": self.report.emitted, **timed_out, **derived, **self.matcher.metrics()}

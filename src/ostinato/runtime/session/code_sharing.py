"""Row code of the patterns that read one input, evaluated together; a pattern is told of what concerns it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from ostinato.base.errors import OstinatoError
from ostinato.program.analysis.start_bits import start_bits
from ostinato.runtime.matcher import PassesOver
from ostinato.runtime.row_code.row_code import RowCode
from ostinato.runtime.rows.arrival_check import can_fail
from ostinato.runtime.rows.begun_keys import BegunKeys
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.session.pattern_operator import PatternOperator


class CodeSharing:
    """For patterns that need no rows ahead: every row is evaluated as soon as it is there, for all of them. The others evaluate theirs
    by themselves. One pattern alone has nothing to share.

    Patterns that begin with certain predicates alone are fed only where a row has one of these, or where they have begun something. Which
    patterns that are is looked for in all of them at once."""

    def __init__(self, readers: Sequence[PatternOperator], rows: KeyedRows) -> None:
        self._readers = readers
        self._rows = rows
        self.only: PatternOperator | None = readers[0] if len(readers) == 1 else None  # who reads the rows alone
        able = [reader for reader in readers if reader.pattern.look_ahead == 0]
        self._members = able if len(able) > 1 else []
        shared = {id(member) for member in self._members}
        for reader in readers:
            if id(reader) not in shared:
                reader.evaluate_alone()
        self._selecting: list[PatternOperator] = []
        if self._members:
            self._share()
        places = {id(reader): place for place, reader in enumerate(readers)}
        self._place = [places[id(reader)] for reader in self._selecting]
        self._always = sorted(places[id(reader)] for reader in readers if reader.is_told_of_all)
        self._beginnings = {place for place, reader in enumerate(readers) if reader.is_beginning}
        self._look_back = max((reader.pattern.look_back for reader in self._selecting), default=0)

    def _share(self) -> None:
        self._code = RowCode([member.pattern for member in self._members], self._members[0].source.pool)
        self._numbers = {id(member): number for number, member in enumerate(self._members)}
        progress = self._members[0].progress  # those that are there already have had the same rows
        for member in self._members:
            member.progress, member.row_code, member.owns_progress = progress, None, member is self._members[0]
        bits = {id(member): start_bits(member.pattern) for member in self._members if isinstance(member.matcher, PassesOver)}
        self._selecting = [member for member in self._members if bits.get(id(member)) is not None]
        begun = BegunKeys(len(self._selecting), self._members[0].rows.key_count)
        for member in self._members:
            member.feed_all()
        starts: list[int] = []
        self._first_start = np.zeros(len(self._selecting), np.int64)
        for line, member in enumerate(self._selecting):
            member.feed_begun(begun, line)
            self._first_start[line] = len(starts)
            starts += [self._code.result(self._numbers[id(member)], bit) for bit in bits[id(member)] or ()]
        self._start_results, self._starts = np.unique(np.array(starts, np.int64), return_inverse=True)
        self._begun_keys = begun

    def evaluate(self, keys: np.ndarray) -> None:
        """The new rows of these keys."""
        if self._members:
            first = self._members[0]
            rows = first.rows
            first.progress.grow_to(rows.key_count)
            total = rows.base[keys] + rows.length[keys]
            self._evaluated_before = first.evaluated[keys]
            self._code.evaluate(rows, keys, self._evaluated_before, total)
            first.evaluated[keys] = total

    def failing(self, keys: np.ndarray) -> dict[int, OstinatoError]:
        """The readers whose code cannot be evaluated over the new rows of these keys, by their places, each with its error. Found one by
        one, where all of them together have failed; nothing is written down. A beginning computes what one of these does."""
        found: dict[int, OstinatoError] = {}
        for place, reader in enumerate(self._readers):
            if not reader.is_beginning and reader.row_code is None and can_fail(reader.pattern.rows):
                rows = reader.rows
                try:
                    code = RowCode([reader.pattern], reader.source.pool)
                    code.evaluate(rows, keys, reader.evaluated[keys], rows.base[keys] + rows.length[keys])
                except OstinatoError as error:
                    found[place] = error
        return found

    def concerned(self, keys: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """The readers that may begin or go on with something in the keys that have got rows, by their places, and in which of the keys.
        What they ask of the rows is written down."""
        selected = self._selected(keys) if self._selecting else {}
        for place in self._in_turn((*self._always, *selected)):
            reader = self._readers[place]
            if place in selected:
                yield place, self._told(reader, keys, selected[place])
            else:
                if reader.row_code is None:
                    self._code.store(reader.rows, self._numbers[id(reader)])
                yield place, reader.own_keys(keys)

    def _in_turn(self, places: Collection[int]) -> list[int]:
        """Beginnings before those that go on with them."""
        turn = sorted(places)
        return sorted(turn, key=lambda place: place not in self._beginnings) if self._beginnings else turn

    def _selected(self, keys: np.ndarray) -> dict[int, np.ndarray]:
        """By the places of readers that are fed where it concerns them: which of `keys` do."""
        begun = self._begun_keys
        begun.grow_to(self._members[0].rows.key_count)
        started = self._code.stretches_with(self._start_results, len(keys))
        found: dict[int, np.ndarray] = {}
        for block in begun.blocks(len(keys)):
            first = self._first_start[block]
            behind = self._first_start[block.stop] if block.stop < len(self._selecting) else len(self._starts)
            chosen = np.logical_or.reduceat(started[self._starts[first[0] : behind]], first - first[0], axis=0)
            chosen |= begun.flags[block, keys]
            for line in np.flatnonzero(chosen.any(axis=1)).tolist():
                found[self._place[block.start + line]] = np.flatnonzero(chosen[line])
        return found

    def _told(self, reader: PatternOperator, keys: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The chosen keys. The matcher passes over the rows of which it was not told."""
        selected = keys[chosen]
        nulls = reader.with_null(selected)
        if nulls is not None:
            selected, chosen = selected[~nulls], chosen[~nulls]
        before = self._evaluated_before[chosen]
        passed = ~reader.begun[selected] & (before > 0)
        if passed.any():
            matcher: Any = reader.matcher
            matcher.pass_over(selected[passed], before[passed])
        if len(chosen):
            self._code.store(reader.rows, self._numbers[id(reader)], chosen)
        return selected

    def kept_from(self, keys: np.ndarray) -> np.ndarray:
        """The first ordinal of each key whose row one of the readers may still need."""
        kept = [self._readers[place].kept_from(keys) for place in self._always]
        if self._selecting:
            kept.append(self._kept_where_begun(keys))
        least = kept[0] if kept else self._rows.base[keys] + self._rows.length[keys]
        for other in kept[1:]:
            least = np.minimum(least, other)
        return least

    def _kept_where_begun(self, keys: np.ndarray) -> np.ndarray:
        """Where nothing is begun, only rows to look back at."""
        first = self._members[0]
        first.progress.grow_to(first.rows.key_count)
        self._begun_keys.grow_to(first.rows.key_count)
        evaluated = first.evaluated[keys]
        kept = evaluated - self._look_back
        for line, places in self._begun_keys.lines_in(keys):
            reader = self._selecting[line]
            needed = np.minimum(reader.matcher.keep_from(keys[places]), evaluated[places]) - reader.pattern.look_back
            kept[places] = np.minimum(kept[places], needed)
        return kept

    def waiting(self, seen: np.ndarray | None) -> Iterator[tuple[int, np.ndarray]]:
        """The readers for which time alone may decide something, by their places, and the keys in which it may; `seen` are left out."""
        busy = self._begun_elsewhere(seen) if self._selecting else {}
        unseen = None
        for place in self._in_turn((*self._always, *busy)):
            reader = self._readers[place]
            if not reader.pattern.is_decided_by_time:
                continue
            keys = busy[place] if place in busy else reader.busy_keys()
            if place not in busy and seen is not None and len(keys):
                unseen = _others(seen, reader.rows.key_count) if unseen is None else unseen
                keys = keys[unseen[keys]]
            if len(keys):
                yield place, keys

    def _begun_elsewhere(self, seen: np.ndarray | None) -> dict[int, np.ndarray]:
        count = self._begun_keys.flags.shape[1]
        keys = np.arange(count) if seen is None else np.flatnonzero(_others(seen, count))
        return {self._place[line]: keys[places] for line, places in self._begun_keys.lines_in(keys)}


def _others(seen: np.ndarray, count: int) -> np.ndarray:
    flags = np.ones(count, np.bool_)
    flags[seen] = False
    return flags

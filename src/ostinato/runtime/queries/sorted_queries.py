"""The queries that a row may begin something in, found by what it has to be compared with."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.queries.query_pairs import EQ, GE, GT, LE, LT, merge_sorted
from ostinato.kernels.rows.hashing import Numbering
from ostinato.program.analysis.concerned_rows import EQUAL, Comparison, Conjunction
from ostinato.runtime.queries.query_table import GONE, QueryTable

RELATIONS = {EQUAL: EQ, "lt": LT, "le": LE, "gt": GT, "ge": GE}


class SortedQueries:
    """Of one conjunction of comparisons: queries lie in buckets of equal constants where values have to be equal to these, and inside of a
    bucket by the constant of one comparison more, so that those which hold are neighbours. Queries that came are merged with the others
    when rows come, in one pass; those that are gone are left out by it."""

    def __init__(self, conjunction: Conjunction, table: QueryTable, by_constants: bool = True) -> None:
        """`by_constants`: without it all queries are in one bucket, for comparison."""
        self._table = table
        ranges = [comparison for comparison in conjunction if comparison.relation != EQUAL] if by_constants else []
        self.equal = [comparison for comparison in conjunction if comparison.relation == EQUAL] if by_constants else []
        self.sorted_by: Comparison | None = ranges[0] if ranges else None
        self.tests = ranges[1:] if by_constants else list(conjunction)
        self._numberings = [Numbering() for _ in self.equal]
        self._combined = [Numbering() for _ in self.equal[1:]]
        self._bucket = self._image = self.order = np.zeros(0, np.int64)
        self.bucket_begin = np.zeros(2, np.int64)
        self._seen = self._changes = 0

    @property
    def image(self) -> np.ndarray:
        return self._image

    def bring_up_to_date(self) -> None:
        """With what the table has now."""
        count, gone = len(self._table), self._table.changes
        if count == self._seen and gone == self._changes:
            return
        if count == self._seen and 4 * (gone - self._changes) < len(self.order):
            return  # those that are gone are passed over
        new = np.arange(self._seen, count)
        bucket = self._new_buckets(new)
        image = self._table.images[self.sorted_by.parameter, new] if self.sorted_by is not None else np.zeros(len(new), np.int64)
        placed = np.lexsort((image, bucket))
        size = len(self.order) + len(new)
        merged = np.empty((3, size), np.int64)
        kept = merge_sorted(
            self._bucket, self._image, self.order, bucket[placed], image[placed], new[placed], self._table.since, GONE, *merged
        )
        self._bucket, self._image, self.order = merged[0, :kept], merged[1, :kept], merged[2, :kept]
        counts = np.bincount(self._bucket, minlength=self._bucket_count)
        self.bucket_begin = np.concatenate([[0], np.cumsum(counts)])
        self._seen, self._changes = count, gone

    @property
    def _bucket_count(self) -> int:
        if not self.equal:
            return 1
        return len(self._combined[-1]) if self._combined else len(self._numberings[0])

    def _new_buckets(self, queries: np.ndarray) -> np.ndarray:
        found = np.zeros(len(queries), np.int64)
        for place, comparison in enumerate(self.equal):
            numbers = self._numberings[place].number(self._table.images[comparison.parameter, queries])
            found = self._combined[place - 1].number(found << 32 | numbers) if place else numbers
        return found

    def buckets(self, images: dict[int, tuple[np.ndarray, np.ndarray | None]], count: int) -> np.ndarray:
        """The bucket of each event, -1 where there is none."""
        found = np.zeros(count, np.int64)
        for place, comparison in enumerate(self.equal):
            image, valid = images[comparison.value]
            numbers = self._numberings[place].find(image)
            if place:
                combined = self._combined[place - 1].find(found << 32 | numbers)
                numbers = np.where((found < 0) | (numbers < 0), -1, combined)
            found = numbers if valid is None else np.where(valid, numbers, -1)
        return found

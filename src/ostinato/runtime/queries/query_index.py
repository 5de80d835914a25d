"""Which queries of a shape each event of a batch may concern."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ostinato.kernels.queries import query_pairs as kernel
from ostinato.kernels.vectors.evaluate import Evaluator
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.analysis.concerned_rows import Comparison, ConcernedRows, Conjunction
from ostinato.program.column_code import ColumnCode
from ostinato.runtime.queries.images import image_of
from ostinato.runtime.queries.query_table import QueryTable
from ostinato.runtime.queries.sorted_queries import RELATIONS, SortedQueries

FIRST_PAIRS = 1 << 12
MOST_PAIRS = 1 << 20  # that are made at a time, but for those of one event
Images = dict[int, tuple[np.ndarray, np.ndarray | None]]  # by operation of the row code: see `image_of`


class QueryIndex:
    """`rows` is the row code of the shape, of which comparisons name operations. What a pair may matter for is decided by the pattern:
    these are all that could, and some more."""

    def __init__(self, concerned: ConcernedRows, rows: ColumnCode, table: QueryTable, by_constants: bool = True) -> None:
        self._table = table
        self._initial = [SortedQueries(conjunction, table, by_constants) for conjunction in concerned.initial]
        self._follows = concerned.follows
        every = [*concerned.initial, *(concerned.follows or ())]
        values = sorted({comparison.value for conjunction in every for comparison in conjunction})
        self._line = {value: line for line, value in enumerate(values)}
        self._evaluator = Evaluator(rows.reduced_to(values))
        equal = sorted({comparison.value for begin in self._initial for comparison in begin.equal})
        self._equal_lines = {value: line for line, value in enumerate(equal)}
        self._equal_evaluator = Evaluator(rows.reduced_to(equal))
        self._comparisons: list[list[int]] = []
        self._begin_tests = self._listed([tuple(begin.tests) for begin in self._initial])
        self._follow_tests = self._listed(list(concerned.follows or ()))
        self._tests = np.array(self._comparisons, np.int64).reshape(-1, 3)
        self._control = np.zeros(kernel.CELLS, np.int64)
        self._stamps = np.zeros((2, 0), np.int64)
        self._room = FIRST_PAIRS  # for pairs, as the last ones needed it

    @property
    def follows(self) -> bool:
        """Whether anything matters because something is begun."""
        return self._follows is None or len(self._follows) > 0

    def _listed(self, conjunctions: list[Conjunction]) -> np.ndarray:
        begin = [len(self._comparisons)]
        for conjunction in conjunctions:
            self._comparisons += [self._test(comparison) for comparison in conjunction]
            begin.append(len(self._comparisons))
        return np.array(begin, np.int64)

    def _test(self, comparison: Comparison) -> list[int]:
        return [self._line[comparison.value], RELATIONS[comparison.relation], comparison.parameter]

    def wanted(self, columns: Mapping[str, Vector], count: int) -> np.ndarray | None:
        """Which events have values that constants of some query are equal to, where these have to be; None: no equality is asked for."""
        self._bring_up_to_date()
        if not all(begin.equal for begin in self._initial):
            return None
        images = self._images(self._equal_lines, self._equal_evaluator, columns, count)
        flags = self._initial[0].buckets(images, count) >= 0
        for begin in self._initial[1:]:
            flags |= begin.buckets(images, count) >= 0
        return flags

    def pairs(
        self,
        columns: Mapping[str, Vector],
        count: int,
        arrived: np.ndarray,
        own: np.ndarray,
        partitions: int,
        begun: tuple[np.ndarray, np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Events and numbers of queries, in the order of events, and of how many events they are: of fewer than there are where the pairs
        would be too many. `own` is the partition of each event, `begun` are partitions and numbers of queries that have begun something
        there; `arrived` is empty where all queries see the same."""
        self._bring_up_to_date()
        values, known, buckets = self._values(columns, count)
        head = np.full(partitions, -1, np.int64)
        following, item = np.empty((2, len(begun[0]) + FIRST_PAIRS), np.int64)
        kernel.list_begun(*begun, head, following, item)
        control = self._control
        control[kernel.AT], control[kernel.PAIRS], control[kernel.ITEMS] = 0, 0, len(begun[0])
        follows = kernel.ALL_FOLLOW if self._follows is None else kernel.SOME_FOLLOW if self._follows else kernel.NOTHING_FOLLOWS
        begins, bucket_begin, order, image = self._lists()
        out = np.empty((2, self._room), np.int64)
        while True:
            ended = kernel.join_queries(
                control, buckets, begins, bucket_begin, order, image, self._tests, self._begin_tests, self._follow_tests, follows,
                values, known, self._table.images, self._table.since, arrived, own, head, following, item, self._stamps, *out,
            )  # fmt: skip
            if ended == kernel.ALL_FOUND:
                break
            if ended == kernel.NO_ROOM_FOR_ITEMS:
                following, item = (np.concatenate([array, np.empty_like(array)]) for array in (following, item))
            elif out.shape[1] < MOST_PAIRS or not control[kernel.AT]:
                out = np.concatenate([out, np.empty_like(out)], axis=1)
            else:
                break
        found = int(control[kernel.PAIRS])
        self._room = min(max(FIRST_PAIRS, 2 * found), MOST_PAIRS)
        return out[0, :found], out[1, :found], int(control[kernel.AT])

    def _bring_up_to_date(self) -> None:
        for begin in self._initial:
            begin.bring_up_to_date()
        if len(self._table.since) > self._stamps.shape[1]:
            self._stamps = np.zeros((2, len(self._table.since)), np.int64)

    def _values(self, columns: Mapping[str, Vector], count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        images = self._images(self._line, self._evaluator, columns, count)
        values = np.empty((len(images), count), np.int64)
        known = np.ones((len(images), count), np.uint8)
        for value, line in self._line.items():
            values[line], valid = images[value]
            if valid is not None:
                known[line] = valid
        return values, known, np.stack([begin.buckets(images, count) for begin in self._initial])

    def _images(self, lines: Mapping[int, int], evaluator: Evaluator, columns: Mapping[str, Vector], count: int) -> Images:
        vectors = evaluator.evaluate(count, columns.__getitem__)
        return {value: image_of(vectors[line], self._table.pool) for value, line in lines.items()}

    def _lists(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Those of all beginnings, one behind the other."""
        first, queries = 0, 0
        begins, bucket_begins = [], []
        for begin in self._initial:
            by = begin.sorted_by
            line, relation = (-1, 0) if by is None else (self._line[by.value], RELATIONS[by.relation])
            begins.append([line, relation, first])
            bucket_begins.append(begin.bucket_begin + queries)
            first += len(begin.bucket_begin)
            queries += len(begin.order)
        if len(self._initial) == 1:
            only = self._initial[0]
            return np.array(begins, np.int64), only.bucket_begin, only.order, only.image
        orders, images = (np.concatenate([getattr(begin, name) for begin in self._initial]) for name in ("order", "image"))
        return np.array(begins, np.int64), np.concatenate(bucket_begins), orders, images

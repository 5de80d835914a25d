"""Conditions of situations evaluated before rows are sent to the one place where they are matched: whoever reads rows does it, beside
others who read others. What travels then is a truth value for each condition, and the columns that situations carry.

A condition that looks at other rows (PREV) needs their order, which is known where all rows are: its columns travel, and it is evaluated
there, as functions of users are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa

from ostinato.expr.types import BOOL
from ostinato.kernels.vectors.evaluate import Evaluator
from ostinato.program import serde
from ostinato.program.code_inputs import code_inputs
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.input import Column, Input, Source
from ostinato.program.intervals import IntervalPattern
from ostinato.program.program import Program
from ostinato.runtime.rows.column_reader import ColumnReader
from ostinato.runtime.rows.stream_form import in_form
from ostinato.tasks.outside_streams import OutsideStream, outside_streams
from ostinato.tasks.quiet_rows import HOLDS, SentRows, with_truth, without_quiet
from ostinato.tasks.worker import without_time

IN_PLACE = ("shift", "user")  # operations that have to be done where all rows are, in order


@dataclass(frozen=True)
class EarlyConditions:
    """`whole` as it was compiled, with the one operator that has this pattern; `bits` are those that are evaluated early."""

    whole: Program
    pattern: IntervalPattern
    bits: tuple[int, ...]

    @staticmethod
    def of(program: Program) -> EarlyConditions | None:
        """Of the one operator of a program, which has no keys; None: there is more, or nothing that can be done early."""
        if len(program.operators) != 1 or any(len(stream.feeds) > 1 for stream in outside_streams(program)):
            return None
        pattern = program.operators[0].body
        if not isinstance(pattern, IntervalPattern) or pattern.reads.keys or pattern.reads.shape:
            return None
        bits = tuple(number for number in range(pattern.bits) if not _is_done_in_place(pattern.rows, pattern.rows.results[number]))
        return EarlyConditions(program, pattern, bits) if bits else None

    @cached_property
    def matching(self) -> IntervalPattern:
        """The same pattern over rows that come with their truth values."""
        code = self.pattern.rows
        rows = _given(code, {bit: ColumnOp("input", (), BOOL, (_holds(bit),)) for bit in self.bits})
        return replace(self.pattern, rows=rows, reads=_reading(self.pattern.reads, rows, self.bits))

    @property
    def program(self) -> Program:
        """What is left to do."""
        (operator,) = self.whole.operators
        return replace(self.whole, inputs=(self.matching.reads,), operators=(replace(operator, body=self.matching),))

    @property
    def leaves_out(self) -> bool:
        """Whether rows at which nothing changes are told from the others by their own values, and those of their neighbours in a batch."""
        every = len(self.bits) == self.pattern.bits and not self.pattern.look_back
        return every and len(self.pattern.reads.sources) <= 1 and all(one.reads < 0 for one in self.pattern.definitions)

    @cached_property
    def asked_for(self) -> tuple[str, ...]:
        """The conditions of which each row matters: the situation takes it in, or lasts long enough at its time, or the row is one."""
        early = self.pattern.latency == "earliest"
        definitions = self.pattern.definitions
        bits = {one.bit for one in definitions if one.block >= 0 or one.start >= 0 or (early and one.at_least >= 0)}
        return tuple(map(_holds, sorted(bits)))

    @property
    def told(self) -> tuple[str, ...]:
        """The columns with truth values."""
        return tuple(map(_holds, self.bits))

    @cached_property
    def streams(self) -> tuple[_EarlyStream, ...]:
        """In the order in which they are numbered."""
        pairs = zip(outside_streams(self.whole), outside_streams(self.program), strict=True)
        return tuple(_EarlyStream(self, own, sent) for own, sent in pairs)

    def dumps(self) -> bytes:
        return serde.dumps(self.whole)


@lru_cache(8)  # a task packs one batch after the other
def loaded(data: bytes) -> EarlyConditions:
    """Functions of users are not called early: nobody has to bring them."""
    found = EarlyConditions.of(serde.loads(data))
    assert found is not None
    return found


class _EarlyStream:
    """Rows of one of the streams, in their own columns."""

    def __init__(self, conditions: EarlyConditions, own: OutsideStream, sent: OutsideStream) -> None:
        self._conditions = conditions
        reads = conditions.pattern.reads
        ((_, place),) = own.feeds
        self._own = own
        self._source = None if place is None else reads.sources[place]
        self._wanted = reads
        self._reader = ColumnReader(reads)
        self._kept = [column.name for column in sent.reads.columns if column.name not in conditions.told]
        bits = [conditions.pattern.rows.results[bit] for bit in conditions.bits]
        self._evaluator = Evaluator(conditions.pattern.rows.reduced_to(bits))

    def sent(self, table: pa.Table, leaves_out: bool) -> SentRows:
        """The rows as they are sent. `leaves_out`: without those at which nothing changes, where they are known."""
        if table.column(self._own.time).null_count:
            raise without_time(self._own.reads, table)
        truth = self._truth(table)
        rows = table.select(self._kept)
        if not leaves_out or not self._conditions.leaves_out or not rows.num_rows:
            return SentRows(with_truth(rows, truth))
        return without_quiet(rows, self._own.time, truth, self._conditions.asked_for)

    def _truth(self, table: pa.Table) -> dict[str, np.ndarray]:
        """Unknown is not true."""
        merged = table if self._source is None else in_form(table, self._source, self._wanted.columns)
        columns = self._reader.read(merged)
        found = self._evaluator.evaluate(table.num_rows, columns.__getitem__)
        holds = (vector.data if vector.valid is None else vector.data & vector.valid for vector in found)
        return dict(zip(self._conditions.told, map(np.ascontiguousarray, holds), strict=True))


def _holds(bit: int) -> str:
    return f"{HOLDS}{bit}"


def _is_done_in_place(code: ColumnCode, result: int) -> bool:
    return any(code.ops[number].op in IN_PLACE for number in code.needed_for(result))


def _given(code: ColumnCode, told: dict[int, ColumnOp]) -> ColumnCode:
    """The code with some of its results given, without the operations that led to them alone. Others may read these operations, too, and
    tell unknown from false."""
    ops = (*code.ops, *told.values())
    place = {number: len(code.ops) + added for added, number in enumerate(told)}
    results = [place.get(number, result) for number, result in enumerate(code.results)]
    return ColumnCode(ops, tuple(results)).reduced_to(results)


def _reading(reads: Input, rows: ColumnCode, bits: Sequence[int]) -> Input:
    """The columns that are left to be read, and behind them the truth values, of each stream."""
    places = {reads.time, *(column for column, _, _ in reads.order)} | ({reads.stream_number} if reads.stream_number >= 0 else set())
    used = {*code_inputs(rows), *(reads.columns[place].name for place in places)}
    columns = tuple(column for column in reads.columns if column.name in used)
    number = {column.name: place for place, column in enumerate(columns)}
    moved = {place: number[reads.columns[place].name] for place in places}
    return replace(
        reads,
        columns=(*columns, *(Column(_holds(bit), BOOL) for bit in bits)),
        sources=tuple(_sending(source, columns, bits) for source in reads.sources),
        time=moved[reads.time],
        order=tuple((moved[column], descending, first) for column, descending, first in reads.order),
        stream_number=moved.get(reads.stream_number, -1),
    )


def _sending(source: Source, columns: Sequence[Column], bits: Sequence[int]) -> Source:
    if not source.columns:  # they are called alike
        return source
    names = {column.name for column in columns} | {column.root for column in columns}
    kept = tuple(pair for pair in source.columns if pair[1] in names)
    return replace(source, columns=(*kept, *((_holds(bit), _holds(bit)) for bit in bits)))

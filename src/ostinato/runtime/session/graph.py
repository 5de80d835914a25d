"""A program at work: rows go to inputs, inputs to the operators that read them, results to the inputs that read these."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.program.expansion import expanded
from ostinato.program.program import Program
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.rows.column_reader import CodedTexts
from ostinato.runtime.rows.reorder import NEVER
from ostinato.runtime.session.code_sharing import CodeSharing
from ostinato.runtime.session.counters import counted
from ostinato.runtime.session.edges import Edge, edges, outside_streams, read_operators, readers_of, targets
from ostinato.runtime.session.given_times import Watermark, watermark_units
from ostinato.runtime.session.graph_beginnings import GraphBeginnings
from ostinato.runtime.session.heap.string_sweep import StringSweep
from ostinato.runtime.session.heap.value_sweep import sweep_values
from ostinato.runtime.session.idle_keys import IdleKeys
from ostinato.runtime.session.input_rows import NO_KEYS, InputRows
from ostinato.runtime.session.pattern_operator import PatternOperator
from ostinato.runtime.session.quarantine import Quarantine, query_of
from ostinato.runtime.session.quiet_partitions import Sweeps, is_due, sweeps_of
from ostinato.runtime.session.session_limits import SessionLimits
from ostinato.runtime.session.session_options import SessionOptions
from ostinato.runtime.session.shape_rows import ShapeRows, kept_rows
from ostinato.runtime.workers import Workers

if TYPE_CHECKING:
    from ostinato.runtime.session.shared_beginnings import BeginningOperator

Found = tuple[int, pa.Table]  # the number of an operator, and some of its results
Feed = tuple[int, int | None]  # the number of an input, and of one of its sources from outside; None: a stream is all that it reads


class Graph:
    """The inputs and operators of a program, connected. Operators of queries in `quarantine` are connected to nothing."""

    def __init__(
        self,
        program: Program,
        options: SessionOptions,
        budget: Budget,
        *,
        batches_apart: bool = False,
        without: Collection[str] = (),
        quarantines: bool = False,
        threads: int | None = 1,
    ) -> None:
        """`without`: what is not used, for comparison: "query_index", "shared_beginnings"."""
        self._workers = Workers(threads)
        self.quarantine = Quarantine(quarantines)
        self.program = program
        self._without = frozenset(without)
        self._beginnings = GraphBeginnings(budget, "shared_beginnings" not in without)
        self.options = options
        self.budget = budget
        self._apart = batches_apart
        self._look_at(program, frozenset())
        self.inputs = [self._input(number) for number in range(len(program.inputs))]
        self.operators = [self._operator(number) for number in range(len(program.operators))]
        self.edges = edges(program, self.options.ordered)
        self.limits = SessionLimits(program.operators[program.results[-1].operator].body if program.results else None, budget)
        self.half_way = False  # an operator has begun with rows, and not all is done: after an error such a state is not used again
        self._idle_keys = [IdleKeys() for _ in self.inputs]
        self.texts = [StringSweep() for _ in self.inputs]
        self._connect()

    def _look_at(self, program: Program, stopped: Collection[int]) -> None:
        self._declared = readers_of(program)  # per input those that read it, also those in quarantine
        self._reader_numbers = [[n for n in numbers if n not in stopped] if stopped else numbers for numbers in self._declared]
        self._read = read_operators(program)

    def _input(self, number: int) -> InputRows:
        reads = self.program.inputs[number]
        if reads.shape:
            body = expanded(self.program.operators[self._declared[number][0]].body)
            return ShapeRows(reads, body, self.options, batches_apart=self._apart, without=self._without)
        patterns = [self.program.operators[n].body for n in self._declared[number]]
        return InputRows(reads, patterns, self.options, batches_apart=self._apart, workers=self._workers)

    def _operator(self, number: int) -> PatternOperator:
        operator = self.program.operators[number]
        source = self.inputs[operator.ports[0]]
        label = f"{operator.name}/" if operator.name else ""
        in_order = number in self._read or (self.options.ordered and not source.has_upstream)
        if not isinstance(source, ShapeRows):
            return PatternOperator(operator.body, source, label, self.budget, in_order)
        shared = PatternOperator(expanded(operator.body), source, label, self.budget, in_order)
        source.matcher = shared.matcher
        return shared

    def _connect(self) -> None:
        self._beginnings.keep(self.inputs)
        self.readers: list[list[PatternOperator]] = [[] for _ in self.inputs]  # those of queries, then their common beginnings
        self._swept = [NEVER] * len(self.inputs)  # up to where time has decided what it decides, in all partitions
        self._sweeps: list[Sweeps | None] = [None] * len(self.inputs)
        self._sharing: list[CodeSharing] = [CodeSharing((), source.rows) for source in self.inputs]
        for number in range(len(self.inputs)):
            self._connect_readers(number)
        self.limits.connect(self.inputs, self.readers, self.texts)

    def _connect_readers(self, number: int) -> None:
        own, source = [self.operators[n] for n in self._reader_numbers[number]], self.inputs[number]
        readers = self.readers[number] = [*own, *self._beginnings.among(source, own)]
        waited_for = self.options.ordered or any(self.edges[operator] for operator in self._reader_numbers[number])
        self._sweeps[number] = sweeps_of((reader.pattern for reader in readers), waited_for)
        self._sharing[number] = CodeSharing(readers, source.rows)
        source.read_by([reader.pattern for reader in own], partial(self._refused, number))

    def _refused(self, number: int, place: int, error: OstinatoError) -> None:
        self._failed(self._reader_numbers[number][place], error)

    def _failed(self, operator: int, error: OstinatoError) -> None:
        if not self.quarantine.takes or isinstance(self.operators[operator].source, ShapeRows):
            raise error  # queries of a shape have one budget, as one query has, and nothing else that could fail
        self.quarantine.take(query_of(self.program.operators[operator].name), error)

    def expel(self) -> None:
        """Go on without the queries in quarantine; of the others nothing changes. Called where all of these have had the same rows."""
        self.quarantine.has_changed = False
        gone = self.quarantine.operators(self.program)
        for number, numbers in enumerate(self._reader_numbers):
            if gone.isdisjoint(numbers):
                continue
            self._reader_numbers[number] = [operator for operator in numbers if operator not in gone]
            self._beginnings.part(self.inputs[number], [self.operators[operator] for operator in gone.intersection(numbers)])
            self._connect_readers(number)
            for operator in gone.intersection(numbers):
                self.operators[operator].stop(self.budget)

    def change(self, program: Program) -> None:
        """Go on with other queries, between two calls. Operators are known by their names; what they read stays with them, where rows have
        come already, and is made anew where not."""
        before = {operator.name: (self.operators[n], self.inputs[operator.ports[0]]) for n, operator in enumerate(self.program.operators)}
        self.quarantine.release({result.query for result in self.program.results} - {result.query for result in program.results})
        stopped = self.quarantine.operators(program)
        self.program = program
        self._look_at(program, stopped)
        held = [kept_rows([program.operators[n].name for n in numbers], before) for numbers in self._declared]
        self.inputs = [self._input(number) if one is None else one for number, one in enumerate(held)]
        self.operators = []
        for number, operator in enumerate(program.operators):
            known, source = before.pop(operator.name, (None, None))
            stays = known is not None and (number in stopped or source is self.inputs[operator.ports[0]])
            self.operators.append(known if known is not None and stays else self._operator(number))
        for gone, _ in before.values():
            gone.rows.forget()
        self.edges = edges(program, self.options.ordered)
        self._idle_keys = [IdleKeys() for _ in self.inputs]
        self.texts = [StringSweep() for _ in self.inputs]
        self._connect()

    @property
    def beginnings(self) -> list[BeginningOperator]:
        """What several of the operators begin alike."""
        return self._beginnings.operators

    @property
    def streams(self) -> list[str]:
        """Those from outside."""
        return outside_streams(self.program)

    def push(self, stream: str | None, batch: Any, in_parts: bool) -> Iterator[Found]:
        """`stream` None: the batch is of the one stream there is, or has the columns of merged streams already."""
        fed = targets(self.program, stream)
        texts = CodedTexts() if len(fed) > 1 else None
        for number, source in fed:
            self.inputs[number].read_with(texts)
            yield from self._settle(number, self.inputs[number].push(batch, source), in_parts)
        self.half_way = False

    def push_rows(self, batch: Any, in_parts: bool) -> Iterator[Found]:
        """Rows that have the columns of every input that is not fed by operators."""
        for number, source in enumerate(self.inputs):
            if not source.has_upstream:
                yield from self._settle(number, source.push(batch), in_parts)
        self.half_way = False

    def push_to(self, number: int, source: int | None, batch: Any, in_parts: bool) -> Iterator[Found]:
        """To one input, or to one of its sources, alone."""
        yield from self._settle(number, self.inputs[number].push(batch, source), in_parts)
        self.half_way = False

    def let_time_pass(self, in_parts: bool) -> Iterator[Found]:
        """Of inputs whose rows come in order: their own times are the watermark."""
        for number, source in enumerate(self.inputs):
            if source.latest is not None:
                yield from self._settle(number, source.advance(source.latest), in_parts, time_passed=True)
        self.half_way = False

    def advance(self, watermark: Watermark, in_parts: bool) -> Iterator[Found]:
        for number, source in enumerate(self.inputs):
            touched = source.advance(watermark_units(watermark, source.reads))
            yield from self._settle(number, touched, in_parts, time_passed=not source.has_upstream)
        self.half_way = False

    def advance_feeds(self, watermarks: Mapping[Feed, int], in_parts: bool) -> Iterator[Found]:
        """The same where the streams from outside have come differently far: nobody waits for a stream that he does not read."""
        for number, source in enumerate(self.inputs):
            own = {place: watermark for (of, place), watermark in watermarks.items() if of == number}
            if own and (source.has_upstream or min(own.values()) > NEVER):
                touched = source.advance_sources(own)
                yield from self._settle(number, touched, in_parts, time_passed=not source.has_upstream)
        self.half_way = False

    def close(self, in_parts: bool) -> Iterator[Found]:
        """Upstream first: what is decided there are the last rows of those that read it."""
        for number, source in enumerate(self.inputs):
            yield from self._settle(number, source.flush(), in_parts)
            yield from self._settle(number, NO_KEYS, in_parts, final=True)
            for operator in self._reader_numbers[number]:
                try:
                    last = self.operators[operator].last()
                except OstinatoError as error:
                    self._failed(operator, error)
                else:
                    yield operator, last
        self.half_way = False

    def metrics(self) -> dict[str, int]:
        return counted([*self.operators, *self.beginnings], self.inputs, self._workers.most_used)

    def _settle(
        self, number: int, touched: np.ndarray, in_parts: bool, *, time_passed: bool = False, final: bool = False
    ) -> Iterator[Found]:
        """Let the operators that read an input go on, then those that read what they return. `time_passed`: its watermark has moved, which
        may decide something also where no rows came; `final`: no row will come any more."""
        if self.quarantine.has_changed:
            self.expel()  # rows that have come may have brought something that a query cannot compute
        found: dict[int, list[pa.Table]] = {}
        for operator, table in self._run_patterns(number, touched, in_parts, time_passed, final):
            if self.edges[operator] and table.num_rows:
                found.setdefault(operator, []).append(table)
            yield operator, table
        for operator in self._reader_numbers[number]:
            for edge in self.edges[operator]:
                yield from self._hand_on(number, edge, found.get(operator, []), in_parts, final)

    def _hand_on(self, number: int, edge: Edge, tables: Sequence[pa.Table], in_parts: bool, final: bool) -> Iterator[Found]:
        """Rows first, then the watermark: a row is late only if it is older than a watermark that was acted upon."""
        target = self.inputs[edge.target]
        for table in tables:
            target.push(table, edge.source)
            self.limits.check_rows(edge.target)
        watermark = self.inputs[number].watermark if edge.by_rows else self._swept[number]
        if final or edge.delay is None or watermark == NEVER:
            return
        before = target.reorder.watermark
        touched = target.tell(edge.source, edge.watermark(watermark))
        if len(touched) or target.reorder.watermark > before:
            yield from self._settle(edge.target, touched, in_parts, time_passed=True)

    def _run_patterns(self, number: int, touched: np.ndarray, in_parts: bool, time_passed: bool, final: bool) -> Iterator[Found]:
        source = self.inputs[number]
        self.half_way = True
        if final:
            for operator in self._reader_numbers[number]:
                yield from self._fed(operator, self.operators[operator].busy_keys(), in_parts, final=True)
            if self.quarantine.has_changed:
                self.expel()
            return
        for part in source.parts(touched):
            touched = part
            if len(touched):
                yield from self._feed(number, touched, in_parts)
            if source.holds_back:
                self.limits.check_rows(number)
        sweeps = self._sweeps[number]
        if sweeps is not None and (time_passed or (len(touched) and is_due(source, sweeps, self._swept[number]))):
            yield from self._sweep(number, None if time_passed else touched, in_parts)
        if len(touched):
            self._idle_keys[number].forget(source, self.readers[number])
            self.texts[number].sweep(source, self.readers[number])
            sweep_values(source, self.readers[number])
        self.limits.check_rows(number)

    def _feed(self, number: int, keys: np.ndarray, in_parts: bool) -> Iterator[Found]:
        if self._beginnings.look(self.inputs[number], self.readers[number]):
            self._connect_readers(number)
        if self._sharing[number].only is None:
            self._evaluate(number, keys)
        sharing = self._sharing[number]  # without queries that have just failed
        if sharing.only is not None:
            yield from self._fed_reader(number, 0, sharing.only.own_keys(keys), in_parts)
        else:
            for place, concerned in sharing.concerned(keys):
                yield from self._fed_reader(number, place, concerned, in_parts)
        self._trim(number, keys)

    def _evaluate(self, number: int, keys: np.ndarray) -> None:
        """What readers have in common. A query that cannot compute its part of it leaves, and is looked for alone: then the others are
        evaluated without it."""
        try:
            self._sharing[number].evaluate(keys)
        except OstinatoError:
            failing = self._sharing[number].failing(keys) if self.quarantine.takes else {}
            if not failing:
                raise
            for place, own in failing.items():
                self._failed(self._reader_numbers[number][place], own)
            self.expel()
            self._evaluate(number, keys)

    def _fed(self, operator: int, keys: np.ndarray, in_parts: bool, final: bool = False) -> Iterator[Found]:
        try:
            for table in self.operators[operator].feed(keys, in_parts, final):
                yield operator, table
        except OstinatoError as error:
            self._failed(operator, error)

    def _fed_reader(self, number: int, place: int, keys: np.ndarray, in_parts: bool) -> Iterator[Found]:
        """An error of a beginning is one of all that begin so."""
        numbers, reader = self._reader_numbers[number], self.readers[number][place]
        if not reader.is_beginning:
            yield from self._fed(numbers[place], keys, in_parts)
            return
        try:
            deque(reader.feed(keys, in_parts=False), maxlen=0)
        except OstinatoError as error:
            failing = [*reader.queries()]
            for operator in (n for n in numbers if self.operators[n] in failing):
                self._failed(operator, error)

    def _trim(self, number: int, keys: np.ndarray) -> None:
        """Rows are kept as long as one of those that read them may need them."""
        if self.quarantine.has_changed:
            self.expel()
        sharing = self._sharing[number]
        self.inputs[number].rows.trim(keys, sharing.kept_from(keys) if sharing.only is None else sharing.only.kept_from(keys))

    def _sweep(self, number: int, just_seen: np.ndarray | None, in_parts: bool) -> Iterator[Found]:
        """Let the time decide that has passed; of the keys `just_seen` it has already."""
        source = self.inputs[number]
        source.since_sweep = 0
        touched = np.zeros(source.rows.key_count, np.bool_)
        for place, keys in self._sharing[number].waiting(just_seen):
            touched[keys] = True
            yield from self._fed_reader(number, place, keys, in_parts)
        if touched.any():
            self._trim(number, np.flatnonzero(touched))
        self._swept[number] = source.reorder.watermark

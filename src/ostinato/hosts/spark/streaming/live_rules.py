"""A set whose changes go on to a stream that runs: what the set is told is appended to the log that the stream follows."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql.types import StructType

from ostinato.base.errors import SchemaError, StateError, UnknownNameError, UnsupportedError
from ostinato.expr.typing import registered
from ostinato.expr.typing.arrow_types import from_arrow, to_arrow
from ostinato.expr.user_function import UserFunction
from ostinato.hosts.spark.ship_program import packed_functions
from ostinato.hosts.spark.stream_rows import check_stream
from ostinato.hosts.spark.streaming.live_set import LiveSet
from ostinato.hosts.spark.streaming.match_stream import check_streamable
from ostinato.hosts.spark.streaming.rule_log import LogEntry, LogHead, RuleLog
from ostinato.hosts.spark.types import as_on_spark
from ostinato.hosts.spark.work import Work
from ostinato.program.functions_used import functions_of, names_called
from ostinato.program.input import Column, Input
from ostinato.program.program import Program, alone
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.query_forms import Form, form_of
from ostinato.query_set import QuerySet
from ostinato.tasks.fixed_division import FixedDivision
from ostinato.tasks.graph_division import GraphDivision, StreamKey
from ostinato.tasks.host_ids import has_ids
from ostinato.tasks.outside_streams import OutsideStream
from ostinato.tasks.set_change import NO_COLUMNS, SetChange

DEFAULT_TIME = "ts"


@dataclass
class LiveRules:
    """What a set tells its changes to. `last` is the last change of the log, `output` are the columns that results of the stream have;
    `schemas` are the streams as Spark has them, `called` the names of functions that its workers know."""

    log: RuleLog
    division: FixedDivision
    last: LogEntry
    output: pa.Schema
    schemas: Mapping[str, StructType | None]
    called: frozenset[str]
    compiled: Callable[[str], Program]
    _left: tuple[str, ...] = ()  # changes that could not be written: they come with the next
    _come: dict[str, Program | Member] = field(default_factory=dict)

    def check_free(self) -> None:
        """Refuse if the log cannot be written to now."""
        if self.log.after(self.last):
            hint = "one process alone publishes the rules of a stream; start the stream again to go on from what is there"
            raise StateError(f"somebody else has written to the log of rules in {self.log.directory}", hint=hint)

    def check_query(self, program: Program, output: pa.Schema) -> None:
        """Refuse what the stream that runs could not do."""
        self.division.check(program)
        check_streamable(Work(program, output))
        for stream in GraphDivision(program).streams:
            schema = self.schemas.get(stream.name.lower())
            if schema is not None:
                check_stream(schema, stream, program)
        for column in as_on_spark(output):
            if column.name not in self.output.names or self.output.field(column.name).type != column.type:
                hint = "rename it, or stop the stream and start it again with the changed set: then its results have that column"
                raise SchemaError(f"the results of the stream have no column {column.name!r} of type {column.type}", hint=hint)
        for name in functions_of(program):
            if name not in self.called:
                hint = "stop the stream and start it again with the changed set"
                raise UnknownNameError(f"the workers of the stream do not know the function {name}", hint=hint)

    def change(self, removed: Collection[str], added: Mapping[str, Program | Member]) -> None:
        self.publish(removed, {query: self._as_run(query, own) for query, own in added.items()})

    def publish(self, removed: Collection[str], added: Mapping[str, Program | Member], columns: pa.Schema = NO_COLUMNS) -> None:
        left = tuple(dict.fromkeys((*self._left, *removed)))
        come = {query: own for query, own in self._come.items() if query not in removed} | dict(added)
        self._left, self._come = left, come
        self.last = self.log.append(self.last, SetChange.of(left, come, columns).dumps())
        self._left, self._come = (), {}

    def _as_run(self, query: str, own: Program | Member) -> Program | Member:
        """Numbers of matches are made unique by the names of queries: those that show them go by themselves."""
        return self.compiled(query) if isinstance(own, Member) and has_ids(own.shape.body) else own


def live_set(
    queries: QuerySet, log: RuleLog, schemas: Mapping[str, tuple[pa.Schema, StructType | None]], keys: Sequence[str] | None
) -> tuple[LiveSet, LiveRules]:
    """The set as its stream has it, and what tells the stream of changes. The log begins with the queries that there are now, or goes on
    with what has changed since it was written. `schemas` are those of the streams that are given."""
    head = log.head()
    if head is None:
        head = _head(queries, schemas, keys)
        log.begin(head)
    elif keys is not None and any(tuple(keys) != own for own in head.keys if own):
        hint = "leave out keys=, or begin with a new checkpoint directory and a new log"
        raise UnsupportedError(f"the rows of this stream are divided by {', '.join(head.keys[0])}", hint=hint)
    division = _division(head, {name: own for name, (own, _) in schemas.items()})
    known = _Logged.of(log)
    functions = functions_of(queries.program) | known.functions
    output = as_on_spark(_with_columns(queries.output_schema, known.columns))
    shown = {name: schema for name, (_, schema) in schemas.items()}
    rules = LiveRules(log, division, known.last, output, shown, frozenset(functions), lambda query: queries[query].program)
    _log_what_changed(rules, queries, known)
    return LiveSet(log, division, packed_functions(functions)), rules


def _head(queries: QuerySet, schemas: Mapping[str, tuple[pa.Schema, StructType | None]], keys: Sequence[str] | None) -> LogHead:
    """As the queries have it that there are now: their times, and the keys that all of them have, unless `keys` says by which."""
    division = GraphDivision(queries.program, rows_anywhere=True)
    times: dict[str, str] = {}
    common: dict[str, tuple[StreamKey, ...]] = {}
    for number, stream in enumerate(division.streams):
        name = stream.name.lower()
        if name in times:
            hint = "a stream of Spark has one watermark: make a set for each of the two"
            raise UnsupportedError(f"queries go by different times of {stream.name!r}: {times[name]!r} and {stream.time!r}", hint=hint)
        times[name], common[name] = stream.time, division.keys_of(number)
    if keys is not None:
        common = {name: _own_keys(schema, keys) for name, (schema, _) in schemas.items()}
    texts = []
    for name, (schema, _) in schemas.items():
        times.setdefault(name, _default_time(name, schema))
        own = pa.schema([pa.field(key.column, to_arrow(key.type)) for key in common.get(name, ())])
        texts.append((name, times[name], tuple(own.names), base64.b64encode(own.serialize().to_pybytes()).decode("ascii")))
    return LogHead(*(tuple(column) for column in zip(*texts, strict=True)))


def _default_time(name: str, schema: pa.Schema) -> str:
    if DEFAULT_TIME not in schema.names:
        hint = f"add a query of {name!r} before the stream is begun, or leave the stream out"
        raise UnsupportedError(f"no query says by which time {name!r} goes, and it has no column {DEFAULT_TIME!r}", hint=hint)
    return DEFAULT_TIME


def _own_keys(schema: pa.Schema, keys: Sequence[str]) -> tuple[StreamKey, ...]:
    """Where a stream lacks one of them, its rows are not divided."""
    if not all(key in schema.names for key in keys):
        return ()
    return tuple(StreamKey(key, from_arrow(schema.field(key).type)) for key in keys)


def _division(head: LogHead, schemas: Mapping[str, pa.Schema]) -> FixedDivision:
    streams, keys = [], []
    for name, time, types in zip(head.streams, head.times, head.types, strict=True):
        if name not in schemas:
            given = ", ".join(schemas) or "none"
            raise UnknownNameError(f"the log of rules was begun with a stream {name!r} that was not given", hint=f"given: {given}")
        columns = tuple(Column(one.name, from_arrow(one.type)) for one in schemas[name])
        at = next((number for number, column in enumerate(columns) if column.name.lower() == time.lower()), -1)
        if at < 0:
            raise SchemaError(f"stream {name!r} has no column {time!r}, by which the log of rules goes")
        streams.append(OutsideStream(Input(name, columns, time=at, order=((at, False, False),)), ()))
        own = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(types)))
        keys.append(tuple(StreamKey(one.name, from_arrow(one.type)) for one in own))
    if len(schemas) > len(streams):
        extra = sorted(set(schemas) - set(head.streams))
        hint = "leave it out, or begin with a new checkpoint directory and a new log"
        raise UnsupportedError(f"the log of rules was begun without the stream {extra[0]!r}", hint=hint)
    return FixedDivision(tuple(streams), tuple(keys))


def _log_what_changed(rules: LiveRules, queries: QuerySet, known: _Logged) -> None:
    """What has changed since the log was written, as its next change."""
    told = {query: rules._as_run(query, own) for query, own in queries.told().items()}
    wanted = {query: form_of(own) for query, own in told.items()}
    gone = [query for query, form in known.forms.items() if wanted.get(query) != form]
    come = {query: own for query, own in told.items() if known.forms.get(query) != wanted[query]}
    shapes: set[str] = set()
    for query, own in come.items():
        shape = own.shape.name if isinstance(own, Member) else ""
        if shape not in shapes:
            rules.check_query(own if isinstance(own, Program) else alone(own.shape.body), queries[query].output_schema)
            shapes |= {shape} - {""}
    if gone or come or not known.last.number:
        rules.publish(gone, come, pa.schema(list(queries.output_schema)[1:]))


@dataclass(frozen=True)
class _Logged:
    """What a log has come to. `functions`: those that its queries called, as far as this process has them."""

    last: LogEntry
    forms: dict[str, Form]
    columns: pa.Schema
    functions: dict[str, UserFunction]

    @staticmethod
    def of(log: RuleLog) -> _Logged:
        forms: dict[str, Form] = {}
        last, columns, names = log.first(), NO_COLUMNS, set[str]()
        for entry in log.after(last):
            change, last = SetChange.loads(log.change(entry)), entry
            for query in change.removed:
                forms.pop(query, None)
            forms |= {query: form_of(own) for query, own in change.added.items()}
            columns = _with_columns(columns, change.columns)
            names.update(name for _, program in change.parts for name in names_called(program))
        registered_ones = {name: function for name in names if (function := registered.find(name)) is not None}
        return _Logged(last, forms, columns, registered_ones)


def _with_columns(one: pa.Schema, other: pa.Schema) -> pa.Schema:
    for column in other:
        if column.name in one.names and one.field(column.name).type != column.type:
            raise SchemaError(
                f"results of this stream had a column {column.name!r} of type {column.type}, now it would be {one.field(column.name).type}",
                hint="rename it, or begin with a new checkpoint directory and a new log",
            )
    return pa.schema([*one, *(column.with_nullable(True) for column in other if column.name not in one.names)])

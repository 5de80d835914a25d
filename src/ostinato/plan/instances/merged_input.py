"""The streams that an expression reads, as the one input of an automaton: merged by the time of detection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ostinato.algebra.event_streams import END, START, EventExpression, EventStream, streams_of, time_type_of
from ostinato.expr.nodes import Call, Expr, Field, Literal
from ostinato.expr.types import BOOL, INT, Type
from ostinato.program.input import Column, Input, Source

STREAM = "stream"  # tells which of several streams an event is of


class MergedInput:
    """Attributes of one name and one type are one column; so are those under which the events of all streams are equal (`keys`: the
    attribute of each stream)."""

    def __init__(self, expression: EventExpression, keys: Mapping[str, str] | None = None) -> None:
        self._streams = {stream.name: stream for stream in streams_of(expression)}
        self._numbers = {name: number for number, name in enumerate(self._streams)}
        self._merges = len(self._streams) > 1
        self._types: dict[str, Type] = {}
        self._name_of: dict[tuple[str, str], str] = {}  # (stream, attribute) -> column
        self._taken: set[str] = set()
        self._fields: dict[str, Column] = {}  # of structs
        self.time_type = time_type_of(expression)
        self.key = self._named_key(keys) if keys else None
        for stream in self._streams.values():
            for attribute, type_ in stream.schema.columns:
                self._name(stream.name, attribute, type_)
        alone = next(iter(self._streams.values()))
        self.lasts = any(stream.start is not None for stream in self._streams.values())
        self.time = self._free(END) if self._merges else alone.time
        self.start = self.time if not self.lasts else self._free(START) if self._merges else (alone.start or alone.time)
        self._stream = self._free(STREAM) if self._merges else ""

    def _named_key(self, keys: Mapping[str, str]) -> str:
        """The column that holds the key of every stream."""
        first = next(iter(self._streams))
        name = keys[first]
        self._types[name] = self._streams[first].schema.type_of(name)
        self._taken.add(name.lower())
        self._name_of |= dict.fromkeys(keys.items(), name)
        return name

    def _name(self, stream: str, attribute: str, type_: Type) -> None:
        if (stream, attribute) in self._name_of:
            return
        known = self._types.get(attribute)
        is_known = known == type_ and attribute != self.key
        name = attribute if is_known or not self._merges else self._free(attribute)  # rows of one stream are read as they are called
        self._types[name] = type_
        self._name_of[stream, attribute] = name

    def _free(self, name: str) -> str:
        while name.lower() in self._taken:
            name += "_"
        self._taken.add(name.lower())
        return name

    def attribute(self, stream: str, name: str, type_: Type | None) -> Expr:
        """That of an event of the stream, in the columns of the input."""
        return Field(self._name_of[stream, name], type=type_)

    def own_name(self, stream: str, column: str) -> str | None:
        """The attribute of a stream that is this column; None: it is none, but part of one."""
        return next((own for own in self._streams[stream].schema.names if self._name_of[stream, own] == column), None)

    def field(self, root: str, path: str, type_: Type) -> Expr:
        """What lies inside of a column that is a struct."""
        self._fields[root + path] = Column(root + path, type_, root)
        return Field(root + path, type=type_)

    def type_of(self, column: str) -> Type:
        return self._types[column]

    @property
    def time_of(self) -> Expr:
        return Field(self.time, type=self.time_type)

    @property
    def start_of(self) -> Expr:
        return Field(self.start, type=self.time_type)

    def is_of(self, stream: str) -> Expr | None:
        """The condition that an event is of the stream; None where there is no other."""
        if not self._merges:
            return None
        number = Literal(self._numbers[stream], type=INT)
        return Call("eq", (Field(self._stream, type=INT), number), type=BOOL)

    def emit(self, used: Iterable[str], prefilter: str) -> Input:
        """`used` are the columns that code reads."""
        wanted = {*used, self.time, *((self.key,) if self.key is not None else ())}
        types = {**self._types, self.time: self.time_type, self.start: self.time_type} | ({self._stream: INT} if self._merges else {})
        own = tuple(Column(name, type_) for name, type_ in types.items() if name in wanted)
        columns = own + tuple(column for name, column in sorted(self._fields.items()) if name in wanted)
        numbers = {column.name: number for number, column in enumerate(columns)}
        return Input(
            stream=" + ".join(self._streams),
            columns=columns,
            sources=tuple(self._source(stream) for stream in self._streams.values()) if self._merges else (),
            time=numbers[self.time],
            order=((numbers[self.time], False, False),),
            keys=() if self.key is None else (numbers[self.key],),
            null_keys="group" if self.key is None else "never",
            prefilter=prefilter,
        )

    def _source(self, stream: EventStream) -> Source:
        pairs = [(attribute, self._name_of[stream.name, attribute]) for attribute in stream.schema.names]
        pairs.append((stream.time, self.time))
        if self.lasts:
            pairs.append((stream.start or stream.time, self.start))
        return Source(stream.name, tuple(pairs), ((self._stream, self._numbers[stream.name]),))

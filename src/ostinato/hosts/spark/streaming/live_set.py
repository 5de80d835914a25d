"""A set whose queries change while its stream runs, as the stateful operator has it: the changes of a log, taken in as they are told."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ostinato.base.errors import StateError
from ostinato.hosts.spark.streaming.rule_log import LogEntry, RuleLog
from ostinato.program import serde
from ostinato.program.program import Program
from ostinato.program.query_graphs import NO_QUERIES
from ostinato.runtime.session.set_session import SetSession
from ostinato.tasks.fixed_division import FixedDivision
from ostinato.tasks.set_change import SetChange
from ostinato.tasks.shipped_program import NO_FUNCTIONS, ShippedFunctions

_MAGIC = b"OSTL"
_VERSION = 1
_HEADER = struct.Struct(">4sHQ")
_ANEW = "begin with a new checkpoint directory and a new log"


@dataclass(frozen=True)
class StoredRules:
    """What the state store keeps of the rules of a bucket: up to which change they are known, and the program of all queries."""

    change: int = 0
    program: bytes = b""

    def dumps(self) -> bytes:
        return _HEADER.pack(_MAGIC, _VERSION, self.change) + self.program

    @staticmethod
    def loads(data: bytes) -> StoredRules:
        if len(data) < _HEADER.size or data[:4] != _MAGIC:
            raise StateError("the stored rules of this stream were not written by Ostinato", hint=_ANEW)
        _, version, change = _HEADER.unpack_from(data)
        if version != _VERSION:
            raise StateError(f"the stored rules have format {version}, this release reads format {_VERSION}", hint=_ANEW)
        return StoredRules(change, data[_HEADER.size :])


@dataclass(frozen=True)
class LiveSet:
    """`functions` are those of users that its queries may call."""

    log: RuleLog
    division: FixedDivision
    functions: ShippedFunctions = NO_FUNCTIONS

    def program(self, stored: StoredRules) -> Program:
        return _program(stored.program, self.functions) if stored.program else NO_QUERIES

    def changed(self, session: SetSession, stored: StoredRules, changes: Sequence[LogEntry]) -> StoredRules:
        """Take in what has changed; it holds from the rows of this micro-batch on."""
        for number, entry in enumerate(changes, stored.change + 1):
            if entry.number != number:
                text = f"change {entry.number} of the rules came, and change {number} was to be next"
                raise StateError(text, hint="a stream goes on with the log and the checkpoint that it was begun with")
            change = _change(self.log, entry, self.functions)
            session.change(change.removed, change.added)
        return StoredRules(changes[-1].number, serde.dumps(session.settled())) if changes else stored


@lru_cache(8)  # buckets of a worker mostly have the same
def _program(data: bytes, functions: ShippedFunctions) -> Program:
    return serde.loads(data, functions.unpacked())


@lru_cache(8)
def _change(log: RuleLog, entry: LogEntry, functions: ShippedFunctions) -> SetChange:
    return SetChange.loads(log.change(entry), functions.unpacked())

"""The log of the rules of a stream: a directory with a file for each change, numbered from 1 on, and what holds for all of them.

A file is written once and never changed. Each tells the digest of the one before: who knows that of the last knows all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

from pyarrow import fs

from ostinato.base.errors import DataError, StateError

FORMAT, VERSION = "ostinato rule log", 1
HEAD = "log.json"
DIGITS = 9


@dataclass(frozen=True)
class LogEntry:
    """Change `number` of the log, and the digest of its file; number 0 is what the log begins with."""

    number: int
    digest: str


@dataclass(frozen=True)
class LogHead:
    """What every rule of the log goes by: the streams, each with its time column, and the columns by which its rows are divided;
    `types` are those in which these are compared, an Arrow schema as text for each stream."""

    streams: tuple[str, ...]
    times: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    types: tuple[str, ...]

    def dumps(self) -> bytes:
        return json.dumps({"format": FORMAT, "version": VERSION} | asdict(self), indent=1).encode()

    @staticmethod
    def loads(data: bytes, path: str) -> LogHead:
        told = _told(data, path)
        return LogHead(tuple(told["streams"]), tuple(told["times"]), tuple(map(tuple, told["keys"])), tuple(told["types"]))


@dataclass(frozen=True)
class RuleLog:
    directory: str

    def head(self) -> LogHead | None:
        """None: the log has not begun."""
        data = self._read(HEAD)
        return None if data is None else LogHead.loads(data, self._path(HEAD))

    def begin(self, head: LogHead) -> None:
        self._make_directory()
        self._write(HEAD, head.dumps())

    def first(self) -> LogEntry:
        data = self._read(HEAD)
        if data is None:
            raise DataError(f"there is no log of rules in {self.directory}", hint="a stream needs the log that it was begun with")
        return LogEntry(0, sha256(data).hexdigest())

    def after(self, entry: LogEntry, until: int | None = None) -> list[LogEntry]:
        """The changes behind one of the log, each looked at; up to number `until`, or all that are there."""
        found: list[LogEntry] = []
        while until is None or entry.number < until:
            data = self._read(_name(entry.number + 1))
            if data is None and until is None:
                return found
            if data is None:
                raise DataError(f"{self._path(_name(entry.number + 1))} is gone", hint="put it back: a micro-batch has to see what it saw")
            if _told(data, self._path(_name(entry.number + 1))).get("after") != entry.digest:
                hint = "a stream goes on with the log and the checkpoint that it was begun with"
                raise StateError(f"change {entry.number + 1} in {self.directory} belongs to another log of rules", hint=hint)
            entry = LogEntry(entry.number + 1, sha256(data).hexdigest())
            found.append(entry)
        return found

    def append(self, last: LogEntry, change: bytes) -> LogEntry:
        """Behind `last`, which has to be the last one."""
        told = {"format": FORMAT, "version": VERSION, "after": last.digest, "change": json.loads(change)}
        data = json.dumps(told, separators=(",", ":")).encode()
        self._write(_name(last.number + 1), data)
        return LogEntry(last.number + 1, sha256(data).hexdigest())

    def change(self, entry: LogEntry) -> bytes:
        """As it was appended."""
        return _change(self, entry)

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name) if "://" not in self.directory else f"{self.directory.rstrip('/')}/{name}"

    def _make_directory(self) -> None:
        system, path = _system(self.directory)
        system.create_dir(path, recursive=True)

    def _read(self, name: str) -> bytes | None:
        system, path = _system(self._path(name))
        try:
            with system.open_input_stream(path) as file:
                return bytes(file.read())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataError(f"{self._path(name)} cannot be read", detail=str(error)) from error

    def _write(self, name: str, data: bytes) -> None:
        """Whole or not at all, and never over another."""
        try:
            if "://" not in self.directory:
                _write_locally(self.directory, name, data)
            else:
                self._write_elsewhere(name, data)
        except FileExistsError:
            hint = "one process alone publishes the rules of a stream; start the stream again to go on from what is there"
            raise StateError(f"{self._path(name)} was written by somebody else", hint=hint) from None
        except OSError as error:
            raise DataError(f"{self._path(name)} cannot be written", detail=str(error)) from error

    def _write_elsewhere(self, name: str, data: bytes) -> None:
        system, path = _system(self._path(name))
        if system.get_file_info(path).type != fs.FileType.NotFound:
            raise FileExistsError(path)
        with system.open_output_stream(f"{path}.part") as file:
            file.write(data)
        system.move(f"{path}.part", path)


def _system(path: str) -> tuple[fs.FileSystem, str]:
    return fs.FileSystem.from_uri(path) if "://" in path else (fs.LocalFileSystem(), os.path.abspath(path))


def _write_locally(directory: str, name: str, data: bytes) -> None:
    handle, part = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=directory)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, os.path.join(directory, name))  # unlike a rename, it replaces nothing
    finally:
        os.unlink(part)


def _name(number: int) -> str:
    return f"{number:0{DIGITS}d}.json"


def _told(data: bytes, path: str) -> Mapping[str, Any]:
    try:
        told = json.loads(data)
    except ValueError as error:
        raise StateError(f"{path} is damaged", detail=str(error)) from error
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise StateError(f"{path} is no part of a log of rules")
    if told.get("version") != VERSION:
        raise StateError(f"{path} has version {told.get('version')}, this release reads version {VERSION}")
    return told


@lru_cache(8)  # all buckets of a worker ask for the same
def _change(log: RuleLog, entry: LogEntry) -> bytes:
    name = _name(entry.number)
    data = log._read(name)
    if data is None or sha256(data).hexdigest() != entry.digest:
        found = "is gone" if data is None else "has changed"
        raise DataError(f"{log._path(name)} {found} since a micro-batch was planned with it", hint="put it back as it was")
    return json.dumps(_told(data, log._path(name))["change"], separators=(",", ":")).encode()

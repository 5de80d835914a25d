"""The file of a set of queries: JSON that people can read, with a version; each distinct query once, under all of its names."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from ostinato.base.errors import DataError, OstinatoError, SchemaError
from ostinato.base.span import Span
from ostinato.rules.column_types import field_name, field_named
from ostinato.rules.json_places import place_in
from ostinato.rules.rule import OPTIONS, Rule, options_of

FORMAT, VERSION = "ostinato query set", 1
DIGEST = 16  # letters of it: against damage, not against people
Step = str | int
NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class StoredSet:
    schemas: dict[str, pa.Schema]
    rules: list[Rule]
    path: Path
    text: str
    places: dict[str, tuple[Step, ...]]  # of rules, by their ids

    @contextmanager
    def place_of(self, id: str) -> Iterator[None]:
        """What is wrong with a query is told with its place in the file."""
        try:
            yield
        except OstinatoError as error:
            raise _refused(self.path, self.text, self.places[id], f"the query {id!r} cannot be used", str(error)) from error


def write_set(path: Path, schemas: Mapping[str, pa.Schema], rules: Sequence[Rule]) -> None:
    """Whole or not at all: a file of its own beside it takes its place."""
    text = _printed(schemas, rules)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise DataError(f"the set cannot be written to {path}", detail=str(error)) from error


def _printed(schemas: Mapping[str, pa.Schema], rules: Sequence[Rule]) -> str:
    streams = []
    for name, schema in schemas.items():
        try:
            columns = [f"      {_json(field_name(field))}" for field in schema]
        except ValueError as error:
            raise SchemaError(f"stream {name!r}: {error}", hint="Cast the column") from error
        streams.append(f"    {_json(name)}: [\n" + ",\n".join(columns) + "\n    ]")
    entries = [_entry(ids, *says) for says, ids in _distinct(rules).items()]
    parts = [
        f'  "format": {_json(FORMAT)}',
        f'  "version": {VERSION}',
        '  "streams": {\n' + ",\n".join(streams) + "\n  }",
        '  "queries": [\n' + ",\n".join(entries) + "\n  ]",
        f'  "count": {len(rules)}',
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _distinct(rules: Sequence[Rule]) -> dict[tuple[str, tuple[tuple[str, Any], ...], bool], list[str]]:
    found: dict[tuple[str, tuple[tuple[str, Any], ...], bool], list[str]] = {}
    for rule in rules:
        found.setdefault((rule.text, rule.options, rule.enabled), []).append(rule.id)
    return found


def _entry(ids: list[str], text: str, options: tuple[tuple[str, Any], ...], enabled: bool) -> str:
    told = {name: dict(value) if name == "time" and isinstance(value, tuple) else value for name, value in options}
    lines = ",\n".join(f"        {_json(line)}" for line in text.split("\n"))
    parts = [f'      "ids": {_json(ids)}']
    parts += [f'      "options": {_json(told)}'] if told else []
    parts += [] if enabled else ['      "enabled": false']
    parts += [f'      "text": [\n{lines}\n      ]', f'      "digest": {_json(_digest(ids, text, told, enabled))}']
    return "    {\n" + ",\n".join(parts) + "\n    }"


def _digest(ids: Sequence[str], text: str, options: Mapping[str, Any], enabled: bool) -> str:
    return sha256(_json([list(ids), text, dict(options), enabled]).encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=isinstance(value, dict) and "name" not in value)
    return text if _is_printable(text) else json.dumps(value, sort_keys=isinstance(value, dict) and "name" not in value)


def _is_printable(text: str) -> bool:
    """Half a surrogate pair is no UTF-8: it is written by its number."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def read_set(path: Path) -> StoredSet:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise DataError(f"{path} is no query set: line {line}, column {column} is no UTF-8", detail=str(error)) from error
    except OSError as error:
        raise DataError(f"the set in {path} cannot be read", detail=str(error)) from error
    return _SetReader(path, text).read()


def _refused(path: Path, text: str, place: Sequence[Step], message: str, detail: str | None = None, hint: str | None = None) -> DataError:
    return DataError(f"{path}: {message}", detail=detail, hint=hint, span=place_in(text, place), text=text)


class _SetReader:
    """Looks at everything before it is taken."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def read(self) -> StoredSet:
        whole = self._decoded()
        self._expect(isinstance(whole, dict) and whole.get("format") == FORMAT, (), "this is no query set", 'It begins with "format"')
        self._check_version(whole.get("version"))
        self._keys(whole, (), {"format", "version", "streams", "queries", "count"})
        streams = self._of(whole, (), "streams", dict)
        schemas = {name: self._schema(name, columns) for name, columns in streams.items()}
        rules: list[Rule] = []
        places: dict[str, tuple[Step, ...]] = {}
        for number, entry in enumerate(self._of(whole, (), "queries", list)):
            for rule in self._entry(entry, ("queries", number)):
                self._expect(rule.id not in places, ("queries", number), f"the query {rule.id!r} stands here a second time")
                places[rule.id] = ("queries", number)
                rules.append(rule)
        count = self._of(whole, (), "count", int)
        self._expect(count == len(rules), ("count",), f"there are {len(rules)} queries, and there should be {count}", "The file is damaged")
        return StoredSet(schemas, rules, self._path, self._text, places)

    def _decoded(self) -> Any:
        try:
            return json.loads(self._text)
        except json.JSONDecodeError as error:
            end = min(error.pos, max(len(self._text) - 1, 0))
            hint = (
                "The file is cut off or damaged" if self._text.lstrip().startswith("{") else "A query set is a JSON file that save() wrote"
            )
            span = Span(end, min(end + 1, len(self._text)))
            raise DataError(f"{self._path} is no query set", detail=error.msg, hint=hint, span=span, text=self._text) from error
        except RecursionError as error:
            raise DataError(f"{self._path} is no query set: it is nested too deeply", span=Span(0, 1), text=self._text) from error

    def _check_version(self, version: Any) -> None:
        known = isinstance(version, int) and not isinstance(version, bool) and version >= 1
        place = ("version",) if version is not None else ()
        self._expect(known, place, "there is no version of the format", "The file is damaged")
        self._expect(
            version <= VERSION, place, f"it has version {version}, and this Ostinato reads up to {VERSION}", "Read it with a later release"
        )

    def _schema(self, name: str, columns: Any) -> pa.Schema:
        self._expect(isinstance(columns, list), ("streams", name), "a list of columns expected")
        fields = []
        for number, column in enumerate(columns):
            try:
                fields.append(field_named(column))
            except ValueError as error:
                raise _refused(self._path, self._text, ("streams", name, number), str(error)) from error
        return pa.schema(fields)

    def _entry(self, entry: Any, place: tuple[Step, ...]) -> list[Rule]:
        self._expect(isinstance(entry, dict), place, "a query expected")
        self._keys(entry, place, {"ids", "options", "enabled", "text", "digest"}, {"options", "enabled", "digest"})
        ids, text = self._of(entry, place, "ids", list), self._of(entry, place, "text", list)
        self._expect(bool(ids) and all(isinstance(id, str) for id in ids), (*place, "ids"), "names of queries expected")
        self._expect(all(isinstance(line, str) for line in text), (*place, "text"), "lines of a text expected")
        options = self._of(entry, place, "options", dict) if "options" in entry else {}
        self._keys(options, (*place, "options"), set(OPTIONS), set(OPTIONS))
        enabled = self._of(entry, place, "enabled", bool) if "enabled" in entry else True
        whole = "\n".join(text)
        if "digest" in entry:
            fits = entry["digest"] == _digest(ids, whole, options, enabled)
            hint = 'The file is damaged; where somebody has changed it on purpose, leave out the "digest" of what was changed'
            self._expect(fits, (*place, "digest"), f"the query {ids[0]!r} is not what was written", hint)
        return [Rule(id, whole, options_of(options), enabled) for id in ids]

    def _keys(self, found: Mapping[str, Any], place: tuple[Step, ...], known: Set[str], free: Set[str] = NONE) -> None:
        for name in found:
            self._expect(name in known, (*place, name), f"nothing is called {name!r} here", f"There are {', '.join(sorted(known))}")
        for name in sorted(known - free):
            self._expect(name in found, place, f"{name!r} is missing", "The file is damaged")

    def _of(self, found: Mapping[str, Any], place: tuple[Step, ...], name: str, kind: type) -> Any:
        value = found[name]
        fits = isinstance(value, kind) and (kind is not int or not isinstance(value, bool))
        self._expect(fits, (*place, name), f"{name!r} is not as it should be", "The file is damaged")
        return value

    def _expect(self, holds: bool, place: Sequence[Step], message: str, hint: str | None = None) -> None:
        if not holds:
            raise _refused(self._path, self._text, place, message, hint=hint)

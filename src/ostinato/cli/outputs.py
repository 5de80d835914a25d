"""Where matches go: a Parquet, CSV or JSON file that appears whole or not at all, or the terminal."""

from __future__ import annotations

import errno
import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from ostinato.base.errors import SchemaError
from ostinato.cli.failure import Usage, completed
from ostinato.expr.times.temporal_text import interval_text
from ostinato.inspect.plain_values import plain_values

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl"}

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def format_of(path: Path) -> str:
    """The format that the file's name asks for."""
    try:
        return FORMATS[path.suffix.lower()]
    except KeyError:
        raise Usage(f"cannot tell the format of {path}: end its name in {', '.join(sorted(FORMATS))}") from None


def check_output(path: Path) -> None:
    """Refuse an impossible output before any work is done."""
    format_of(path)
    if path.is_dir():
        raise Usage(f"the output {path} is a directory: name a file")
    if not path.absolute().parent.is_dir():
        raise Usage(f"the directory of the output {path} does not exist")


def write(table: pa.Table, path: Path) -> None:
    writer = WRITERS[format_of(path)]
    with whole_file(path) as stream:
        writer(table, stream)


def write_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Parquet, a batch at a time; returns how many rows these are."""
    if format_of(path) != "parquet":
        raise Usage("matches are written as they are found to .parquet files only")
    rows = 0
    with whole_file(path) as stream, pyarrow.parquet.ParquetWriter(stream, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A stream into a temporary file beside `path` that is renamed when all went well, and removed when not."""
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.absolute().parent)
    temporary = Path(name)
    try:
        with os.fdopen(number, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
        completed()
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            error.filename = str(path)  # whoever writes into a stream does not know its name
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_parquet(table: pa.Table, stream: IO[bytes]) -> None:
    pyarrow.parquet.write_table(table, stream)


def write_csv(table: pa.Table, stream: IO[bytes]) -> None:
    """Nested columns (the events of a variable) are written as JSON text: CSV has no other way. Intervals as they are read."""
    columns = [_in_csv(column) for column in table.columns]
    try:
        pyarrow.csv.write_csv(pa.table(columns, names=table.column_names), stream)
    except pa.ArrowInvalid as error:
        raise SchemaError("The matches cannot be written as CSV.", detail=str(error), hint="Write Parquet or JSON instead.") from error


def write_json(table: pa.Table, stream: IO[bytes]) -> None:
    separator = b"[\n"
    for row in _rows(table):
        stream.write(separator + _encode(row))
        separator = b",\n"
    stream.write(b"\n]\n" if table.num_rows else b"[]\n")


def write_json_lines(table: pa.Table, stream: IO[bytes]) -> None:
    for row in _rows(table):
        stream.write(_encode(row) + b"\n")


WRITERS: dict[str, Callable[[pa.Table, IO[bytes]], None]] = {
    "parquet": write_parquet,
    "csv": write_csv,
    "json": write_json,
    "jsonl": write_json_lines,
}


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    twice = next((name for name, times in Counter(table.column_names).items() if times > 1), None)
    if twice is not None:
        hint = "Give one of them another name with AS, or write Parquet or CSV."
        raise SchemaError(f"JSON cannot hold two columns called {twice!r}.", hint=hint)
    for batch in table.to_batches(max_chunksize=10_000):
        columns = [plain_values(column, "T") for column in batch.columns]
        yield from (dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True))


def _encode(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_with_named_numbers(value), ensure_ascii=False, default=_plain).encode()


def _with_named_numbers(value: Any) -> Any:
    """JSON has no NaN and no infinity: they are written as Spark writes them, as strings."""
    if isinstance(value, dict):
        return {name: _with_named_numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_named_numbers(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _plain(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return interval_text(value) if isinstance(value, timedelta) else str(value)  # Decimal keeps its digits


def _in_csv(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_nested(column.type):
        return pa.array([None if value is None else _encode(value).decode() for value in plain_values(column, "T")], pa.string())
    if pa.types.is_duration(column.type):
        return pa.array([None if value is None else _plain(value) for value in plain_values(column)], pa.string())
    return column

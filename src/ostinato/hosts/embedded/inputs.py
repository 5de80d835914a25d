"""What users pass as a stream: Arrow, pandas, Polars, DuckDB, files. Each becomes a `Source`.

The libraries are not imported here: a value of theirs can only be passed by who has them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakSet

import pyarrow as pa
import pyarrow.dataset as ds

from ostinato.base.errors import DataError, SchemaError, UnknownNameError
from ostinato.hosts.embedded.result import Result
from ostinato.hosts.embedded.sources.file_source import DatasetSource, files_source
from ostinato.hosts.embedded.sources.row_order import quoted
from ostinato.hosts.embedded.sources.source import BATCH_ROWS, Source
from ostinato.hosts.embedded.sources.stream_source import Readable, ReaderOf, StreamSource
from ostinato.hosts.embedded.sources.table_source import TableSource
from ostinato.runtime.rows.arrow_rows import not_unicode

KINDS = (
    "Arrow tables, batches, readers and datasets, pandas and Polars frames, DuckDB relations, results of other queries,"
    " and paths of Parquet, CSV or JSON files"
)

_READ: WeakSet[pa.RecordBatchReader] = WeakSet()


def sources_of(given: Mapping[str, Any]) -> dict[str, Source]:
    """By name in lower case, as case does not matter in a query."""
    found: dict[str, Source] = {}
    for name, value in given.items():
        if name.lower() in found:
            raise UnknownNameError(f"The stream `{name}` is given twice", hint="Names that differ in case alone are the same name")
        found[name.lower()] = _checked(source_of(name, value))
    return found


def source_of(name: str, value: Any) -> Source:
    if isinstance(value, Source):
        return value
    if isinstance(value, Result):
        return TableSource(name, value.to_arrow())
    if isinstance(value, str | os.PathLike):
        return files_source(name, [value])
    if isinstance(value, list | tuple):
        return _from_list(name, value)
    if isinstance(value, ds.Dataset):
        return DatasetSource(name, value)
    library, kind = type(value).__module__.partition(".")[0], type(value).__name__
    if isinstance(value, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return _from_arrow(name, value)
    if library == "pandas" and kind == "DataFrame":
        return TableSource(name, _pandas_table(name, value))
    if library == "polars" and kind == "LazyFrame":
        return _lazy_frame(name, value)
    if kind == "DuckDBPyRelation":
        return _relation(name, value)
    if library == "pyspark":
        raise DataError(f"Stream `{name}` is a DataFrame of Spark", hint="Ask the engine of its session: ost.on(spark).match(...)")
    if hasattr(value, "__arrow_c_stream__"):
        return TableSource(name, _arrow_table(name, value))
    raise _unusable(name, value)


def _arrow_table(name: str, value: Any) -> pa.Table:
    try:
        return pa.table(value)
    except pa.ArrowInvalid as error:  # a column, for instance
        raise _unusable(name, value) from error


def _checked(source: Source) -> Source:
    _check_names(source.name, source.schema.names)
    return source


def _check_names(stream: str, names: Sequence[str]) -> None:
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise SchemaError(f"Stream `{stream}` has two columns called `{twice}`", hint="Rename one of them")


def _from_list(name: str, values: Sequence[Any]) -> Source:
    if values and all(isinstance(value, str | os.PathLike) for value in values):
        return files_source(name, values)
    if values and all(isinstance(value, pa.RecordBatch | pa.Table) for value in values):
        tables = [value if isinstance(value, pa.Table) else pa.Table.from_batches([value]) for value in values]
        try:
            return TableSource(name, pa.concat_tables(tables))
        except pa.ArrowInvalid as error:
            raise SchemaError(f"The batches of stream `{name}` have different columns", detail=str(error).splitlines()[0]) from error
    raise _unusable(name, values[0] if values else values)


def _from_arrow(name: str, value: pa.Table | pa.RecordBatch | pa.RecordBatchReader) -> Source:
    if isinstance(value, pa.Table):
        return TableSource(name, value)
    if isinstance(value, pa.RecordBatch):
        return TableSource(name, pa.Table.from_batches([value]))
    return StreamSource(name, value.schema, _read_once(name, value), cheap_to_reopen=False, can_be_reread=False)


def _read_once(name: str, reader: pa.RecordBatchReader) -> ReaderOf:
    """A second query would see no rows, which looks like an empty stream. What others have read of it, nobody can tell."""
    if reader in _READ:
        raise _was_read(name)

    def open_reader(columns: Sequence[str]) -> pa.RecordBatchReader:
        if reader in _READ:
            raise _was_read(name)
        _READ.add(reader)
        schema = pa.schema([reader.schema.field(column) for column in columns])
        return pa.RecordBatchReader.from_batches(schema, (batch.select(list(columns)) for batch in reader))

    return open_reader


def _was_read(name: str) -> DataError:
    return DataError(f"Stream `{name}` is a reader that was read already", hint="Pass a table or a dataset to read it several times")


def _pandas_table(name: str, frame: Any) -> pa.Table:
    """Index levels with a name become columns; a plain row number does not."""
    _check_names(name, frame.columns)
    named = [level for level in frame.index.names if level is not None and level not in frame.columns]
    if named:
        frame = frame.reset_index(level=named)
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except UnicodeEncodeError as error:
        raise not_unicode(name) from error
    except (pa.ArrowException, TypeError, ValueError) as error:
        detail = str(error.args[0] if error.args else error)
        raise DataError(f"Stream `{name}` has a column of mixed types", detail=detail, hint="Give every column one type") from error


def _lazy_frame(name: str, frame: Any) -> Source:
    with Readable(name):
        schema = frame.limit(0).collect().to_arrow().schema

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for part in frame.select(list(columns)).collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
            yield from part.to_arrow().to_batches()

    def open_reader(columns: Sequence[str]) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(pa.schema([schema.field(column) for column in columns]), batches(columns))

    return StreamSource(name, schema, open_reader, cheap_to_reopen=False)


def _relation(name: str, relation: Any) -> Source:
    """The relation belongs to a connection of the user, where it is executed."""
    with Readable(name):
        schema = relation.limit(0).to_arrow_table().schema

    def open_reader(columns: Sequence[str]) -> pa.RecordBatchReader:
        return relation.select(*map(quoted, columns)).to_arrow_reader(BATCH_ROWS)

    return StreamSource(name, schema, open_reader, cheap_to_reopen=False)


def _unusable(name: str, value: Any) -> DataError:
    kind = type(value)
    shown = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return DataError(f"Stream `{name}` cannot be read from a {shown}", hint=f"A stream may be {KINDS}")

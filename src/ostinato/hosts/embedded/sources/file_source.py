"""Parquet, CSV and JSON files, by path, glob, directory, or a list of them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from ostinato.base.errors import DataError
from ostinato.hosts.embedded.connection import open_connection, relation
from ostinato.hosts.embedded.sources.parquet_reader import parquet_reader
from ostinato.hosts.embedded.sources.row_order import quoted, sorting_query
from ostinato.hosts.embedded.sources.source import BATCH_ROWS, Source, in_tables
from ostinato.hosts.embedded.sources.stream_source import Readable, StreamSource
from ostinato.program.input import Input

PathLike = str | os.PathLike[str]
PARQUET = (".parquet", ".pq")
TEXT = {".csv": "read_csv", ".tsv": "read_csv", ".json": "read_json", ".jsonl": "read_json", ".ndjson": "read_json"}
COMPRESSED = (".gz", ".zst")
SCANNED_ROWS = 1 << 17  # a scanner reads many such batches ahead


def files_source(name: str, given: Sequence[PathLike]) -> Source:
    files = [file for path in given for file in _files(name, os.fspath(path))]
    kinds = {_kind(name, file) for file in files}
    if len(kinds) > 1:
        shown = ", ".join(sorted(kinds))
        raise DataError(f"Stream `{name}` has files of different kinds: {shown}", hint="Read them as streams of their own")
    kind = kinds.pop()
    return ParquetSource(name, _parquet_dataset(name, files, given)) if kind == "parquet" else TextFileSource(name, kind, files)


def _files(name: str, path: str) -> list[str]:
    if os.path.isdir(path):
        found = sorted(str(file) for file in Path(path).rglob("*") if file.is_file() and not _hidden(file.relative_to(path)))
        missing = f"the directory {path} has no files"
    elif os.path.exists(path):
        found, missing = [path], ""
    else:
        found = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
        missing = f"no file matches {path}" if glob.has_magic(path) else f"there is no file {path}"
    if not found:
        raise DataError(f"Stream `{name}` cannot be read: {missing}", hint=f"Paths are relative to {os.getcwd()}")
    empty = [file for file in found if os.path.getsize(file) == 0]
    if empty:
        hint = "A file without rows still needs a header or footer"
        raise DataError(f"Stream `{name}` cannot be read: the file {empty[0]} is empty", hint=hint)
    return found


def _hidden(path: Path) -> bool:
    """Spark and others leave _SUCCESS, _delta_log and .crc files beside the data."""
    return any(part.startswith(("_", ".")) for part in path.parts)


def _kind(name: str, file: str) -> str:
    suffixes = [suffix.lower() for suffix in Path(file).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix in PARQUET:
        return "parquet"
    if suffix not in TEXT:
        known = ", ".join([*PARQUET, *TEXT])
        raise DataError(f"Stream `{name}` cannot be read: {file} is of an unknown kind", hint=f"The name of a file ends in {known}")
    return TEXT[suffix]


def _parquet_dataset(name: str, files: list[str], given: Sequence[PathLike]) -> ds.FileSystemDataset:
    """Columns that are directories (`day=2024-01-31`) are read where a directory was given."""
    directories = [os.fspath(path) for path in given if os.path.isdir(path)]
    with Readable(name):
        if len(given) == len(directories) == 1:
            return ds.dataset(files, format="parquet", partitioning="hive", partition_base_dir=directories[0])
        return ds.dataset(files, format="parquet")


class DatasetSource(StreamSource):
    """DuckDB reads a dataset itself, and only what it needs of it."""

    def __init__(self, name: str, dataset: ds.Dataset) -> None:
        super().__init__(name, dataset.schema, self._reader, cheap_to_reopen=True)
        self.dataset = dataset

    def _reader(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        return self.dataset.scanner(columns=list(columns), batch_size=SCANNED_ROWS).to_reader()

    def make_view(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.register(self.name, self.dataset)


class ParquetSource(DatasetSource):
    def __init__(self, name: str, dataset: ds.FileSystemDataset) -> None:
        super().__init__(name, dataset)
        self._files = dataset

    def _reader(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        return parquet_reader(self._files, columns)


class TextFileSource(StreamSource):
    """CSV or JSON, read by DuckDB, which finds out the types."""

    def __init__(self, name: str, function: str, files: list[str]) -> None:
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        self.relation = f"{function}([{listed}])"
        with Readable(name), open_connection() as connection:
            schema = relation(connection, f"FROM {self.relation} LIMIT 0").to_arrow_table().schema
        super().__init__(name, schema, self._reader, cheap_to_reopen=True)

    def _reader(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        selected = ", ".join(map(quoted, columns)) or "1"
        self._connection = open_connection()  # lives as long as its reader is used
        return relation(self._connection, f"SELECT {selected} FROM {self.relation}").to_arrow_reader(BATCH_ROWS)

    def sorted(self, reads: Input) -> Iterator[pa.Table]:
        with open_connection() as connection, self.readable():
            reader = relation(connection, sorting_query(self.relation, reads)).to_arrow_reader(BATCH_ROWS)
            yield from in_tables(reader, reader.schema)

    def make_view(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute(f"CREATE TEMP VIEW {quoted(self.name)} AS FROM {self.relation}")

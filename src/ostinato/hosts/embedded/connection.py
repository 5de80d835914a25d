"""DuckDB as the embedded host uses it."""

from __future__ import annotations

import os
import tempfile
from typing import Protocol

import duckdb
import pyarrow as pa

from ostinato.hosts.confined.connection import SETTINGS, tree_of
from ostinato.hosts.confined.connection import relation as relation_of
from ostinato.hosts.confined.process import BatchReader, ConfinedDuckDB

Connection = duckdb.DuckDBPyConnection | ConfinedDuckDB


class Rows(Protocol):
    """What a query gives, here or in the process of a sandbox."""

    def limit(self, count: int, /) -> Rows: ...

    def to_arrow_table(self) -> pa.Table: ...

    def to_arrow_reader(self, rows: int, /) -> pa.RecordBatchReader | BatchReader: ...


def open_connection() -> duckdb.DuckDBPyConnection:
    """A database in memory that spills to the temporary directory, sees no Python variables, and says where errors are."""
    connection = duckdb.connect(":memory:")
    spill = os.path.join(tempfile.gettempdir(), f"ostinato-{os.getpid()}")
    connection.execute(f"SET temp_directory = '{spill.replace(chr(39), chr(39) * 2)}'")
    for setting in SETTINGS:
        connection.execute(setting)
    return connection


def relation(connection: Connection, query: str) -> Rows:
    """The rows of a query, without the copy that `execute` makes."""
    return connection.sql(query) if isinstance(connection, ConfinedDuckDB) else relation_of(connection, query)


def serialized(connection: Connection, text: str) -> str | None:
    """A SELECT as DuckDB's own parser sees it; see `tree_of`. None if the sandbox does not look at so long a tree."""
    if not isinstance(connection, ConfinedDuckDB):
        return tree_of(connection, text)
    tree = connection.tree(text)
    return None if tree is None else tree.decode()

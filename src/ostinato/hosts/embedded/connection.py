"""DuckDB as the embedded host uses it."""

from __future__ import annotations

import os
import tempfile

import duckdb

CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "allow_persistent_secrets": False,
    "python_scan_all_frames": False,
    "temp_directory": "",
}


def closed_connection(memory: int) -> duckdb.DuckDBPyConnection:
    """A database in memory without access to anything else: no files (it does not spill), no network, no extensions. `lock` it when all
    that it shall know is registered."""
    connection = duckdb.connect(":memory:", config=CLOSED | {"memory_limit": f"{memory}B"})
    _set_up(connection)
    return connection


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("SET lock_configuration = true")


def open_connection() -> duckdb.DuckDBPyConnection:
    """A database in memory that spills to the temporary directory, sees no Python variables, and says where errors are."""
    connection = duckdb.connect(":memory:")
    spill = os.path.join(tempfile.gettempdir(), f"ostinato-{os.getpid()}")
    connection.execute(f"SET temp_directory = '{spill.replace(chr(39), chr(39) * 2)}'")
    _set_up(connection)
    return connection


def _set_up(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("SET enable_progress_bar = false")  # it would be printed into the output of whoever calls
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET errors_as_json = true")
    connection.execute("SET TimeZone = 'UTC'")


def relation(connection: duckdb.DuckDBPyConnection, query: str) -> duckdb.DuckDBPyRelation:
    """The rows of a query, without the copy that `execute` makes."""
    try:
        return connection.sql(query)
    except duckdb.Error:
        connection.execute(query)  # fails alike, but says where
        raise

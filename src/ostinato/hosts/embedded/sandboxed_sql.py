"""SQL of an author who is not trusted: DuckDB's own parser says what a statement uses, and only what is harmless is let through.

DuckDB runs it in a process of its own, without access to files and the network (`hosts.confined`); this is the second wall, and the one
that says what is wrong in a message."""

from __future__ import annotations

import json
import re
from typing import Any

from ostinato.base.errors import SandboxError
from ostinato.base.span import Span
from ostinato.hosts.embedded.connection import Connection, serialized
from ostinato.hosts.embedded.query_check import QUERIES
from ostinato.hosts.parse_tree import dictionaries_in
from ostinato.lang.sql import Spliced

TABLES = ("BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "EMPTY", "PIVOT")
TABLE_FUNCTIONS = ("range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree")
# Functions that read files, settings or names, run SQL in a text, wait, write, or are meant for DuckDB itself; and those whose values are
# as large as they are told, in one step that nothing interrupts; and those that take bytes for a state of DuckDB, or types for values
DENIED = re.compile(
    r"read_.*|.*_scan|.*_scan_.*|glob|sniff_.*|parquet_.*|variant_bytes_.*|duckdb_.*|pragma_.*|getenv|getvariable|nextval|currval|setseed"
    r"|query|query_table|.*sleep.*|write_.*|.*_log|.*_log_.*|.*logging|txid_.*|pg_(?!typeof$|size_pretty$).*|has_.*_privilege|.*secret.*"
    r"|json_(de)?serialize_.*|json_execute_.*|__.*|in_search_path|stats|vector_type|version|user|session_user|.*external_resource.*"
    r"|current_(?!date$|time$|timestamp$|localtime$|localtimestamp$).*|.*_sql|.*_database|(force_)?checkpoint|python_.*|.*_auto"
    r"|to_aggregate_state|finalize|combine(_aggr)?|invoke|cast_to_type|replace_type|make_type|remap_struct|create_sort_key|index_key|setval"
    r"|get_block_size|inet_.*|.*obj_description|col_description|.*_byte_comparable"
    r"|repeat|lpad|rpad|format|printf|list_resize|array_resize|bitstring|range|generate_series"
)
SYSTEM = re.compile(r"duckdb_.*|pg_.*|pragma_.*|sqlite_.*|information_schema.*|.*[./\\:*?].*")


def check_sandboxed(connection: Connection, query: Spliced, tables: frozenset[str]) -> None:
    """`tables` are the names that the query may read, in lower case."""
    parts = list(dictionaries_in(_tree(connection, query)))
    defined = {entry["key"].lower() for part in parts if isinstance(part.get("cte_map"), dict) for entry in part["cte_map"]["map"]}
    recursive = {str(part["ctename"]).lower() for part in parts if "ctename" in part} | {
        str(part["cte_name"]).lower() for part in parts if "cte_name" in part
    }
    for name in sorted(defined - tables):
        if SYSTEM.fullmatch(name):  # beyond its scope it would be the system's
            raise SandboxError(f"A common table expression called {name}", hint="Give it another name", span=query.origin(0))
    rows = {id(part.get("function")) for part in parts if part.get("type") == "TABLE_FUNCTION"}
    for part in parts:
        if id(part) in rows:  # known by its table
            continue
        _check_part(part, query, tables | defined | recursive)


def _tree(connection: Connection, query: Spliced) -> dict[str, Any]:
    text = serialized(connection, query.text)
    if text is None:
        raise SandboxError(
            "The statement is too long for the sandbox", hint="Join with a table in place of long lists", span=query.origin(0)
        )
    try:
        tree = json.loads(text)
    except RecursionError as error:
        raise SandboxError("The statement is nested too deeply for the sandbox", hint="Nest less", span=query.origin(0)) from error
    if not isinstance(tree, dict) or tree.get("error") or len(tree["statements"]) != 1:
        raise SandboxError("Only a SELECT statement runs in the sandbox", hint="Write one SELECT", span=query.origin(0))
    return tree


def _check_part(part: dict[str, Any], query: Spliced, names: frozenset[str] | set[str]) -> None:
    kind = part.get("type")
    if not isinstance(kind, str):
        return
    if kind.endswith("_NODE") and kind not in QUERIES:
        raise _refused(f"A {kind.removesuffix('_NODE').replace('_', ' ').lower()}", part, query)
    if "sample" in part and "class" not in part and not kind.endswith("_NODE") and kind not in TABLES:
        raise _refused(f"A table of the kind {kind.removesuffix('_REF').lower()}", part, query)
    if kind == "BASE_TABLE":
        _check_table(part, query, names)
    elif kind == "TABLE_FUNCTION":
        name = str(part.get("function", {}).get("function_name", "")).lower()
        if name not in TABLE_FUNCTIONS:
            raise _refused(f"The table function {name}", part, query)
    elif part.get("class") in ("FUNCTION", "WINDOW") and DENIED.fullmatch(str(part.get("function_name", "")).lower()):
        raise _refused(f"The function {part['function_name']}", part, query)


def _check_table(part: dict[str, Any], query: Spliced, names: frozenset[str] | set[str]) -> None:
    path = [part.get("catalog_name"), part.get("schema_name")]
    name = str(part.get("table_name", ""))
    if any(path) or name.lower() not in names or part.get("at_clause"):
        shown = ".".join(str(step) for step in (*path, name) if step)
        raise SandboxError(
            f"The sandbox reads only the streams that were given, and {shown} is none of them",
            hint=f"Given are {', '.join(sorted(n for n in names if not n.startswith('__ostinato'))) or 'none'}",
            span=_span(part, query),
        )


def _refused(what: str, part: dict[str, Any], query: Spliced) -> SandboxError:
    hint = "The sandbox reads the named streams, and computes; it sees no files, no settings, and runs no text"
    return SandboxError(f"{what} is not let into the sandbox", hint=hint, span=_span(part, query))


def _span(part: dict[str, Any], query: Spliced) -> Span | None:
    place = part.get("query_location")
    data = query.text.encode()
    if not isinstance(place, int) or place >= len(data):
        return None
    begin = len(data[:place].decode(errors="ignore"))  # DuckDB counts bytes
    return query.origin(begin)

"""Names under which columns travel to Python: PySpark would read a dot in one as the way to a field."""

from __future__ import annotations

import pyarrow as pa

_DOT = "\N{ONE DOT LEADER}"


def carried(name: str) -> str:
    return name.replace(".", _DOT)


def arrived(table: pa.Table) -> pa.Table:
    """The table with the names that its columns had."""
    return table.rename_columns([name.replace(_DOT, ".") for name in table.column_names])

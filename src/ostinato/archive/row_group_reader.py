"""Reads the columns of row groups."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from ostinato.archive.row_groups import RowGroup, open_file
from ostinato.base.errors import DataError
from ostinato.runtime.rows.struct_fields import named

MOST_KEPT = 1 << 26  # bytes


class RowGroupReader:
    """The file that was read last stays open. Row groups at the border of a range are looked at before they are matched: those are
    kept for the second time, as far as they are small."""

    def __init__(self) -> None:
        self._file = ""
        self._opened: pq.ParquetFile | None = None
        self._kept: dict[tuple[str, int], pa.Table] = {}

    def read(self, group: RowGroup, schema: pa.Schema, again: bool = False) -> pa.Table:
        """`again`: it will be asked for once more."""
        place = (group.file, group.number)
        kept = self._kept.get(place)
        if kept is not None and set(schema.names) <= set(kept.schema.names):
            if not again and len(schema) == len(kept.schema):
                del self._kept[place]
            return kept.select(schema.names)
        try:
            table = read_columns(self._file_of(group), [group.number], schema)
        except (OSError, pa.ArrowInvalid) as error:
            raise DataError(f"cannot read row group {group.number} of {group.file}", detail=str(error)) from error
        if again and sum(one.nbytes for one in self._kept.values()) + table.nbytes <= MOST_KEPT:
            self._kept[place] = table
        return table

    def read_together(self, groups: Sequence[RowGroup], schema: pa.Schema) -> pa.Table:
        """Row groups of one file, one behind the other, in one piece."""
        if len(groups) == 1:
            return self.read(groups[0], schema)
        try:
            return read_columns(self._file_of(groups[0]), [group.number for group in groups], schema)
        except (OSError, pa.ArrowInvalid) as error:
            numbers = ", ".join(str(group.number) for group in groups)
            raise DataError(f"cannot read the row groups {numbers} of {groups[0].file}", detail=str(error)) from error

    def keeps(self, group: RowGroup) -> bool:
        return (group.file, group.number) in self._kept

    def _file_of(self, group: RowGroup) -> pq.ParquetFile:
        if self._file != group.file or self._opened is None:
            if self._opened is not None:
                self._opened.close()
            self._file, self._opened = group.file, open_file(group.file)
        return self._opened


def read_columns(opened: pq.ParquetFile, numbers: list[int], schema: pa.Schema) -> pa.Table:
    """Row groups in the given types (INT96 comes without its zone). Tasks run side by side, so each reads with one thread."""
    table = opened.read_row_groups(numbers, columns=schema.names, use_threads=False)
    columns = []
    for field in schema:
        column = named(table, field.name)
        assert column is not None  # the file was looked at before
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.table(columns, schema=schema)

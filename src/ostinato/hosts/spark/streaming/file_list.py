"""The Parquet files of a growing directory in the order in which they became visible, and how far a stream has read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyarrow import fs

from ostinato.base.errors import DataError
from ostinato.hosts.spark.batch.row_groups import open_file

Offset = dict[str, Any]  # Spark keeps it as JSON: the last file that was read, by `changed` and `name`, and how many `files` there were


@dataclass(frozen=True, order=True)
class SeenFile:
    """`changed` is in nanoseconds; on a local disk it is when the file took its place (a rename counts), else when it was written."""

    changed: int
    name: str
    path: str

    def row_groups(self) -> int:
        with open_file(self.path) as opened:
            return opened.metadata.num_row_groups

    def rows(self) -> int:
        with open_file(self.path) as opened:
            return opened.metadata.num_rows


@dataclass(frozen=True)
class FileList:
    directory: str

    def present(self) -> list[SeenFile]:
        """Hidden and temporary files (`_`, `.`) are not data."""
        found = self._local() if "://" not in self.directory else self._remote()
        return sorted(file for file in found if not file.name.startswith(("_", ".")) and file.name.endswith(".parquet"))

    def _local(self) -> list[SeenFile]:
        if not os.path.isdir(self.directory):
            raise DataError(f"there is no directory {self.directory}", hint="create it before the stream starts")
        seen = []
        with os.scandir(self.directory) as entries:
            for entry in entries:
                if entry.is_file():
                    status = entry.stat()
                    seen.append(SeenFile(max(status.st_ctime_ns, status.st_mtime_ns), entry.name, entry.path))
        return seen

    def _remote(self) -> list[SeenFile]:
        system, path = fs.FileSystem.from_uri(self.directory)
        scheme = self.directory.split("://", 1)[0]
        entries = system.get_file_info(fs.FileSelector(path))
        return [SeenFile(e.mtime_ns, e.base_name, f"{scheme}://{e.path}") for e in entries if e.type == fs.FileType.File]


def files_after(files: Sequence[SeenFile], start: Offset, end: Offset) -> list[SeenFile]:
    low, high = (start["changed"], start["name"]), (end["changed"], end["name"])
    return [file for file in files if low < (file.changed, file.name) <= high]


def latest_within(files: Sequence[SeenFile], start: Offset, rows: int | None, final: Offset | None = None) -> Offset:
    """The offset that takes in as many further files as `rows` allows (always one, if there is one), none beyond `final`."""
    low = (start["changed"], start["name"])
    before = [file for file in files if (file.changed, file.name) <= low]
    if len(before) > start["files"]:
        raise DataError(
            "a file appeared that is older than files already read",
            detail=f"{len(before)} files are as old as {start['name']!r} or older, {start['files']} had been read",
            hint="write files elsewhere and move them into the directory when they are complete; do not touch them afterwards",
        )
    reached, taken, count = low, 0, 0
    for file in files[len(before) :]:
        if final is not None and (file.changed, file.name) > (final["changed"], final["name"]):
            break
        taken += file.rows() if rows is not None else 0
        if count and rows is not None and taken > rows:
            break
        reached = (file.changed, file.name)
        count += 1
    return {"changed": reached[0], "name": reached[1], "files": start["files"] + count}

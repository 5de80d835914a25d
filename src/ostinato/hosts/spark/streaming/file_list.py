"""The Parquet files of a growing directory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import quote

from pyarrow import fs

from ostinato.base.errors import DataError


@dataclass(frozen=True, slots=True)
class PresentFile:
    """`modified`, in nanoseconds, orders files that wait to be read, and nothing else: a file is known by its name."""

    modified: int
    name: str
    size: int


@dataclass(frozen=True)
class FileList:
    directory: str

    def present(self) -> list[PresentFile]:
        """Hidden and temporary files (`_`, `.`) are not data, nor are empty ones, which somebody has just begun to write. The longest
        unchanged come first."""
        found = self._local() if "://" not in self.directory else self._remote()
        data = [file for file in found if file.size and not file.name.startswith(("_", ".")) and file.name.endswith(".parquet")]
        return sorted(data, key=lambda file: (file.modified, file.name))

    def path(self, name: str) -> str:
        return os.path.join(self.directory, name) if "://" not in self.directory else f"{self.directory.rstrip('/')}/{quote(name)}"

    def size(self, name: str) -> int | None:
        """How long the file is now; None: it is not there."""
        if "://" not in self.directory:
            try:
                return os.stat(self.path(name)).st_size
            except FileNotFoundError:
                return None
        system, path = fs.FileSystem.from_uri(self.path(name))
        entry = system.get_file_info(path)
        return entry.size if entry.type == fs.FileType.File else None

    def _local(self) -> list[PresentFile]:
        if not os.path.isdir(self.directory):
            raise DataError(f"there is no directory {self.directory}", hint="create it before the stream starts")
        seen = []
        with os.scandir(self.directory) as entries:
            for entry in entries:
                try:
                    if entry.is_file():
                        status = entry.stat()
                        seen.append(PresentFile(status.st_mtime_ns, entry.name, status.st_size))
                except FileNotFoundError:
                    continue  # removed since the directory was listed, so it is not there
        return seen

    def _remote(self) -> list[PresentFile]:
        system, path = fs.FileSystem.from_uri(self.directory)
        entries = system.get_file_info(fs.FileSelector(path))
        return [PresentFile(e.mtime_ns or 0, e.base_name, e.size) for e in entries if e.type == fs.FileType.File]

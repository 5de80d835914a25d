"""Which files of a directory a stream has taken, small enough to be part of every offset."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from ostinato.base.errors import DataError
from ostinato.hosts.spark.streaming.file_list import PresentFile

_NAME, _SIZE = 8, 2  # bytes: among a million files, two share 64 bits once in 10^7 directories


@dataclass(frozen=True)
class TakenFiles:
    """By the digest of each name, that of the size. Files that are gone are forgotten: the set does not outgrow the directory."""

    sizes: dict[bytes, bytes]

    @staticmethod
    def loads(text: str) -> TakenFiles:
        data = base64.b64decode(text)
        step = _NAME + _SIZE
        return TakenFiles({data[at : at + _NAME]: data[at + _NAME : at + step] for at in range(0, len(data), step)})

    def dumps(self) -> str:
        """The same text for the same files: Spark compares offsets by it."""
        return base64.b64encode(b"".join(name + size for name, size in sorted(self.sizes.items()))).decode("ascii")

    def missing_from(self, files: Iterable[PresentFile], may_change: bool) -> list[PresentFile]:
        """The files that are not taken. One that is, and has another size now, would be read half or twice: it is refused."""
        new = []
        for file in files:
            size = self.sizes.get(_of_name(file.name))
            if size is None:
                new.append(file)
            elif size != _of_size(file.size) and not may_change:
                raise DataError(
                    f"the file {file.name} has changed since it was taken into the stream",
                    hint="write new rows to new files; if its rows need not be read again, pass repaired=True to read_stream",
                )
        return new

    def with_files(self, files: Iterable[PresentFile], present: Iterable[PresentFile]) -> TakenFiles:
        """Those of these that are still `present`, and `files`."""
        there = {_of_name(file.name) for file in present}
        kept = {name: size for name, size in self.sizes.items() if name in there}
        return TakenFiles(kept | {_of_name(file.name): _of_size(file.size) for file in files})


def _of_name(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=_NAME).digest()


def _of_size(size: int) -> bytes:
    return zlib.crc32(size.to_bytes(8)).to_bytes(4)[:_SIZE]

"""What a micro-batch reads, as Spark's offsets say it: they are durable, and a batch that is run again reads the same files."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

from ostinato.base.errors import DataError, StateError
from ostinato.hosts.spark.streaming.file_list import FileList, PresentFile
from ostinato.hosts.spark.streaming.taken_files import TakenFiles

Offset = dict[str, Any]  # as JSON knows it
FORMAT = 2


@dataclass(frozen=True)
class Footer:
    """What a plan needs of a file, all of which its end tells."""

    rows: int
    row_groups: int


@dataclass(frozen=True)
class PlannedFile:
    name: str
    size: int
    row_groups: int


@dataclass(frozen=True)
class Plan:
    """`batch` counts micro-batches; `files` are those of the last one, `taken` all up to it that were in the directory then. `ended`: the
    stream was told that nothing comes any more, in a last batch without files."""

    batch: int = 0
    files: tuple[PlannedFile, ...] = ()
    taken: str = ""
    ended: bool = False

    def offset(self) -> Offset:
        return {"format": FORMAT} | asdict(self) | {"files": [astuple(file) for file in self.files]}

    @staticmethod
    def of(offset: Offset) -> Plan:
        if offset.get("format") != FORMAT:
            raise StateError("the stream's offsets were written by another release", hint="begin with a new checkpoint directory")
        return Plan(offset["batch"], tuple(PlannedFile(*file) for file in offset["files"]), offset["taken"], offset["ended"])


@dataclass(frozen=True)
class FilePlanner:
    """`footer` reads a file's end and raises if the file cannot be read: then it is not planned, and the stream goes on when that is
    mended. `repaired`: files that are planned or taken may have changed since or be gone. `ends`: behind the last file comes the end."""

    files: FileList
    footer: Callable[[str], Footer]
    repaired: bool = False
    ends: bool = False

    def next(self, start: Plan, rows: int | None, among: Container[str] | None = None) -> Plan:
        """The plan that takes in as many further files as `rows` allows (always one, if there is one), of those `among` which it may
        choose. Without any it is `start` itself, so that Spark sees that nothing came."""
        present = self.files.present()
        taken = TakenFiles.loads(start.taken)
        waiting = [file for file in taken.missing_from(present, self.repaired) if among is None or file.name in among]
        if start.ended and waiting:
            raise StateError(
                f"the stream has ended, and then the file {waiting[0].name} came",
                detail="its last matches were decided as if nothing would come any more",
                hint="begin with a new checkpoint directory, and pass ends=True when all files are there",
            )
        chosen = list(self._within(waiting, rows))
        if not chosen:
            return replace(start, batch=start.batch + 1, files=(), ended=True) if self.ends and not start.ended else start
        files = tuple(PlannedFile(file.name, file.size, footer.row_groups) for file, footer in chosen)
        return Plan(start.batch + 1, files, taken.with_files((file for file, _ in chosen), present).dumps())

    def _within(self, waiting: Sequence[PresentFile], rows: int | None) -> Iterator[tuple[PresentFile, Footer]]:
        if rows is None:
            with ThreadPoolExecutor(8) as pool:
                yield from zip(waiting, pool.map(self._footer, waiting), strict=True)
            return
        count = 0
        for number, file in enumerate(waiting):
            footer = self._footer(file)
            count += footer.rows
            if number and count > rows:
                return
            yield file, footer

    def _footer(self, file: PresentFile) -> Footer:
        return self.footer(self.files.path(file.name))

    def between(self, start: Plan, end: Plan) -> list[PlannedFile]:
        """The files of the batch that goes from one offset to the next."""
        if end.batch == start.batch:
            return []
        if end.batch != start.batch + 1:
            raise StateError(
                f"the stream was asked for the batches {start.batch + 1} to {end.batch} at once",
                hint="begin with a new checkpoint directory",
            )
        return list(self._as_they_are(end.files)) if self.repaired else [self._unchanged(file) for file in end.files]

    def _unchanged(self, file: PlannedFile) -> PlannedFile:
        check_unchanged(self.files, file)
        return file

    def _as_they_are(self, files: Iterable[PlannedFile]) -> Iterator[PlannedFile]:
        for file in files:
            size = self.files.size(file.name)
            if size is not None:
                yield PlannedFile(file.name, size, self.footer(self.files.path(file.name)).row_groups)


def check_unchanged(files: FileList, planned: PlannedFile) -> None:
    """A batch that is run again has to read what it read before: its matches may have been written."""
    size = files.size(planned.name)
    if size == planned.size:
        return
    path = files.path(planned.name)
    found = f"the file {path} is gone" if size is None else f"the file {path} has changed"
    raise DataError(
        f"{found} since it was planned for a micro-batch",
        detail=f"it had {planned.size} bytes" + ("" if size is None else f", now it has {size}"),
        hint="put it back as it was; if it was removed or repaired on purpose, pass repaired=True to read_stream",
    )

"""Where `ostinato run` evaluates: in this process, or on a local Spark. Both are imported when asked for: they are heavy."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console

from ostinato.cli.inputs import Input
from ostinato.cli.kernels import prepare_kernels
from ostinato.cli.outputs import write_batches
from ostinato.cli.progress import progress
from ostinato.cli.query_file import QueryFile
from ostinato.cli.settings import MatchSettings
from ostinato.cli.spark_session import spark_session


class EngineName(StrEnum):
    embedded = "embedded"
    spark = "spark"


def evaluate(engine: EngineName, query: QueryFile, streams: Sequence[Input], settings: MatchSettings, errors: Console) -> pa.Table:
    prepare_kernels(query.language.strategies, errors)  # a query that needs others says so itself
    run = _on_spark if engine is EngineName.spark else _embedded
    return run(query, streams, settings, errors)


def _embedded(query: QueryFile, streams: Sequence[Input], settings: MatchSettings, errors: Console) -> pa.Table:
    from ostinato.cli.watched_source import WatchedSource
    from ostinato.hosts import embedded

    with _hard_stop() if settings.sandbox else nullcontext(), progress("Matching", errors) as meter:
        sources: dict[str, Any] = {stream.name: WatchedSource(stream.name, stream.path, meter) for stream in streams}
        if query.language.is_statement:
            found = embedded.sql(query.text, streams=sources, sandbox=settings.sandbox).to_arrow()
        else:
            options = {"language": query.language.name, "budget": settings.budget, **settings.given}
            found = embedded.match(query.text, streams=sources, sandbox=settings.sandbox, **options).to_arrow()
    for source in sources.values():
        if source.rows == 0:
            errors.print(f"The input {source.name} has no rows, so nothing can match.", markup=False, highlight=False)
    return found


@contextmanager
def _hard_stop() -> Iterator[None]:
    """The sandbox looks at the clock between batches; what never comes back from one is ended by the operating system."""
    from ostinato.hosts.sandbox import Sandbox

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(2 * Sandbox().seconds))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def write_as_found(query: QueryFile, streams: Sequence[Input], settings: MatchSettings, output: Path, errors: Console) -> int:
    """Matches go into the file piece by piece, so that there may be more than fit into memory; returns how many rows these are."""
    from ostinato.cli.watched_source import WatchedSource
    from ostinato.hosts import embedded

    prepare_kernels(query.language.strategies, errors)
    with _hard_stop() if settings.sandbox else nullcontext(), progress("Matching", errors) as meter:
        sources: dict[str, Any] = {stream.name: WatchedSource(stream.name, stream.path, meter) for stream in streams}
        options = {"language": query.language.name, "budget": settings.budget, "sandbox": settings.sandbox, **settings.given}
        found = embedded.match(query.text, streams=sources, lazy=True, **options)
        return write_batches(found.schema, found.batches(), output)


def _on_spark(query: QueryFile, streams: Sequence[Input], settings: MatchSettings, errors: Console) -> pa.Table:
    from ostinato.hosts.spark import on

    with tempfile.TemporaryDirectory(prefix="ostinato-") as folder, spark_session(Path(folder) / "spark.log") as session:
        paths: dict[str, Any] = {stream.name: str(Path(stream.path).absolute()) for stream in streams}
        with progress("Matching on Spark", errors):
            engine = on(session, sandbox=settings.sandbox)
            with engine.in_time():
                if query.language.is_statement:
                    return engine.sql(query.text, streams=paths).toArrow()
                options = {"language": query.language.name, "budget": settings.budget, **settings.given}
                return engine.match(query.text, streams=paths, **options).toArrow()

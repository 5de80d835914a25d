"""Batches from several threads or tasks, taken in one by one in order of arrival."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from threading import Thread, current_thread
from types import TracebackType
from typing import Any, Protocol
from weakref import finalize

from ostinato.base.errors import OstinatoError, StateError
from ostinato.runtime.delivery.arrival_queue import ArrivalQueue, Pending

WAITING = 64  # batches that wait, unless it is told otherwise
KEPT = 15  # errors that nobody has asked for, of which the first is raised


class Receives(Protocol):
    """A session of one query, or of a set."""

    def push(self, stream: Any, batch: Any) -> Any: ...

    def advance(self, watermark: Any) -> Any: ...


class Receiver:
    """The queue before a session: `put` from any thread, `aput` from any asyncio task. One thread of its own takes the batches in order of
    arrival. When `limit` of them wait, whoever brings more waits as well. The session is the caller's again when the receiver is closed;
    until then all calls to it go through the receiver (`put`, `advance`, `call`).

    >>> import pyarrow as pa, ostinato as ost
    >>> ticks = pa.table({"ts": [1, 2, 3], "price": [10.0, 12.0, 9.0]})
    >>> session = ost.compile("PATTERN SEQ(ticks a) WHERE skip_till_next_match(a) { a.price > 9 } RETURN a.ts AS at", ticks=ticks).open()
    >>> with ost.Receiver(session) as receiver:
    ...     pending = receiver.put("ticks", ticks)
    >>> pending.result().to_pylist()
    [{'at': 1}, {'at': 2}]
    """

    def __init__(self, session: Receives, *, limit: int = WAITING) -> None:
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise OstinatoError(f"limit={limit!r} is no number of batches", hint="It is a whole number from 1 on")
        self._session = session
        self._queue = ArrivalQueue(limit)
        self._unasked: list[Pending] = []  # of calls that have failed; see `close`
        self._worker = Thread(target=_drain, args=(self._queue, self._unasked), name="ostinato-receiver", daemon=True)
        self._stop = finalize(self, _stopped, self._queue, self._worker)  # also at the end of the process: no call is cut off
        self._worker.start()

    def put(self, stream: str, batch: Any, *, timeout: float | None = None) -> Pending:
        """A batch for the session. Waits for a place in the queue, at most `timeout` seconds, and returns at once then: `result()` of what
        it returns waits for the matches that the batch has decided, or raises what taking it in has raised."""
        return self._put(partial(self._session.push, stream, batch), timeout)

    def advance(self, watermark: Any, *, timeout: float | None = None) -> Pending:
        """`advance` of the session, in its turn."""
        return self._put(partial(self._session.advance, watermark), timeout)

    def call(self, function: Callable[..., Any], /, *given: Any, timeout: float | None = None, **named: Any) -> Pending:
        """Anything else that touches the session, in its turn between batches: `receiver.call(rules.sync, table)`,
        `receiver.call(session.snapshot)`."""
        return self._put(partial(function, *given, **named), timeout)

    async def aput(self, stream: str, batch: Any) -> Any:
        """The same for asyncio tasks: waits for its turn without holding up the others, and returns what `push` returns. A task that is
        cancelled while it waits for a place takes its batch away; one that is in the queue is taken in."""
        return await self._awaited(partial(self._session.push, stream, batch))

    async def aadvance(self, watermark: Any) -> Any:
        return await self._awaited(partial(self._session.advance, watermark))

    async def acall(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
        return await self._awaited(partial(function, *given, **named))

    @property
    def waiting(self) -> int:
        """Batches that are not taken yet, also of those that wait for a place."""
        return len(self._queue)

    def _put(self, work: Callable[[], Any], timeout: float | None) -> Pending:
        if current_thread() is self._worker:
            raise StateError(
                "a call inside the queue's own thread would wait for itself", hint="call the session itself, or another thread"
            )
        one = Pending(work)
        self._queue.enter(one)
        try:
            one.entered.result(timeout)
        except TimeoutError:
            if self._queue.withdraw(one):
                raise StateError(f"there was no place in the queue for {timeout} seconds", hint="push larger batches, or fewer") from None
        except BaseException:  # an interrupt: the caller will not know whether it came in, so it does not, if it can be helped
            self._queue.withdraw(one)
            raise
        return one

    async def _awaited(self, work: Callable[[], Any]) -> Any:
        one = Pending(work)
        self._queue.enter(one)
        try:
            await asyncio.wrap_future(one.entered)
        except asyncio.CancelledError:
            self._queue.withdraw(one)
            raise
        return await asyncio.shield(asyncio.wrap_future(one))

    def close(self) -> None:
        """All that wait are taken in; then the session is the caller's again. Raises the first error of a call whose result nobody has
        asked for."""
        self._queue.close()
        self._worker.join()
        self._stop.detach()
        for one in self._unasked:
            error = None if one.was_asked else one.exception()
            if error is not None:
                raise error

    def abandon(self) -> None:
        """The call that is at work is finished; nothing of what waits is taken in, and whoever brought it is told so."""
        self._queue.clear()
        self._queue.close()
        self._worker.join()
        self._stop.detach()

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """After an error or an interrupt in the block, nothing more is taken in."""
        if kind is None:
            self.close()
        else:
            self.abandon()

    async def __aenter__(self) -> Receiver:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """The same, while other tasks go on."""
        await asyncio.to_thread(self.__exit__, kind, error, trace)


def _drain(queue: ArrivalQueue, unasked: list[Pending]) -> None:
    """The receiver itself is not known here, so that one that nobody holds any more is not kept alive by its thread."""
    while (one := queue.take()) is not None:
        if not one.set_running_or_notify_cancel():
            continue
        try:
            returned = one.work()
        except BaseException as error:  # it belongs to the caller, whatever it is
            unasked[:] = [*(other for other in unasked if not other.was_asked)][:KEPT] + [one]
            one.set_exception(error)
        else:
            one.set_result(returned)
        one.work = _done


def _done() -> None:
    """The batch of a call that is over is let go."""


def _stopped(queue: ArrivalQueue, worker: Thread) -> None:
    queue.clear()
    queue.close()
    if worker is not current_thread():
        worker.join()

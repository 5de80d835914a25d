"""Matches of some queries for an asyncio task."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType

import pyarrow as pa

from ostinato.base.errors import BudgetError, StateError
from ostinato.runtime.delivery.subscriptions import Subscriptions

WAITING = 10_000  # results that wait to be read, unless it is told otherwise


class MatchStream:
    """`async for query, matches in stream`, or `await stream.get()`. Made inside of a running event loop; matches may come from any thread.
    Whoever reads too slowly, so that more than `limit` results wait, gets those and then an error: nothing is lost unseen, and neither the
    session nor other subscribers wait for it."""

    def __init__(self, wants: tuple[str, ...], of: Subscriptions, limit: int) -> None:
        self.wants = wants
        self.missed = 0
        self._of = of
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[str, pa.Table]] = deque()
        self._came = asyncio.Event()
        self._ended = False

    def deliver(self, query: str, matches: pa.Table) -> None:
        """From any thread. Those that wait are counted here, since the loop may be slow to look at them."""
        if self._ended:
            return
        if self.missed or len(self._waiting) >= self._limit:
            self.missed += 1
        else:
            self._waiting.append((query, matches))
        self._wake()

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._came.set)
        except RuntimeError:  # the loop is closed: nobody will read
            self._ended = True
            self._of.remove(self)

    def unsubscribe(self) -> None:
        """Nothing comes any more; what waits can be read."""
        self._of.remove(self)
        self._ended = True
        self._wake()

    async def get(self) -> tuple[str, pa.Table]:
        """The next result: the name of a query, and its new matches."""
        while not self._waiting:
            if self.missed:
                self._of.remove(self)
                raise BudgetError(
                    f"{self.missed} results were missed: more than {self._limit} waited to be read",
                    hint="read faster, subscribe to fewer queries, or raise limit=",
                )
            if self._ended:
                raise StateError("the subscription has ended", hint="subscribe again")
            self._came.clear()
            if not self._waiting and not self._ended and not self.missed:
                await self._came.wait()
        return self._waiting.popleft()

    def __aiter__(self) -> MatchStream:
        return self

    async def __anext__(self) -> tuple[str, pa.Table]:
        if self._ended and not self._waiting and not self.missed:
            raise StopAsyncIteration
        try:
            return await self.get()
        except StateError:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> MatchStream:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.unsubscribe()

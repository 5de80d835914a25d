"""One ordered queue of bounded length; whoever finds it full waits for a place, in order of arrival."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from threading import Condition
from typing import Any

from ostinato.base.errors import StateError


class Pending(Future[Any]):
    """What a call will have returned. `was_asked`: somebody has looked for its result, and so for its error."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self.work = work
        self.entered: Future[None] = Future()  # done when it stands in the queue
        self.was_asked = False

    def result(self, timeout: float | None = None) -> Any:
        self.was_asked = True
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self.was_asked = True
        return super().exception(timeout)


class ArrivalQueue:
    """At most `limit` stand in it. Nobody polls: those outside are woken when they have a place, the one that takes when there is work."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._inside: deque[Pending] = deque()
        self._outside: deque[Pending] = deque()
        self._changed = Condition()
        self.is_closed = False

    def __len__(self) -> int:
        with self._changed:
            return len(self._inside) + len(self._outside)

    def enter(self, one: Pending) -> None:
        """It has its place in the order from now on; `one.entered` is done as soon as there is room."""
        with self._changed:
            if self.is_closed:
                raise StateError("the receiver is closed", hint="open another one on the session")
            self._outside.append(one)
            self._admit()

    def _admit(self) -> None:
        """As many as there is room for. A task that was cancelled meanwhile has taken its own away."""
        while self._outside and len(self._inside) < self._limit:
            one = self._outside.popleft()
            if one.entered.set_running_or_notify_cancel():
                self._inside.append(one)
                one.entered.set_result(None)
                self._changed.notify()

    def withdraw(self, one: Pending) -> bool:
        """Whoever waits outside may go. False: it stands in the queue already, or was taken from it."""
        with self._changed:
            if one not in self._outside:
                return False
            self._outside.remove(one)
            return True

    def take(self) -> Pending | None:
        """The next one, when it comes; None when the queue is closed and empty."""
        with self._changed:
            while not self._inside:
                if self.is_closed:
                    return None
                self._changed.wait()
            taken = self._inside.popleft()
            self._admit()
            return taken

    def close(self) -> None:
        """Nothing comes in any more; what is there is taken."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def clear(self) -> None:
        """Those that wait are not taken: they are told so."""
        with self._changed:
            waiting = [*self._inside, *self._outside]
            self._inside.clear()
            self._outside.clear()
        error = StateError("the receiver was closed before this was taken in", hint="open another one on the session")
        for told in [*(one.entered for one in waiting if not one.entered.done()), *waiting]:
            if told.set_running_or_notify_cancel():
                told.set_exception(error)

"""Who gets the matches of which queries."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from threading import Lock
from typing import Protocol

import pyarrow as pa

from ostinato.base.errors import OstinatoError

LOGGER = logging.getLogger("ostinato")
SIGNS = "*?["  # of patterns
Callback = Callable[[str, pa.Table], object]  # told the name of a query, and its new matches


class Subscriber(Protocol):
    """`wants`: the names of queries, or patterns of them."""

    wants: tuple[str, ...]

    def deliver(self, query: str, matches: pa.Table) -> None: ...


class Subscription:
    """A callback for the matches of some queries. What it raises stops nobody else: `errors` counts, `error` is the latest, and the
    first is told by the logger `ostinato`."""

    def __init__(self, wants: tuple[str, ...], callback: Callback, of: Subscriptions) -> None:
        self.wants = wants
        self.errors = 0
        self.error: Exception | None = None
        self._callback = callback
        self._of = of

    def deliver(self, query: str, matches: pa.Table) -> None:
        try:
            self._callback(query, matches)
        except Exception as error:
            self.errors += 1
            self.error = error
            if self.errors == 1:
                LOGGER.warning("a subscriber of %r has failed: %s: %s", query, type(error).__name__, error)

    def unsubscribe(self) -> None:
        """It gets nothing any more."""
        self._of.remove(self)


class Subscriptions:
    """Of a session. They may come and go in other threads; whoever is there when matches are handed out gets them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._all: tuple[Subscriber, ...] = ()
        self._named: dict[str, list[Subscriber]] = {}
        self._patterns: list[Subscriber] = []
        self._found: dict[str, tuple[Subscriber, ...]] = {}  # what was looked up since the last change

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Subscriber]:
        return iter(self._all)

    def add(self, one: Subscriber) -> None:
        with self._lock:
            self._all = (*self._all, one)
            self._look_at()

    def remove(self, one: Subscriber) -> None:
        with self._lock:
            self._all = tuple(other for other in self._all if other is not one)
            self._look_at()

    def _look_at(self) -> None:
        named: dict[str, list[Subscriber]] = {}
        patterns: list[Subscriber] = []
        for one in self._all:
            if any(is_pattern(want) for want in one.wants):
                patterns.append(one)
            else:
                for want in one.wants:
                    named.setdefault(want, []).append(one)
        self._named, self._patterns, self._found = named, patterns, {}

    def of(self, query: str) -> tuple[Subscriber, ...]:
        """Those of one query, in the order in which they came."""
        with self._lock:
            if query not in self._found:
                own = {id(one) for one in self._named.get(query, ())}
                own |= {id(one) for one in self._patterns if any(fits(query, want) for want in one.wants)}
                self._found[query] = tuple(one for one in self._all if id(one) in own) if own else ()
            return self._found[query]

    def deliver(self, found: Mapping[str, pa.Table]) -> None:
        """The new matches of queries."""
        for query, matches in found.items():
            for one in self.of(query):
                one.deliver(query, matches)


def is_pattern(want: str) -> bool:
    return any(sign in want for sign in SIGNS)


def fits(query: str, want: str) -> bool:
    """`*` stands for any letters, `?` for one, `[ab]` for one of these."""
    return query == want or fnmatchcase(query, want)


def wanted(queries: str | Collection[str]) -> tuple[str, ...]:
    """What a subscriber asks for, checked."""
    given = (queries,) if isinstance(queries, str) else tuple(queries)
    if not given or not all(isinstance(one, str) and one for one in given):
        raise OstinatoError(f"{queries!r} names no queries", hint='Pass the name of a query, a pattern such as "price-*", or several')
    return given

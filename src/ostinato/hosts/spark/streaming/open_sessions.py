"""Sessions that a worker has left open: the next micro-batch of a bucket often comes to the worker that had the one before.

Spark's state is what counts. A session is known by the very bytes that it was stored as, and is taken out before it is touched: where
another worker has gone on since, or a task has failed half way, the bytes are others, and the session is opened from them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from hashlib import blake2b

from ostinato.runtime.session.set_session import SetSession

MOST = 8  # of a worker; as many buckets as there are by default

Told = tuple[Hashable, ...]  # what sessions are opened with, beside what is stored
_open: OrderedDict[tuple[bytes, Told], SetSession] = OrderedDict()


def taken(stored: bytes, told: Told) -> SetSession | None:
    """The session that was stored as these bytes, if it is here."""
    return _open.pop((_known_by(stored), told), None)


def left_open(stored: bytes, told: Told, session: SetSession) -> None:
    _open[_known_by(stored), told] = session
    while len(_open) > MOST:
        _open.popitem(last=False)


def forget() -> None:
    _open.clear()


def _known_by(stored: bytes) -> bytes:
    return blake2b(stored, digest_size=32).digest()

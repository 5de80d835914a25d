"""What Spark's state store keeps for a bucket: one blob with a version of its own, since Spark refuses changed state schemas."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ostinato.base.errors import StateError

_MAGIC = b"OSTB"
_VERSION = 3
_HEADER = struct.Struct(">4sHIqqH")


@dataclass(frozen=True)
class BucketState:
    """`buckets` says into how many the keys were divided when the stream began; `timer` is the pending one, in milliseconds (-1:
    none); `snapshot` is the session's; `latest` is how far each stream has come, where streams tell it."""

    buckets: int
    matches: int
    timer: int
    snapshot: bytes
    latest: tuple[int, ...] = ()

    @property
    def has_ended(self) -> bool:
        """An ended stream keeps no session."""
        return not self.snapshot

    def dumps(self) -> bytes:
        header = _HEADER.pack(_MAGIC, _VERSION, self.buckets, self.matches, self.timer, len(self.latest))
        return header + struct.pack(f">{len(self.latest)}q", *self.latest) + self.snapshot

    @staticmethod
    def loads(data: bytes) -> BucketState:
        if len(data) < _HEADER.size or data[:4] != _MAGIC:
            raise StateError("the stored state of this stream was not written by Ostinato", hint="begin with a new checkpoint directory")
        _, version, buckets, matches, timer, streams = _HEADER.unpack_from(data)
        if version != _VERSION:
            raise StateError(
                f"the stored state has format {version}, this release reads format {_VERSION}",
                hint="finish the stream with the release that began it, or begin with a new checkpoint directory",
            )
        end = _HEADER.size + 8 * streams
        if len(data) < end:
            raise StateError("the stored state of this stream is cut off", hint="begin with a new checkpoint directory")
        return BucketState(buckets, matches, timer, data[end:], struct.unpack(f">{streams}q", data[_HEADER.size : end]))

    def check(self, buckets: int) -> BucketState:
        """Keys that moved to another bucket would lose their state, so the number is fixed when the stream begins."""
        if self.buckets != buckets:
            raise StateError(
                f"this stream was begun with {self.buckets} buckets and cannot go on with {buckets}", hint=f"pass buckets={self.buckets}"
            )
        return self

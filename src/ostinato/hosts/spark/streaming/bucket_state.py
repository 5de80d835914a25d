"""What Spark's state store keeps for a bucket: one blob with a version of its own, since Spark refuses changed state schemas."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ostinato.base.errors import StateError

_MAGIC = b"OSTB"
_VERSION = 2
_HEADER = struct.Struct(">4sHIqq")


@dataclass(frozen=True)
class BucketState:
    """`buckets` says into how many the keys were divided when the stream began; `timer` is the pending one, in milliseconds (-1:
    none); `snapshot` is the session's."""

    buckets: int
    matches: int
    timer: int
    snapshot: bytes

    def dumps(self) -> bytes:
        return _HEADER.pack(_MAGIC, _VERSION, self.buckets, self.matches, self.timer) + self.snapshot

    @staticmethod
    def loads(data: bytes) -> BucketState:
        if len(data) < _HEADER.size or data[:4] != _MAGIC:
            raise StateError("the stored state of this stream was not written by Ostinato", hint="begin with a new checkpoint directory")
        _, version, buckets, matches, timer = _HEADER.unpack_from(data)
        if version != _VERSION:
            raise StateError(
                f"the stored state has format {version}, this release reads format {_VERSION}",
                hint="finish the stream with the release that began it, or begin with a new checkpoint directory",
            )
        return BucketState(buckets, matches, timer, data[_HEADER.size :])

    def check(self, buckets: int) -> BucketState:
        """Keys that moved to another bucket would lose their state, so the number is fixed when the stream begins."""
        if self.buckets != buckets:
            raise StateError(
                f"this stream was begun with {self.buckets} buckets and cannot go on with {buckets}", hint=f"pass buckets={self.buckets}"
            )
        return self

"""What the two processes say to each other: a line of JSON by its length, and rows as Arrow writes them. Nothing that is read is ever
executed or unpickled: whoever took over the one process must not get into the other."""

from __future__ import annotations

import json
from typing import IO, Any

import pyarrow as pa

LONGEST = 1 << 30
LENGTH = 8


class Ended(Exception):
    """The other side has nothing more to say."""


def say(pipe: IO[bytes], message: dict[str, Any], body: bytes | pa.Buffer = b"") -> None:
    head = json.dumps(message | {"bytes": len(body)}).encode()
    pipe.write(len(head).to_bytes(LENGTH, "big"))
    pipe.write(head)
    pipe.write(body)
    pipe.flush()


def hear(pipe: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    message = json.loads(_exactly(pipe, int.from_bytes(_exactly(pipe, LENGTH), "big")))
    if not isinstance(message, dict) or type(message.get("bytes")) is not int:
        raise Ended
    return message, _exactly(pipe, message["bytes"])


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    if not 0 <= size <= LONGEST:
        raise Ended
    found = pipe.read(size)
    if len(found) != size:
        raise Ended
    return found


def packed(rows: pa.Table | pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write(rows)
    return sink.getvalue()


def unpacked(data: bytes) -> pa.Table:
    table = pa.ipc.open_stream(data).read_all()
    table.validate(full=True)
    return table

"""The container of a snapshot: named arrays and blobs, with a format version and the fingerprint of the program they belong to."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import StateError
from ostinato.program import serde
from ostinato.program.program import Program

MAGIC = b"OSTS"
FORMAT = 7
KINDS = ("<i8", "<i4", "<u8", "<f8", "|u1", "|b1")  # of arrays
ALWAYS_TAKEN = 1 << 26  # bytes
MOST_SHRUNK = 1 << 13  # bytes for one: arrays full of zeros become very small
HEAD = 18  # magic, format, size, checksum of all the rest


@lru_cache(maxsize=64)
def fingerprint(program: Program) -> str:
    """Cached: a streaming worker makes and reads a snapshot per bucket and micro-batch, always of the same few programs."""
    return hashlib.sha256(serde.dumps(program)).hexdigest()


def pack(program: Program, scalars: dict[str, Any], arrays: dict[str, np.ndarray], blobs: dict[str, bytes]) -> bytes:
    layout, chunks = [], []
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        layout.append([name, array.dtype.str, list(array.shape), array.nbytes])
        chunks.append(array.tobytes())
    for name, blob in blobs.items():
        layout.append([name, "blob", [], len(blob)])
        chunks.append(blob)
    header = json.dumps({"program": fingerprint(program), "scalars": scalars, "layout": layout}).encode()
    body = pa.compress(len(header).to_bytes(8, "big") + header + b"".join(chunks), codec="zstd", asbytes=True)
    size = 8 + len(header) + sum(len(chunk) for chunk in chunks)
    head = MAGIC + FORMAT.to_bytes(2, "big") + size.to_bytes(8, "big")
    return head + zlib.crc32(body, zlib.crc32(head)).to_bytes(4, "big") + body


def unpack(program: Program, data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, bytes]]:
    if not isinstance(data, bytes | bytearray) or data[:4] != MAGIC:
        raise StateError("these bytes are not a snapshot of a session")
    version = int.from_bytes(data[4:6], "big")
    if version != FORMAT:
        text = f"the snapshot has format {version}, this release reads format {FORMAT}"
        raise StateError(text, hint="restore it with the release that made it, or open a new session and push the rows again")
    if zlib.crc32(data[HEAD:], zlib.crc32(data[:14])) != int.from_bytes(data[14:HEAD], "big"):
        raise StateError("the snapshot is damaged", detail="its checksum is another", hint="restore an earlier one")
    raw = _unpacked(data)
    length = int.from_bytes(raw[:8], "big")
    header = json.loads(raw[8 : 8 + length])
    if header["program"] != fingerprint(program):
        hint = "a session continues only with the query, schema and release that it began with"
        raise StateError("the snapshot belongs to another query", hint=hint)
    arrays: dict[str, np.ndarray] = {}
    blobs: dict[str, bytes] = {}
    at = 8 + length
    for name, kind, shape, size in header["layout"]:
        if name in arrays or name in blobs or type(size) is not int or not 0 <= size <= len(raw) - at:
            raise StateError("the snapshot is damaged", detail=f"no room for {name}", hint="restore an earlier one")
        if kind == "blob":
            blobs[name] = raw[at : at + size]
        else:
            arrays[name] = _array(raw[at : at + size], name, kind, shape)
        at += size
    return header["scalars"], arrays, blobs


def _unpacked(data: bytes) -> bytes:
    """Nothing shrinks beyond all measure: a size out of proportion to the bytes is no size of a snapshot."""
    size, given = int.from_bytes(data[6:14], "big"), len(data) - HEAD
    if not 8 <= size <= ALWAYS_TAKEN + MOST_SHRUNK * given:
        raise StateError("the snapshot is damaged", detail=f"{given} bytes cannot hold {size}", hint="restore an earlier one")
    return pa.decompress(data[HEAD:], decompressed_size=size, codec="zstd", asbytes=True)


def _array(data: bytes, name: str, kind: str, shape: list[int]) -> np.ndarray:
    whole = isinstance(shape, list) and all(type(length) is int and length >= 0 for length in shape)
    if kind not in KINDS or not whole or math.prod(shape) * np.dtype(kind).itemsize != len(data):
        raise StateError("the snapshot is damaged", detail=f"{name} is no array of {kind}", hint="restore an earlier one")
    return np.frombuffer(data, np.dtype(kind)).reshape(shape).copy()


def part_of(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Those whose names begin so, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

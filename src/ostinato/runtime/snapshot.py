"""The container of a snapshot: named arrays and blobs, with a format version and the fingerprint of the program they belong to."""

from __future__ import annotations

import hashlib
import json
import zlib
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import StateError
from ostinato.program import serde
from ostinato.program.program import Program

MAGIC = b"OSTS"
FORMAT = 3
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
    raw = pa.decompress(data[HEAD:], decompressed_size=int.from_bytes(data[6:14], "big"), codec="zstd", asbytes=True)
    length = int.from_bytes(raw[:8], "big")
    header = json.loads(raw[8 : 8 + length])
    if header["program"] != fingerprint(program):
        hint = "a session continues only with the query, schema and release that it began with"
        raise StateError("the snapshot belongs to another query", hint=hint)
    arrays, blobs, at = {}, {}, 8 + length
    for name, kind, shape, size in header["layout"]:
        if kind == "blob":
            blobs[name] = raw[at : at + size]
        else:
            arrays[name] = np.frombuffer(raw, np.dtype(kind), count=size // np.dtype(kind).itemsize, offset=at).reshape(shape).copy()
        at += size
    return header["scalars"], arrays, blobs


def part_of(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Those whose names begin so, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

"""The contract between compiling and executing: everything a worker needs, as plain values."""

from __future__ import annotations

VERSION = 6

"""How far from 0 a time may be."""

from __future__ import annotations

FAREST = (1 << 62) - 1  # with windows of at most one more, no sum and no difference leaves 64 bits

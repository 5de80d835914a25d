"""How far from 0 a time may be."""

from __future__ import annotations

FAREST = 1 << 62  # with windows of at most as much, no sum and no difference leaves 64 bits

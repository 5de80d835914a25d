"""Rows grouped by partition: every partition's retained rows lie next to each other, in order, in shared column arrays."""

from __future__ import annotations

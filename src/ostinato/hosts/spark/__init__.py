"""Ostinato on Apache Spark: batch DataFrames and Structured Streaming."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ostinato.hosts.spark.session_entry import SparkEngine, local, on

__all__ = ["SparkEngine", "local", "on"]


def __getattr__(name: str) -> Any:
    """Found when asked for: workers import modules of this package and must not load the compile side."""
    if name in __all__:
        return getattr(import_module("ostinato.hosts.spark.session_entry"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

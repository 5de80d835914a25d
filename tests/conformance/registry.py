"""The engines that run every case in this process."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.engines import EmbeddedEngine, Engine, ReferenceEngine, SessionEngine
from tests.conformance.task_engines import KeyedPassEngine, TimeRangesEngine

ENGINES: dict[str, Callable[[], Engine]] = {
    engine.name: engine for engine in (ReferenceEngine, SessionEngine, EmbeddedEngine, KeyedPassEngine, TimeRangesEngine)
}

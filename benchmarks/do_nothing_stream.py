"""A packed streaming job with state whose kernel does nothing: what Spark costs before anything is matched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StatefulProcessor

STATE_BYTES = 1000


class DoNothing(StatefulProcessor):
    def init(self, handle: Any) -> None:
        self._state = handle.getValueState("blob", "blob binary")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        if self._state.exists():
            self._state.get()
        total = sum(len(blob) for frame in rows for blob in frame["rows"])
        self._state.update((bytes(STATE_BYTES),))
        yield pd.DataFrame({"bytes": [total]})

    def close(self) -> None:
        pass


def do_nothing_with_state(packed: DataFrame) -> DataFrame:
    rows = packed.select("bucket", "rows")
    return rows.groupBy("bucket").transformWithStateInPandas(DoNothing(), "bytes long", "append", "eventTime")

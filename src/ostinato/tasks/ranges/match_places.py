"""The order of the matches of all ranges: ranges follow one another, and so do the matches of a key in a range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from ostinato.tasks.host_ids import BITS_BELOW

PLACE = "__ostinato_place"


def placed(tables: Iterable[pa.Table], task: int) -> Iterator[pa.Table]:
    """The matches of a range with their places among those of all ranges."""
    first = task << BITS_BELOW
    for table in tables:
        yield table.append_column(PLACE, pa.array(np.arange(first, first + table.num_rows)))
        first += table.num_rows

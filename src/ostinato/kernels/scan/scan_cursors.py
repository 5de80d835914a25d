"""What is asked of the cursors of many keys before they are moved."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing
from ostinato.kernels.scan.scan_dfa import START

UNSEEN = -1  # start of a partition that was never fed, as everything else of it that is nothing yet


@borrowing("int64(int64[::1], int64[::1], int64[:,::1])")
def rows_to_search(keys, ready, cursor):
    """How many rows there are from the starts of the keys up to `ready`; UNSEEN if one of the keys was never fed."""
    rows = 0
    for i in range(len(keys)):
        start = cursor[keys[i], START]
        if start == UNSEEN:
            return UNSEEN
        rows += ready[i] - start
    return rows

"""Keep every library that could use more to one thread. CPU time would count their threads anyway; this keeps the comparison plain."""

from __future__ import annotations

import os

VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


def use_one_thread() -> None:
    for variable in VARIABLES:
        os.environ[variable] = "1"
    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)

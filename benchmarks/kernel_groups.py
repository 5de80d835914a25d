"""Arrays handed to a kernel one by one, against the same arrays in named tuples: seconds to compile, microseconds per call, nanoseconds
per row. Thirty arrays, six small functions that are copied into one another, as in the kernels of the strategies.
`python -m benchmarks.kernel_groups`"""

from __future__ import annotations

import gc
import time
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from benchmarks.harness import announce

ARRAYS, GROUPS, STEPS, ROWS, CALLS = 30, 5, 6, 2_000, 20_000
SIZE = ARRAYS // GROUPS
FLAGS = {"nogil": True, "boundscheck": False, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True, "no_rewrites": True}
KINDS = [namedtuple(f"Group{g}", [f"a{i}" for i in range(g * SIZE, (g + 1) * SIZE)]) for g in range(GROUPS)]  # type: ignore[misc]


def kernel(grouped: bool) -> Callable[..., int]:
    """Each step calls the one before it and looks at five arrays."""
    parameters = ", ".join(f"g{g}" for g in range(GROUPS)) if grouped else ", ".join(f"a{i}" for i in range(ARRAYS))

    def array(i: int) -> str:
        return f"g{i // SIZE}.a{i}" if grouped else f"a{i}"

    lines = []
    for step in range(STEPS):
        lines += ["@step", f"def step{step}({parameters}, row):"]
        lines.append(f"    total = step{step - 1}({parameters}, row)" if step else "    total = np.int64(0)")
        for i in range(step * 5, step * 5 + 5):
            lines.append(f"    if {array(i)}[row, {i % 3}] > total:")
            lines.append(f"        {array((i + 1) % ARRAYS)}[row, {i % 3}] += total")
            lines.append(f"        total += {array((i + 7) % ARRAYS)}[row, 1]")
        lines.append("    return total")
    lines += ["@whole", f"def kernel({parameters}, rows):", "    total = np.int64(0)", "    for row in range(rows):"]
    lines += [f"        total += step{STEPS - 1}({parameters}, row)", "    return total"]
    names: dict[str, Any] = {"np": np, "step": numba.njit(**FLAGS, no_cpython_wrapper=True, forceinline=True), "whole": numba.njit(**FLAGS)}
    exec("\n".join(lines), names)
    return names["kernel"]


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(grouped: bool) -> tuple[float, float, float]:
    arrays = [np.random.default_rng(i).integers(0, 3, (ROWS, 3)) for i in range(ARRAYS)]
    given = [kind(*arrays[g * SIZE : (g + 1) * SIZE]) for g, kind in enumerate(KINDS)] if grouped else arrays
    run = kernel(grouped)
    compiling = seconds(lambda: run(*given, 0))
    call = seconds(lambda: [run(*given, 0) for _ in range(CALLS)]) / CALLS
    row = min(seconds(lambda: [run(*given, ROWS) for _ in range(20)]) for _ in range(7)) / 20 / ROWS
    return compiling, call * 1e6, row * 1e9


def main() -> None:
    gc.disable()
    kernel(False)
    measure(False)  # what Numba does only once
    for _ in range(3):
        for name, grouped in (("one by one", False), ("in groups", True)):
            announce("{}: {:.2f} s to compile, {:.2f} us a call, {:.1f} ns a row".format(name, *measure(grouped)))


if __name__ == "__main__":
    main()

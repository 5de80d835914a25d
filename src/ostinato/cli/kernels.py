"""Kernels are compiled once per machine; whoever waits for that is told."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from rich.console import Console

from ostinato.cli.progress import progress


def prepare_kernels(strategies: Iterable[str], errors: Console) -> None:
    """Those of these strategies."""
    # Late: Numba is heavy, and commands that match nothing do without.
    from ostinato.kernels._jit import is_warm, prepare
    from ostinato.runtime.strategies import MATCHERS

    import_module("ostinato.runtime.session.session")
    for strategy in strategies:
        import_module(MATCHERS[strategy][0])
    if is_warm():
        return
    errors.print("Compiling the kernels of this kind of query, once for this machine; this takes some seconds.")
    with progress("Compiling", errors) as meter:

        def tell(name: str, number: int, total: int) -> None:
            if number == 1:
                meter.expect(total)
            meter.says(f"Compiling {name}")
            meter.add(1)

        prepare(tell)

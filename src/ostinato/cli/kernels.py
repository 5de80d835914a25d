"""Kernels are compiled once per machine; whoever waits for that is told."""

from __future__ import annotations

from rich.console import Console

from ostinato.cli.progress import progress


def prepare_kernels(errors: Console) -> None:
    # Late: Numba is heavy, and commands that match nothing do without.
    from ostinato.kernels._jit import is_warm, warm_up

    if is_warm():
        return
    errors.print("Compiling the kernels, once for this machine; this takes some seconds.")
    with progress("Compiling", errors) as meter:

        def tell(name: str, number: int, total: int) -> None:
            if number == 1:
                meter.expect(total)
            meter.says(f"Compiling {name}")
            meter.add(1)

        warm_up(tell)

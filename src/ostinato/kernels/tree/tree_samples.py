"""Conditions tried on events that are drawn by chance: which combinations satisfy them."""

from __future__ import annotations

from ostinato.kernels._jit import jit
from ostinato.kernels.scalar.scalar import NOT_TRUE, evaluate


@jit(
    "void(int64[:,::1], int64, int64, int64[:,::1], int64[:,::1], int64[::1], uint8[::1], int64[::1], int64[:,::1], uint8[:,::1],"
    " int64[:,::1], uint8[:,::1], boolean[::1])"
)
def try_condition(
    binds, start, end, drawn, code, scratch, scratch_valid, ranks, slots, slot_valid, registers, register_valid, out
):  # fmt: skip
    """For each line of `drawn`, which have a row for each variable, whether the block from `start` on is true. `binds` are the blocks that
    bind the variables, in the same order; line 0 of the registers is that of nothing bound."""
    for sample in range(len(drawn)):
        line, result = 0, NOT_TRUE + 1
        for i in range(drawn.shape[1]):
            if result > NOT_TRUE and binds[i, 0] < binds[i, 1]:
                result = evaluate(
                    code, binds[i, 0], binds[i, 1], scratch, scratch_valid, ranks, slots, slot_valid, drawn[sample, i], registers,
                    register_valid, line, i + 1,
                )  # fmt: skip
                line = i + 1
        if result > NOT_TRUE:
            row = drawn[sample, drawn.shape[1] - 1]
            result = evaluate(
                code, start, end, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, line, line
            )
        out[sample] = result > NOT_TRUE

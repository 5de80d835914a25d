"""Predicates of many patterns over the same rows: a line of bytes for each, a column per row."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import jit


@jit("void(uint8[:,::1], int64[::1], int64[::1], boolean[:,::1])")
def find_holding(holds, lines, begin, found):
    """found[i, s]: whether a row from begin[s] to begin[s + 1] has the predicate of line lines[i]."""
    for i in range(len(lines)):
        line = lines[i]
        for s in range(len(begin) - 1):
            for row in range(begin[s], begin[s + 1]):
                if holds[line, row] != 0:
                    found[i, s] = True
                    break


_PUT = "void(uint8[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], {bits}[::1])"


@jit(_PUT.format(bits="uint8"), _PUT.format(bits="uint64"))
def put_bits(holds, lines, chosen, source, counts, target, bits):
    """Of the chosen stretches, the predicates `lines` of each row as the bits of a word, or byte."""
    for i in range(len(chosen)):
        s = chosen[i]
        for j in range(counts[s]):
            word = np.uint64(0)
            for bit in range(len(lines)):
                word |= np.uint64(holds[lines[bit], source[s] + j]) << np.uint64(bit)
            bits[target[s] + j] = word

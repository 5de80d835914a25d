"""Comparisons of columns and constants, and what logic makes of them, over rows that have come in: in blocks that stay in the first cache,
from the columns of the arena to the bits of its rows without an array in between. A batch of one row costs the call.

An operand is a column, moved by some rows inside of its stretch, or a constant; a register is a line of `holds` (it is true) and one of
`known` (it is not null), a byte per row of the block."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing
from ostinato.kernels.rows.key_regions import COUNT, FIRST, TARGET, WANTED, stretches_around

BLOCK = 1 << 11  # rows
COLUMNS = 4  # that a kernel can be given
CONSTANT = -1  # instead of the number of a column
COLUMN, MOVE, PLACE, OPERAND_WIDTH = 0, 1, 2, 3  # of `operands`; PLACE: the line of a constant
CODE, A, B, OP_WIDTH = 0, 1, 2, 3  # of `ops`
EQ, LT, LE, FLOATS = (
    0,
    1,
    2,
    3,
)  # relations of integers, and behind them those of doubles; the others are these with sides exchanged, or not
IS_NULL, IS_NOT_NULL, AND, OR, NOT = 6, 7, 8, 9, 10


@borrowing
def compare(relation, a, b, out):
    """As NumPy does, NaN included."""
    if relation == EQ:
        for i in range(len(out)):
            out[i] = a[i] == b[i]
    elif relation == LT:
        for i in range(len(out)):
            out[i] = a[i] < b[i]
    else:
        for i in range(len(out)):
            out[i] = a[i] <= b[i]


@borrowing
def decide(code, holds_a, known_a, holds_b, known_b, holds, known):
    """Three-valued logic; what is not known holds never."""
    for i in range(len(holds)):
        if code == AND:
            yes = holds_a[i] & holds_b[i]
            no = (known_a[i] & (holds_a[i] ^ np.uint8(1))) | (known_b[i] & (holds_b[i] ^ np.uint8(1)))
        else:
            yes = holds_a[i] | holds_b[i]
            no = known_a[i] & (holds_a[i] ^ np.uint8(1)) & known_b[i] & (holds_b[i] ^ np.uint8(1))
        holds[i], known[i] = yes, yes | no


@borrowing
def clear_edges(present, at, rows, move, found, s, behind):
    """Rows of a block, which begins at `at`, that have no row so far away in their stretch, of the stretches from `s` on."""
    while s < behind and found[FIRST, s] < at + rows:
        low, high = found[FIRST, s], found[FIRST, s] + found[COUNT, s]
        if move < 0:
            high = min(high, low - move)
        else:
            low = max(low, high - move)
        for i in range(max(low - at, 0), min(high - at, rows)):
            present[i] = 0
        s += 1


@borrowing
def within(at, rows, capacity):
    """The part of a block, moved to `at`, that lies in the arena; what lies beyond is at an edge of its stretch."""
    low = min(max(-at, 0), rows)
    return low, max(low, min(rows, capacity - at))


@borrowing
def look_present(operands, columns, flags, at, rows, found, s, behind, present, everywhere):
    """Per operand, which rows of a block have a value."""
    for n in range(len(operands)):
        column, move = operands[n, COLUMN], operands[n, MOVE]
        if column == CONSTANT or (move == 0 and len(flags[column]) == 0):
            continue
        everywhere[n] = 0
        line = present[n, :rows]
        line[:] = 1
        if len(flags[column]) > 0:
            low, high = within(at + move, rows, len(columns[0]))
            for i in range(low, high):
                line[i] = flags[column][at + move + i]
        if move != 0:
            clear_edges(line, at, rows, move, found, s, behind)


@borrowing
def relate(op, operands, columns, constants, at, present, everywhere, is_true, is_known):
    """Two operands of the rows of a block."""
    a, b, rows = operands[op[A]], operands[op[B]], len(is_true)
    low_a, high_a = within(at + a[MOVE], rows, len(columns[0]))
    low_b, high_b = within(at + b[MOVE], rows, len(columns[0]))
    low, size = max(low_a, low_b), min(high_a, high_b) - max(low_a, low_b)
    is_known[:] = 1
    is_true[:] = 0
    if size > 0:
        begin_a, begin_b = at + a[MOVE] + low, at + b[MOVE] + low
        left = constants[a[PLACE], :size] if a[COLUMN] == CONSTANT else columns[a[COLUMN]][begin_a : begin_a + size]
        right = constants[b[PLACE], :size] if b[COLUMN] == CONSTANT else columns[b[COLUMN]][begin_b : begin_b + size]
        if op[CODE] >= FLOATS:
            compare(op[CODE] - FLOATS, left.view(np.float64), right.view(np.float64), is_true[low : low + size])
        else:
            compare(op[CODE], left, right, is_true[low : low + size])
    for side in (A, B):
        if everywhere[op[side]] == 0:
            line = present[op[side]]
            for i in range(rows):
                is_known[i] &= line[i]
                is_true[i] &= line[i]


@borrowing
def compute(ops, operands, columns, constants, present, everywhere, at, rows, holds, known):
    """All registers for the rows of a block."""
    for r in range(len(ops)):
        op, is_true, is_known = ops[r], holds[r, :rows], known[r, :rows]
        if op[CODE] < IS_NULL:
            relate(op, operands, columns, constants, at, present, everywhere, is_true, is_known)
        elif op[CODE] <= IS_NOT_NULL:
            is_known[:] = 1
            is_true[:] = op[CODE] == IS_NOT_NULL
            if everywhere[op[A]] == 0:
                line, flip = present[op[A]], np.uint8(op[CODE] == IS_NULL)
                for i in range(rows):
                    is_true[i] = line[i] ^ flip
        elif op[CODE] == NOT:
            for i in range(rows):
                is_known[i] = known[op[A], i]
                is_true[i] = is_known[i] & (holds[op[A], i] ^ np.uint8(1))
        else:
            a, b = op[A], op[B]
            decide(op[CODE], holds[a, :rows], known[a, :rows], holds[b, :rows], known[b, :rows], is_true, is_known)


@borrowing
def put(holds, chosen, low, behind, bits):
    """The chosen registers as the bits of rows; `bits` are those from `low` to `behind` of the block."""
    for i in range(behind - low):
        bits[i] = 0
    for n in range(len(chosen)):
        line, bit = holds[chosen[n], low:behind], np.uint64(1) << np.uint64(n)
        for i in range(behind - low):
            bits[i] |= line[i] * bit


@borrowing
def put_slots(kept, operands, columns, constants, present, everywhere, at, low, behind, slots, slot_valid):
    """The values of the operands that are kept with rows, from `low` to `behind` of the block."""
    for n in range(len(kept)):
        number = kept[n]
        column, move = operands[number, COLUMN], operands[number, MOVE]
        for i in range(low, behind):
            there = everywhere[number] != 0 or present[number, i] != 0
            slot_valid[at + i, n] = there
            if column == CONSTANT:
                slots[at + i, n] = constants[operands[number, PLACE], i]
            else:
                slots[at + i, n] = columns[column][at + move + i] if there else 0


_EVALUATE = (
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, int64[:,::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], boolean[::1], boolean[::1], boolean[::1], boolean[::1], int64[:,::1], int64[::1],"
    " int64[:,::1], int64[:,::1], int64[::1], int64[::1], uint8[:,::1], {bits}[::1], int64[:,::1], uint8[:,::1])"
)


@borrowing(_EVALUATE.format(bits="uint8"), _EVALUATE.format(bits="uint64"))
def evaluate_predicates(
    keys, start, end, offset, base, length, back, ahead, found, begin, c0, c1, c2, c3, f0, f1, f2, f3, operands, values, constants, ops,
    chosen, kept, scratch, bits, slots, slot_valid,
):  # fmt: skip
    """Bits and slots of the rows with ordinals start[i]..end[i] of each key. `found` and `begin` as in `stretches_around`. `f0` to `f3` say
    where columns are not null; empty: everywhere. `constants` has a line for each of `values`, `scratch` one for all
    operands, one for each of them, and two per operation; lines are as long as a block, or as all rows that may be looked at."""
    columns, flags = (c0, c1, c2, c3), (f0, f1, f2, f3)
    everywhere, present = scratch[0, : len(operands)], scratch[1 : 1 + len(operands)]
    holds, known = scratch[1 + len(operands) : 1 + len(operands) + len(ops)], scratch[1 + len(operands) + len(ops) :]
    block = min(BLOCK, scratch.shape[1])
    for n in range(len(values)):
        constants[n] = values[n]
    count = stretches_around(keys, start, end, offset, base, length, back, ahead, found, begin)
    s = np.int64(0)
    while s < count:
        at, stop, behind = found[FIRST, s], found[FIRST, s] + found[COUNT, s], s + 1
        while behind < count and found[FIRST, behind] == stop:  # stretches side by side are one
            stop += found[COUNT, behind]
            behind += 1
        while at < stop:
            rows = min(stop - at, block)
            everywhere[:] = 1
            look_present(operands, columns, flags, at, rows, found, s, behind, present, everywhere)
            compute(ops, operands, columns, constants, present, everywhere, at, rows, holds, known)
            t = s
            while t < behind and found[TARGET, t] < at + rows:
                low, high = max(found[TARGET, t] - at, 0), min(found[TARGET, t] + found[WANTED, t] - at, rows)
                ends = found[TARGET, t] + found[WANTED, t]
                t += 1
                while t < behind and found[TARGET, t] == ends and high < rows:
                    ends += found[WANTED, t]
                    high = min(ends - at, rows)
                    t += 1
                if high > low:
                    put(holds, chosen, low, high, bits[at + low : at + high])
                    put_slots(kept, operands, columns, constants, present, everywhere, at, low, high, slots, slot_valid)
            while s < behind and found[FIRST, s] + found[COUNT, s] <= at + rows:
                s += 1
            at += rows
        s = behind
    return count

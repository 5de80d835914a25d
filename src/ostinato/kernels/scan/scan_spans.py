"""Which variable each row of a found match is mapped to. The span is known, so only the best way through it is left to find."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import jit
from ostinato.kernels.scan.scan_dfa import ACCEPTS, ACCEPTS_AT_END

ONE = np.uint64(1)


MANY_WAYS = -1  # entries of the table of only ways: a row allows several transitions, or none
NO_WAY = -2


@jit("void(int32[::1], int32[:, ::1], uint64[::1], int64, int32[::1])")
def fill_only_ways(first, transitions, masks, width, ways):
    """`ways[state * width + bits]`: the place in `ways` where the next state begins, times 256, plus the variable."""
    for state in range(len(first) - 1):
        for symbol in range(width):
            way = NO_WAY
            for m in range(first[state], first[state + 1]):
                v = transitions[m, 0]
                if v >= 0 and np.uint64(symbol) & masks[v] == masks[v]:
                    way = transitions[m, 1] * width * 256 + v if way == NO_WAY else MANY_WAYS
            ways[state * width + symbol] = way


@jit
def assign_only_way(at, behind, out, bits, mask, ways, place, variables):
    """Follow the table while each row allows one transition only; False if some row allows more."""
    while at < behind:
        way = np.int64(ways[place + np.int64(bits[at] & mask)])
        if way < 0:
            return False
        variables[out] = way & 255
        place = way >> 8
        at += 1
        out += 1
    return True


@jit
def assign_best_way(at, behind, out, bits, masks, first, transitions, accepting, accepted, variables, state, trail, failed):
    """Depth first in the order of the transitions, to a state with one of the flags `accepted`. A (row, state) from which the end
    cannot be reached is marked and not tried again, so that the work is bounded by rows times transitions. Returns whether there is a
    way."""
    begin = at
    failed[: behind - begin + 1] = 0
    transition = np.int64(first[state])
    while True:
        advanced = False
        if at == behind:
            if accepting[state] & accepted:
                return True
        else:
            row = bits[at]
            while transition < first[state + 1]:
                v = transitions[transition, 0]
                if v >= 0 and row & masks[v] == masks[v]:
                    target = np.int64(transitions[transition, 1])
                    if failed[at + 1 - begin, target >> 6] >> np.uint64(target & 63) & ONE == 0:
                        trail[at - begin, 0], trail[at - begin, 1] = state, transition
                        variables[out + at - begin] = v
                        state, transition = target, np.int64(first[target])
                        at += 1
                        advanced = True
                        break
                transition += 1
        if not advanced:
            failed[at - begin, state >> 6] |= ONE << np.uint64(state & 63)
            if at == begin:
                return False
            at -= 1
            state, transition = trail[at - begin, 0], trail[at - begin, 1] + 1


_ASSIGN = (
    "int64(int64[:, ::1], int64, int64, int64[::1], int64[::1], int64[::1], int64[::1], {bits}[::1], uint64, int64, int32[::1],"
    " uint64[::1], int32[::1], int32[:, ::1], uint8[::1], int64[::1], int64[:, ::1], uint64[:, ::1], uint8[::1])"
)


@jit(_ASSIGN.format(bits="uint8"), _ASSIGN.format(bits="uint64"))
def assign_variables(
    found, begin, count, places, offset, base, length, bits, mask, width, ways, masks, first, transitions, accepting, initials, trail,
    failed, variables,
):  # fmt: skip
    """Fill `variables[places[n]:places[n+1]]` for each match n (columns of `found`: key, first, behind) from `begin` on. Returns how
    far it came: the number of matches, or the match for which `trail` and `failed` are too short. `initials`: where matches begin, and
    where those at the first row of a partition do. A match that ends with the known rows was decided there only if the partition has
    ended, or if its end makes no difference."""
    for n in range(begin, count):
        k = found[0, n]
        at = found[1, n] + offset[k] - base[k]
        behind = found[2, n] + offset[k] - base[k]
        initial = initials[1 if found[1, n] == 0 else 0]
        accepted = ACCEPTS | ACCEPTS_AT_END if found[2, n] == base[k] + length[k] else ACCEPTS
        if len(ways) > 0 and assign_only_way(at, behind, places[n], bits, mask, ways, initial * width, variables):
            continue
        if behind - at >= len(trail):
            return n
        assign_best_way(at, behind, places[n], bits, masks, first, transitions, accepting, accepted, variables, initial, trail, failed)
    return count

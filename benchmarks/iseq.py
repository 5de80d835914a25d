"""ISEQ, as Körber's thesis describes it (section 5.1): a pattern is an order of the ends of intervals that come in the order of their ends;
each that comes is joined with those before it, by search over ends, while starts are compared one by one.

It is told more than the original: relations are a set of bits, so that alternatives need no further queries, the join orders are ours, and
intervals are arrays. The situations have to be derived before; here by a loop of its own over columns of truth values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numba import njit

from ostinato.program.analysis.search_cost import first_orders
from ostinato.program.intervals import RELATIONS, AllowedRelation, IntervalConstraint, inverse_of

BEFORE, MEETS, OVERLAPS, STARTS, DURING, FINISHES, EQUALS, FINISHED_BY, CONTAINS, STARTED_BY, OVERLAPPED_BY, MET_BY, AFTER = range(13)
# Where the end of the first lies, seen from the second: before its start, at it, within, at its end, behind it
END_OF = np.array([0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4])


@njit(cache=True)
def _related(a_start, a_end, b_start, b_end):
    if a_end <= b_start:
        return BEFORE if a_end < b_start else MEETS
    if b_end <= a_start:
        return AFTER if b_end < a_start else MET_BY
    if a_start < b_start:
        return OVERLAPS if a_end < b_end else FINISHED_BY if a_end == b_end else CONTAINS
    if a_start == b_start:
        return STARTS if a_end < b_end else EQUALS if a_end == b_end else STARTED_BY
    return DURING if a_end < b_end else FINISHES if a_end == b_end else OVERLAPPED_BY


@njit(cache=True)
def _first_from(ends, low, high, time):
    while low < high:
        middle = (low + high) // 2
        if ends[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def derive(holds):
    """Starts and ends of the runs of a column, by place."""
    found = np.empty((len(holds) // 2 + 1, 2), np.int64)
    count, begun = 0, -1
    for i in range(len(holds)):
        if holds[i]:
            if begun < 0:
                begun = i
        elif begun >= 0:
            found[count, 0], found[count, 1] = begun, i
            count, begun = count + 1, -1
    return found[:count]


@njit(cache=True)
def _join(streams, heads, tails, orders, masks, ends_of, within, most_work, type_, found, count, arrived_start, arrived_end):
    """All matches of what has arrived with what is in the buffers. Returns how many have been found since the beginning, and the work."""
    n = len(orders)
    chosen = np.empty((n, 2), np.int64)
    cursor, stop = np.zeros(n, np.int64), np.zeros(n, np.int64)
    chosen[type_, 0], chosen[type_, 1] = arrived_start, arrived_end
    depth, work = 1, 0
    fresh = True
    while depth > 0 and work <= most_work:
        if depth == n:
            line = count % len(found)
            for i in range(n):
                found[line, i] = chosen[i, 0]
            count += 1
            depth -= 1
            fresh = False
            continue
        own = orders[type_, depth]
        if fresh:
            low, high = heads[own], tails[own]
            for earlier in range(depth):
                other = orders[type_, earlier]
                groups = ends_of[own, other]
                if groups == 0:
                    continue
                lowest, highest = 0, 4
                while not groups >> lowest & 1:
                    lowest += 1
                while not groups >> highest & 1:
                    highest -= 1
                start, end = chosen[other, 0], chosen[other, 1]
                if lowest > 0:
                    border = start if lowest == 1 else start + 1 if lowest == 2 else end if lowest == 3 else end + 1
                    low = _first_from(streams[own, 1], low, high, border)
                if highest < 4:
                    border = start if highest == 0 else start + 1 if highest == 1 else end if highest == 2 else end + 1
                    high = _first_from(streams[own, 1], low, high, border)
            cursor[depth], stop[depth] = low, high
        if cursor[depth] >= stop[depth]:
            depth -= 1
            fresh = False
            continue
        place = cursor[depth]
        cursor[depth] += 1
        work += 1
        fresh = False
        start, end = streams[own, 0, place], streams[own, 1, place]
        if arrived_end - start > within:
            continue
        holds = True
        for earlier in range(depth):
            other = orders[type_, earlier]
            mask = masks[own, other]
            if mask != 0 and not mask >> _related(start, end, chosen[other, 0], chosen[other, 1]) & 1:
                holds = False
                break
        if holds:
            chosen[own, 0], chosen[own, 1] = start, end
            depth += 1
            fresh = True
    return count, work


@njit(cache=True)
def run(arrivals, streams, orders, masks, ends_of, within, most_work, found, detected):
    """`arrivals`: type and place of each interval, in the order of ends. `found`: room for matches, of which the last ones stay;
    `detected`: the sum of the times from the first start of a match to its detection."""
    n = len(orders)
    heads, tails = np.zeros(n, np.int64), np.zeros(n, np.int64)
    count, work, waited = 0, 0, 0
    for i in range(len(arrivals)):
        type_, place = arrivals[i, 0], arrivals[i, 1]
        start, end = streams[type_, 0, place], streams[type_, 1, place]
        for other in range(n):
            while heads[other] < tails[other] and streams[other, 0, heads[other]] < end - within:
                heads[other] += 1
        if work > most_work:
            break
        if end - start <= within:
            before = count
            count, more = _join(streams, heads, tails, orders, masks, ends_of, within, most_work, type_, found, count, start, end)
            work += more
            if detected:
                for line in range(before, count):
                    waited += end - np.min(found[line % len(found)])
        tails[type_] += 1
    return count, work, waited


class Iseq:
    """A pattern as its arrays. `constraints`: the first, the relations with semicolons between them, the second."""

    def __init__(self, names: str, constraints: list[tuple[str, str, str]], within: int) -> None:
        count = len(names)
        self.within = within
        self.masks = np.zeros((count, count), np.int64)
        listed = []
        for first, relations, second in constraints:
            a, b = names.index(first), names.index(second)
            allowed = [RELATIONS.index(relation.strip()) for relation in relations.split(";")]
            self.masks[a, b] = sum(1 << one for one in allowed)
            self.masks[b, a] = sum(1 << inverse_of(one) for one in allowed)
            listed.append(IntervalConstraint(a, b, tuple(map(AllowedRelation, allowed))))
        self.orders = np.array(first_orders(count, listed), np.int64)
        groups = [[sum(1 << g for g in {int(END_OF[r]) for r in range(13) if mask >> r & 1}) for mask in line] for line in self.masks]
        self.ends_of = np.array(groups, np.int64)

    def match(self, situations: Mapping[str, np.ndarray], detected: bool = False, most_work: int = 1 << 62) -> tuple[int, int, int]:
        """How many matches there are, how many intervals were looked at, and the sum of detection times. Gives up after so much work."""
        kinds = list(situations.values())
        streams = np.zeros((len(kinds), 2, max(map(len, kinds)) + 1), np.int64)
        for number, kind in enumerate(kinds):
            streams[number, :, : len(kind)] = kind.T
        types = np.repeat(np.arange(len(kinds)), [len(kind) for kind in kinds])
        places = np.concatenate([np.arange(len(kind)) for kind in kinds])
        order = np.lexsort((types, np.concatenate([kind[:, 1] for kind in kinds])))
        arrivals = np.stack([types[order], places[order]], axis=1)
        found = np.zeros((1 << 16, len(kinds)), np.int64)
        return run(arrivals, streams, self.orders, self.masks, self.ends_of, self.within, most_work, found, detected)

    def over(self, columns: Mapping[str, np.ndarray]) -> int:
        """From columns of truth values, an event per second: how many matches there are."""
        return self.match({name: derive(column) for name, column in columns.items()})[0]

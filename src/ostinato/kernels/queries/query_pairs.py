"""The join of events with the queries that they may concern: those in which they may begin something, and those that have begun something
in the same partition. One pass over the events of a batch, in order."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined

EQ, LT, LE, GT, GE = 0, 1, 2, 3, 4  # relations: value of the event, constant of the query
AT, PAIRS, ITEMS, TICK, CELLS = 0, 1, 2, 3, 4  # cells of `control`
VALUE, RELATION, CONSTANT = 0, 1, 2  # columns of comparisons
SORTED_VALUE, SORTED_RELATION, FIRST_BUCKET = 0, 1, 2  # columns of `begins`
NOTHING_FOLLOWS, ALL_FOLLOW, SOME_FOLLOW = 0, 1, 2
HIT, KNOWN = 0, 1  # lines of `stamps`
ALL_FOUND, NO_ROOM_FOR_PAIRS, NO_ROOM_FOR_ITEMS = 0, 1, 2


@inlined
def below(image, low, high, value):
    """How many of the ascending image[low:high] lie below `value`, behind `low`."""
    while low < high:
        middle = (low + high) >> 1
        if image[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def up_to(image, low, high, value):
    while low < high:
        middle = (low + high) >> 1
        if image[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def compared(value, relation, constant):
    if relation == GT:
        return value > constant
    if relation == GE:
        return value >= constant
    if relation == LT:
        return value < constant
    if relation == LE:
        return value <= constant
    return value == constant


@inlined
def hold(comparisons, first, behind, values, known, constants, event, query):
    for c in range(first, behind):
        value = comparisons[c, VALUE]
        if known[value, event] == 0:
            return False
        if not compared(values[value, event], comparisons[c, RELATION], constants[comparisons[c, CONSTANT], query]):
            return False
    return True


@borrowing(
    "int64(int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], int64[::1], int64, "
    "int64[:, ::1], uint8[:, ::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64[:, ::1], int64[::1], int64[::1])"
)
def join_queries(
    control, buckets, begins, bucket_begin, order, image, comparisons, begin_tests, follow_tests, follows,
    values, known, constants, since, arrived, own, head, following, item,
    stamps, out_event, out_query,
):  # fmt: skip
    """Pairs of events and queries, from event control[AT] on. Returns whether all are found, or for what there was no room: then it goes
    on with the event where it stopped.

    Queries that a conjunction of comparisons can begin lie in `order`, by bucket (values that have to be equal) and then by the constant of
    one further comparison, `image`. `since`: the first arrival that a query sees, a large number where it is gone; `arrived` is empty
    where all queries have seen the same. `own` is the partition of an event, `head` and `following` lists per partition of the queries
    that have begun something there (`item`). `stamps` tell which queries the present event has met already."""
    at, pairs, items, tick = control[AT], control[PAIRS], control[ITEMS], control[TICK]
    room, events = len(out_event), len(own)
    full, ended = False, np.int64(ALL_FOUND)
    while at < events:
        tick += 1
        first = pairs
        arrival = arrived[at] if len(arrived) > 0 else np.int64(0x7FFFFFFFFFFFFFFE)
        for entry in range(len(begins)):
            bucket = buckets[entry, at]
            if bucket < 0:
                continue
            low = bucket_begin[begins[entry, FIRST_BUCKET] + bucket]
            high = bucket_begin[begins[entry, FIRST_BUCKET] + bucket + 1]
            if low == high:
                continue
            sorted_by, relation = begins[entry, SORTED_VALUE], begins[entry, SORTED_RELATION]
            if sorted_by >= 0:
                if known[sorted_by, at] == 0:
                    continue
                value = values[sorted_by, at]
                if relation == GT:
                    high = below(image, low, high, value)
                elif relation == GE:
                    high = up_to(image, low, high, value)
                elif relation == LT:
                    low = up_to(image, low, high, value)
                else:
                    low = below(image, low, high, value)
            for place in range(low, high):
                query = order[place]
                if since[query] > arrival or stamps[HIT, query] == tick:
                    continue
                if hold(comparisons, begin_tests[entry], begin_tests[entry + 1], values, known, constants, at, query):
                    if pairs == room:
                        full = True
                        break
                    stamps[HIT, query] = tick
                    out_event[pairs], out_query[pairs] = at, query
                    pairs += 1
            if full:
                break
        if not full and follows != NOTHING_FOLLOWS:
            behind = pairs
            place = head[own[at]]
            while place >= 0 and not full:
                query = item[place]
                place = following[place]
                if stamps[HIT, query] == tick:
                    stamps[KNOWN, query] = tick
                    continue
                if since[query] > arrival:
                    continue
                concerned = follows == ALL_FOLLOW
                if not concerned:
                    for test in range(len(follow_tests) - 1):
                        if hold(comparisons, follow_tests[test], follow_tests[test + 1], values, known, constants, at, query):
                            concerned = True
                            break
                if concerned:
                    if pairs == room:
                        full = True
                    else:
                        out_event[pairs], out_query[pairs] = at, query
                        pairs += 1
            if not full:
                if items + behind - first > len(item):
                    full, ended = True, np.int64(NO_ROOM_FOR_ITEMS)
                else:
                    for hit in range(first, behind):
                        query = out_query[hit]
                        if stamps[KNOWN, query] != tick:
                            item[items], following[items] = query, head[own[at]]
                            head[own[at]] = items
                            items += 1
        if full:
            pairs = first
            if ended == ALL_FOUND:
                ended = np.int64(NO_ROOM_FOR_PAIRS)
            break
        at += 1
    control[AT], control[PAIRS], control[ITEMS], control[TICK] = at, pairs, items, tick
    return ended


@borrowing("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def list_begun(partitions, queries, head, following, item):
    """Put queries that have begun something into the lists of their partitions, which are empty."""
    for number in range(len(partitions)):
        item[number], following[number] = queries[number], head[partitions[number]]
        head[partitions[number]] = number


@borrowing(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, int64[::1], int64[::1], int64[::1])"
)
def merge_sorted(bucket, image, order, new_bucket, new_image, new_order, since, gone, out_bucket, out_image, out_order):
    """Two lists of queries by bucket and image as one, without those that are gone; returns how many they are."""
    i, j, count = 0, 0, 0
    while i < len(order) or j < len(new_order):
        take_old = j == len(new_order)
        if not take_old and i < len(order):
            take_old = bucket[i] < new_bucket[j] or (bucket[i] == new_bucket[j] and image[i] <= new_image[j])
        if take_old:
            query = order[i]
            out_bucket[count], out_image[count], out_order[count] = bucket[i], image[i], query
            i += 1
        else:
            query = new_order[j]
            out_bucket[count], out_image[count], out_order[count] = new_bucket[j], new_image[j], query
            j += 1
        if since[query] != gone:
            count += 1
    return count

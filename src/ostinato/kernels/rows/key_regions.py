"""The regions of keys in an arena, looked at and moved on in one call: a batch of one row touches one key, and every NumPy operation on an
array of one element would cost as much as a kernel over all of them."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing


@borrowing("int64(int64[::1])")
def total(values):
    """Their sum."""
    found = 0
    for i in range(len(values)):
        found += values[i]
    return found


@borrowing("int64(int64[::1])")
def greatest(keys):
    """The greatest of numbers that are not negative; -1 if there is none."""
    found = -1
    for i in range(len(keys)):
        found = max(found, keys[i])
    return found


@borrowing("boolean(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def append_rows(keys, counts, offset, length, room, first):
    """Lengthen the regions by `counts`; `first` receives where the new rows begin. Nothing is done if one of them has not the room."""
    for i in range(len(keys)):
        k = keys[i]
        if length[k] + counts[i] > room[k]:
            return False
    for i in range(len(keys)):
        k = keys[i]
        first[i] = offset[k] + length[k]
        length[k] += counts[i]
    return True


@borrowing("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def drop_rows(keys, keep_from, offset, base, length, room):
    """Drop the rows before these ordinals; returns how many."""
    dropped = 0
    for i in range(len(keys)):
        k = keys[i]
        drop = min(keep_from[i] - base[k], length[k])
        if drop > 0:
            offset[k] += drop
            base[k] += drop
            length[k] -= drop
            room[k] -= drop
            dropped += drop
    return dropped


FIRST, COUNT, SOURCE, WANTED, TARGET, LINES = range(6)  # of what `stretches_around` writes


@borrowing("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, int64[:,::1], int64[::1])")
def stretches_around(keys, start, end, offset, base, length, back, ahead, found, begin):
    """What is evaluated of the keys that have rows with ordinals start[i]..end[i]: with so many neighbours around, or whole regions where
    that is little more, because regions side by side are read without being gathered. Each gets a column of `found`: where it begins in the
    arena, how many rows it has, the first of those that are asked for among all that are evaluated, how many these are, and their place in
    the arena. `begin` receives where each begins among all. Returns how many there are."""
    wanted = 0
    held = 0
    for i in range(len(keys)):
        if end[i] > start[i]:
            wanted += end[i] - start[i]
            held += length[keys[i]]
    whole = 2 * wanted > held
    count = 0
    begin[0] = 0
    for i in range(len(keys)):
        if end[i] > start[i]:
            k = keys[i]
            low, high = base[k], base[k] + length[k]
            if not whole:
                low, high = max(low, start[i] - back), min(high, end[i] + ahead)
            found[FIRST, count] = offset[k] + low - base[k]
            found[COUNT, count] = high - low
            found[SOURCE, count] = begin[count] + start[i] - low
            found[WANTED, count] = end[i] - start[i]
            found[TARGET, count] = offset[k] + start[i] - base[k]
            begin[count + 1] = begin[count] + high - low
            count += 1
    return count


@borrowing("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def unread_rows(keys, ready, read, offset, base, ordinal, begin, end):
    """Per key the ordinal of the next row to read, where it lies in the arena, and where the rows end that are ready; read[k] is how far
    key k has been read. Returns how many rows these are."""
    rows = 0
    for i in range(len(keys)):
        k = keys[i]
        count = max(ready[i] - read[k], 0)
        ordinal[i] = read[k]
        begin[i] = offset[k] + read[k] - base[k]
        end[i] = begin[i] + count
        rows += count
    return rows

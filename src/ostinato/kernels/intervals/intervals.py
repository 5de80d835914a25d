"""Rows of partitions, moment by moment."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing
from ostinato.kernels.intervals.averages import have_drifted
from ostinato.kernels.intervals.carried import begin_rows, take_in_found, take_in_kept
from ostinato.kernels.intervals.combine import decide
from ostinato.kernels.intervals.derive import purge, take
from ostinato.kernels.intervals.interval_layout import (
    AT_DEFINITION,
    AT_FIRST,
    AT_KEY,
    AT_LAST,
    AT_MOST_KEPT,
    AT_ROW,
    BEFORE,
    COMBINES,
    DONE,
    DRIFTED,
    DROPS_PARTNERLESS,
    EACH,
    FOUND,
    KEY_PEAK,
    LIMIT,
    LIVE,
    NEVER,
    NOTHING,
    NOW,
    OPEN,
    OVER_LIMIT,
    PASSES_OVER,
    WITHIN,
)
from ostinato.kernels.intervals.partners import drop_partnerless
from ostinato.kernels.intervals.quiet_rows import quiet_end, time_before

_SIGNATURE = (
    "int64(int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64[::1],"
    "int64[:,::1], int64[::1], uint8[::1], int64[::1], {bits}[::1], int64[::1], int64[:,::1], uint8[:,::1],"
    "int64[:,::1], int64[:,::1], uint8[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], float64[:,::1],"
    "int64[::1],"
    "int64[:,::1], int64[:,::1], uint8[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:,::1])"
)


@borrowing(_SIGNATURE.format(bits="uint8"), _SIGNATURE.format(bits="int64"))
def advance(
    definitions, constraints, bounds, orders, ranks_of, last_related, owners, settings, code, scratch, scratch_valid, ranks, bits, times,
    slots, slot_valid, situations, registers, register_valid, regions, per_key, places, ranges, looked, averages, header, found,
    found_registers, found_valid, keys, begin, end, complete, levels,
):  # fmt: skip
    """Go on over the rows [begin[i], end[i]) of each of `keys`; no more rows come there with times before complete[i]. Anything but DONE
    leaves in the header where to go on when called again. `levels` receives how many situations were kept."""
    for i in range(header[AT_KEY], len(keys)):
        key = keys[i]
        row = max(begin[i], header[AT_ROW])
        header[AT_KEY] = i
        if header[AT_ROW] == NOTHING:
            begin_rows(definitions, situations, regions, key, row)
            header[KEY_PEAK] = header[LIVE]
            levels[i, AT_FIRST] = header[LIVE]
        while True:
            header[AT_ROW] = row
            now = per_key[key, NOW]
            known = times[row] if row < end[i] else complete[i]
            if now != NEVER and now < known:
                lines = header[FOUND]
                status = DONE if settings[COMBINES] == 0 else decide(
                    definitions, constraints, bounds, orders, ranks_of, last_related, owners, settings, situations, registers,
                    register_valid, regions, places, ranges, looked, header, found, found_registers, found_valid, key,
                    per_key[key, BEFORE], now,
                )  # fmt: skip
                if len(owners) > 0 and header[FOUND] > lines:
                    taken = take_in_found(
                        definitions, code, scratch, scratch_valid, ranks, bits, slots, slot_valid, owners, situations, registers,
                        register_valid, header, found, found_registers, found_valid, lines, row,
                    )  # fmt: skip
                    if taken != DONE:
                        return taken
                if status != DONE:
                    return status
                per_key[key, BEFORE], per_key[key, NOW] = now, NEVER
                if settings[DROPS_PARTNERLESS] != 0:
                    drop_partnerless(
                        definitions, constraints, bounds, situations, registers, register_valid, regions, ranges, header, key, now
                    )
                if len(definitions) == 1 or settings[EACH] != 0:
                    purge(definitions, situations, regions, header, key, OPEN)
                elif settings[WITHIN] != OPEN:
                    purge(definitions, situations, regions, header, key, now - settings[WITHIN])
                if have_drifted(settings, header, looked, averages, len(definitions)):
                    return DRIFTED
            if row >= end[i]:
                if settings[WITHIN] != OPEN and complete[i] != OPEN and complete[i] > NEVER + settings[WITHIN]:
                    purge(definitions, situations, regions, header, key, complete[i] - settings[WITHIN])
                status = take_in_kept(
                    definitions, code, scratch, scratch_valid, ranks, bits, slots, slot_valid, situations, registers, register_valid,
                    regions, header, key, row,
                )  # fmt: skip
                if status != DONE:
                    return status
                levels[i, AT_MOST_KEPT], levels[i, AT_LAST] = header[KEY_PEAK], header[LIVE]
                break
            if header[LIVE] > settings[LIMIT] and header[AT_DEFINITION] == 0:
                return OVER_LIMIT
            if settings[PASSES_OVER] != 0 and per_key[key, NOW] == NEVER and per_key[key, BEFORE] != NEVER and header[AT_DEFINITION] == 0:
                decided = per_key[key, BEFORE]
                behind = quiet_end(definitions, settings, bits, times, situations, regions, key, row, end[i], decided)
                if behind > row:
                    per_key[key, NOW] = times[behind - 1]
                    per_key[key, BEFORE] = time_before(times, row, behind - 1, decided)
                    if settings[WITHIN] != OPEN and len(definitions) > 1:  # as if each moment but the last were decided
                        purge(definitions, situations, regions, header, key, per_key[key, BEFORE] - settings[WITHIN])
                    row = behind
                    continue
            per_key[key, NOW] = times[row]
            status = take(
                definitions, bits, slots, slot_valid, situations, registers, register_valid, regions, header, key, row, times[row]
            )
            if status != DONE:
                return status
            row += 1
        header[AT_ROW] = NOTHING
    header[AT_KEY] = len(keys)
    return DONE

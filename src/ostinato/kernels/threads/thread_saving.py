"""Threads of partitions that wait while others have their turn."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing
from ostinato.kernels.threads.thread_layout import COUNT, HALF, LOADED, NEEDED, NODE_BASE, SAVED, SAVED_AT, SAVED_COUNT


@borrowing
def load_threads(k, cursor, saved, saved_registers, saved_valid, threads, registers, register_valid, control):
    """Take a partition's threads out of the store, unless that was done before; False if there are more than there is room for."""
    if control[LOADED]:
        return True
    count, begin = cursor[k, SAVED_COUNT], cursor[k, SAVED_AT]
    if 2 * count > len(threads):
        return False
    control[HALF], control[COUNT], control[NODE_BASE], control[LOADED] = 0, count, -1, 1
    for i in range(count):
        threads[i, 0], threads[i, 1] = saved[begin + i, 0], saved[begin + i, 1]
        for r in range(registers.shape[1]):
            registers[i, r] = saved_registers[begin + i, r]
            register_valid[i, r] = saved_valid[begin + i, r]
    cursor[k, SAVED_COUNT] = 0
    return True


@borrowing
def save_threads(k, attempting, cursor, saved, saved_registers, saved_valid, threads, registers, register_valid, control):
    """Put a partition's threads into the store; False if it is full. Where they came from is given up."""
    count = control[COUNT] if attempting else 0
    begin = control[SAVED]
    if begin + count > len(saved):
        control[NEEDED] = count
        return False
    source = control[HALF] * (len(threads) // 2)
    for i in range(count):
        saved[begin + i, 0], saved[begin + i, 1] = threads[source + i, 0], threads[source + i, 1]
        for r in range(registers.shape[1]):
            saved_registers[begin + i, r] = registers[source + i, r]
            saved_valid[begin + i, r] = register_valid[source + i, r]
    cursor[k, SAVED_AT], cursor[k, SAVED_COUNT] = begin, count
    control[SAVED] = begin + count
    control[LOADED] = 0
    return True

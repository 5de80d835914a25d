"""Calls of functions by their addresses: kernels are compiled once per machine and stored, what users add comes later.

A function takes (words, flags, result): its arguments side by side as 64-bit words, their flags, and where its result goes. It returns
the flag of the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ostinato.kernels._jit import at_first_call, config

FAILED_HERE = 3  # the flag of a result that the function itself could not compute; `HAS_FAILED`: an argument had failed before

_WORD, _OCTET = ir.IntType(64), ir.IntType(8)
_ENTRY = ir.FunctionType(_WORD, [_WORD.as_pointer(), _OCTET.as_pointer(), _WORD.as_pointer()])

PYTHON_ENTRIES: dict[int, Any] = {}  # what an address stands for where nothing is compiled


@intrinsic
def _invoked(typing, address, words, first, flags, results, at):
    def generate(context, builder, signature, arguments):
        address, words, first, flags, results, at = arguments
        builder.function.attributes.add("noinline")  # loops that seldom call are faster without a call that can do anything

        def place(number, array, index):
            return builder.gep(context.make_array(signature.args[number])(context, builder, array).data, [index])

        entry = builder.inttoptr(address, _ENTRY.as_pointer())
        return builder.call(entry, [place(1, words, first), place(3, flags, first), place(4, results, at)])

    return types.int64(types.int64, words, types.int64, flags, results, types.int64), generate


def _invoked_in_python(address, words, first, flags, results, at):
    return PYTHON_ENTRIES[int(address)](words[first:], flags[first:], results[at:])


# (address, words, first, flags, results, at): call the function with the words from `first` on; its result goes to results[at]
invoke: Any = _invoked_in_python if config.DISABLE_JIT else _invoked


@at_first_call
def invoke_all(address, words, flags, count, results, result_flags):
    """A function of `count` arguments, for the arguments of one row after the other."""
    for row in range(len(results)):
        result_flags[row] = invoke(address, words, np.int64(row * count), flags, results, np.int64(row))

"""Comparisons. Numbers and times compare as NumPy does; strings per distinct string where one side is constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow.compute as pc

from ostinato.expr.types import BOOL, Kind, Type
from ostinato.kernels.vectors.dictionaries import as_table, lookup, ranks, unified, without_unused_entries
from ostinato.kernels.vectors.logic import decide
from ostinato.kernels.vectors.nulls import all_valid, joint_valid
from ostinato.kernels.vectors.vector import Vector

RELATIONS: dict[str, Callable[..., np.ndarray]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
ON_DICTIONARY = {"eq": pc.equal, "ne": pc.not_equal, "lt": pc.less, "le": pc.less_equal, "gt": pc.greater, "ge": pc.greater_equal}
MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
MANY = 4  # from here on a membership test by sorting beats comparisons one by one


def relation(name: str) -> Callable[[Type, Sequence[Vector]], Vector]:
    compared = RELATIONS[name]

    def compare(type_: Type, args: Sequence[Vector]) -> Vector:
        a, b = args
        if a.type.kind is Kind.STRING:
            return related(name, a, b)
        return Vector(BOOL, compared(a.data, b.data), joint_valid(a.valid, b.valid))

    return compare


def related(name: str, a: Vector, b: Vector) -> Vector:
    valid = all_valid((a, b))
    if a.type.kind is Kind.STRING:
        return Vector(BOOL, _strings_related(name, a, b), valid)
    return Vector(BOOL, RELATIONS[name](a.data, b.data), valid)


def _strings_related(name: str, a: Vector, b: Vector) -> np.ndarray:
    if len(a) == 1 and len(b) != 1:
        return _strings_related(MIRRORED[name], b, a)
    if len(b) == 1 and len(b.dictionary):
        a = without_unused_entries(a)
        return lookup(as_table(ON_DICTIONARY[name](a.dictionary, b.dictionary[int(b.data[0])])), a.data)
    (left, right), dictionary = unified((a, b))
    if name in ("eq", "ne"):
        return RELATIONS[name](left, right)
    order = ranks(dictionary)
    return RELATIONS[name](lookup(order, left), lookup(order, right))


def distinct(type_: Type, args: Sequence[Vector]) -> Vector:
    different = related("ne", *args)
    if different.valid is None:
        return different
    known = [np.ones(1, np.bool_) if arg.valid is None else arg.valid for arg in args]
    return Vector(BOOL, (different.data & different.valid) | (known[0] != known[1]))


def member(type_: Type, args: Sequence[Vector]) -> Vector:
    """IN: true if one item is equal, else null if any operand is null."""
    wanted, *items = args
    if len(items) >= MANY and all(len(item) == 1 for item in items):
        return _member_of_constants(wanted, items)
    return decide([_plain(related("eq", wanted, item)) for item in items], True)


def _plain(vector: Vector) -> Vector:
    return Vector(vector.type, vector.data, vector.valid)


def _member_of_constants(wanted: Vector, items: Sequence[Vector]) -> Vector:
    present = [item for item in items if item.valid is None or item.valid[0]]
    valid = wanted.valid
    if not present:
        return Vector(BOOL, np.zeros(len(wanted), np.bool_), np.zeros(1, np.bool_))
    if wanted.type.kind is Kind.STRING:
        codes, _ = unified([wanted, *present])
        found = np.isin(codes[0], np.concatenate(codes[1:]))
    else:
        found = np.isin(wanted.data, np.concatenate([item.data for item in present]))
    if len(present) < len(items):
        valid = found if valid is None else valid & found
    return Vector(BOOL, found, valid)


def extreme(better: str) -> Callable[[Type, Sequence[Vector]], Vector]:
    """greatest ("gt") and least ("lt"), nulls left out."""

    def choose(type_: Type, args: Sequence[Vector]) -> Vector:
        if type_.kind is Kind.STRING:
            codes, dictionary = unified(args)
            order = ranks(dictionary)
            by_rank = np.argsort(order)
            data, valid = _best(better, [lookup(order, code) for code in codes], args)
            return Vector(type_, lookup(by_rank, data), valid, dictionary)
        data, valid = _best(better, [arg.data for arg in args], args)
        return Vector(type_, data, valid)

    return choose


def _best(better: str, datas: list[np.ndarray], args: Sequence[Vector]) -> tuple[np.ndarray, np.ndarray | None]:
    best, valid = datas[0], args[0].valid
    for data, arg in zip(datas[1:], args[1:], strict=True):
        take = _sorts_before(data, best) if better == "lt" else _sorts_before(best, data)
        if valid is not None:
            take = take | ~valid
        if arg.valid is not None:
            take = take & arg.valid
        best = np.where(take, data, best)
        valid = None if valid is None or arg.valid is None else valid | arg.valid
    return best, valid


def _sorts_before(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The order of MIN and MAX: NaN is greater than every number."""
    before = np.less(a, b)
    return before | (np.isnan(b) & ~np.isnan(a)) if b.dtype.kind == "f" else before

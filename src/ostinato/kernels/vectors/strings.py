"""Functions of strings, computed once per distinct string, or once per distinct combination where several arguments vary."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.expr.types import STRING, Kind, Type
from ostinato.expr.values.string_functions import STRING_FUNCTIONS, like_parts
from ostinato.kernels.vectors.dictionaries import as_table, lookup, recoded, without_unused_entries
from ostinato.kernels.vectors.nulls import all_valid, common_length
from ostinato.kernels.vectors.vector import TEXT, Vector, physical_dtype, with_distinct_entries

OnDictionary = Callable[..., pa.Array | None]


def per_string(name: str) -> Callable[[Type, Sequence[Vector]], Vector]:
    def compute(type_: Type, args: Sequence[Vector]) -> Vector:
        subject, *others = args
        valid = all_valid(args)
        if any(len(other) != 1 for other in others):
            return per_combination(name, type_, args, valid)
        if any(other.valid is not None and not other.valid[0] for other in others):
            return nulls(type_, len(subject))
        subject = without_unused_entries(subject)
        texts = _computed(name, subject.dictionary, [_value_at(other, 0) for other in others], type_)
        if type_.kind is Kind.STRING:
            result = recoded(Vector(STRING, subject.data, subject.valid), texts)
            return Vector(type_, result.data, valid, result.dictionary)
        return Vector(type_, lookup(as_table(texts).astype(physical_dtype(type_)), subject.data), valid)

    return compute


def nulls(type_: Type, length: int) -> Vector:
    dictionary = pa.array([""], TEXT) if type_.kind is Kind.STRING else None
    return Vector(type_, np.zeros(length, physical_dtype(type_)), np.zeros(length, np.bool_), dictionary)


def _computed(name: str, texts: pa.Array, others: list[Any], type_: Type) -> pa.Array:
    """By Arrow where it agrees with the definition for these arguments, else string by string."""
    quick = QUICK.get(name)
    found = quick(texts, *others) if quick is not None else None
    if found is not None:
        return found
    function = STRING_FUNCTIONS[name]
    return pa.array([function(text, *others) for text in texts.to_pylist()], _arrow_type(type_))


def _arrow_type(type_: Type) -> pa.DataType:
    return {Kind.STRING: TEXT, Kind.BOOL: pa.bool_()}.get(type_.kind, pa.int64())


def _value_at(vector: Vector, row: int) -> Any:
    if vector.type.kind is Kind.STRING:
        return vector.dictionary[int(vector.data[row])].as_py()
    return vector.data[row].item()


def _ascii_only(texts: pa.Array) -> bool:
    return bool(pc.all(pc.string_is_ascii(texts)).as_py() in (True, None))


def _upper(texts: pa.Array) -> pa.Array | None:
    return pc.ascii_upper(texts) if _ascii_only(texts) else None


def _lower(texts: pa.Array) -> pa.Array | None:
    return pc.ascii_lower(texts) if _ascii_only(texts) else None


def _substring(texts: pa.Array, start: int, length: int | None = None) -> pa.Array | None:
    if start < 0 or start > 2**31 or (length is not None and not 0 <= length < 2**31):
        return None
    begin = max(start - 1, 0)
    return pc.utf8_slice_codeunits(texts, begin, None if length is None else begin + length)


def _left(texts: pa.Array, count: int) -> pa.Array | None:
    return pc.utf8_slice_codeunits(texts, 0, count) if 0 <= count < 2**31 else None


def _replace(texts: pa.Array, old: str, new: str) -> pa.Array:
    return pc.replace_substring(texts, old, new) if old else texts


def _like(texts: pa.Array, pattern: str, escape: str | None = None) -> pa.Array:
    parts = (".*" if part is None else "." if part == "" else _quoted(part) for part in like_parts(pattern, escape))
    return pc.match_substring_regex(texts, f"(?s)\\A{''.join(parts)}\\z")


def _quoted(character: str) -> str:
    return f"\\{character}" if character in string.punctuation else character


def _trim(function: Callable[..., pa.Array]) -> OnDictionary:
    return lambda texts, characters=" ": function(texts, characters=characters) if characters else texts


QUICK: dict[str, OnDictionary] = {
    "upper": _upper,
    "lower": _lower,
    "length": pc.utf8_length,
    "trim": _trim(pc.utf8_trim),
    "ltrim": _trim(pc.utf8_ltrim),
    "rtrim": _trim(pc.utf8_rtrim),
    "replace": _replace,
    "starts_with": lambda texts, part: pc.starts_with(texts, part),
    "ends_with": lambda texts, part: pc.ends_with(texts, part),
    "contains": lambda texts, part: pc.match_substring(texts, part),
    "like": _like,
    "substring": _substring,
    "left": _left,
}


def per_combination(name: str, type_: Type, args: Sequence[Vector], valid: np.ndarray | None) -> Vector:
    length = common_length(args)
    rows = np.arange(length) if valid is None else np.flatnonzero(np.broadcast_to(valid, (length,)))
    if not len(rows):
        return nulls(type_, length)
    whole = [Vector(arg.type, np.broadcast_to(arg.data, (length,)), None, arg.dictionary) for arg in args]
    first, number = _combinations([vector.data[rows] for vector in whole])
    function = STRING_FUNCTIONS[name]
    results = [function(*(_value_at(vector, row) for vector in whole)) for row in rows[first].tolist()]
    codes = np.zeros(length, np.int64)
    codes[rows] = number
    table = pa.array(results, _arrow_type(type_))
    if type_.kind is Kind.STRING:
        return with_distinct_entries(Vector(type_, codes, valid, table))
    return Vector(type_, as_table(table).astype(physical_dtype(type_))[codes], valid)


def _combinations(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """A row of every distinct combination, and for every row the number of its combination."""
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, code = np.unique(column, return_inverse=True)
        _, number = np.unique(number * len(values) + code, return_inverse=True)
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    return first, number


def concat(type_: Type, args: Sequence[Vector]) -> Vector:
    """Null if any part is. With one part that varies, per distinct string; else joined row by row in Arrow."""
    valid = all_valid(args)
    if any(len(arg) == 1 and arg.valid is not None and not arg.valid[0] for arg in args):
        return nulls(type_, common_length(args))
    varying = [arg for arg in args if len(arg) != 1]
    if len(varying) <= 1:
        subject = without_unused_entries(varying[0]) if varying else args[0]
        parts = [subject.dictionary if arg is (varying or args)[0] else _value_at(arg, 0) for arg in args]
        result = recoded(Vector(STRING, subject.data, subject.valid), pc.binary_join_element_wise(*map(_text, parts), _text("")))
        return Vector(type_, result.data, valid, result.dictionary)
    return _joined(type_, args, valid, common_length(args))


def _text(part: Any) -> Any:
    return pa.scalar(part, TEXT) if isinstance(part, str) else part


def _joined(type_: Type, args: Sequence[Vector], valid: np.ndarray | None, length: int) -> Vector:
    parts = []
    for arg in args:
        if not len(arg.dictionary):
            return nulls(type_, length)
        parts.append(_text(_value_at(arg, 0)) if len(arg) == 1 else arg.dictionary.take(pa.array(_safe_codes(arg))))
    encoded = pc.binary_join_element_wise(*parts, _text("")).dictionary_encode()
    return Vector(type_, np.asarray(encoded.indices).astype(np.int64), valid, encoded.dictionary)


def _safe_codes(vector: Vector) -> np.ndarray:
    return vector.data if vector.valid is None else np.where(vector.valid, vector.data, 0)


FUNCTIONS = {name: per_string(name) for name in STRING_FUNCTIONS if name != "concat"} | {"concat": concat}

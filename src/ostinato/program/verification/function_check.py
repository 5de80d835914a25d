"""Verifies what a program says of functions that were added to the language: a name, and types that they can take and give."""

from __future__ import annotations

from ostinato.expr.typing.user_types import MOST_ARGUMENTS, are_for_columns, are_for_single_values
from ostinato.expr.user_function import FunctionSignature
from ostinato.program.field_types import misfit
from ostinato.program.verification.requirement import require
from ostinato.program.verification.type_check import check_type


def check_signature(signature: FunctionSignature) -> None:
    require(misfit(signature, FunctionSignature, "") is None, "functions that say what they are")
    require(signature.name.isidentifier(), "functions with names")
    types = (*signature.takes, signature.returns)
    for type_ in types:
        check_type(type_)
    usable = are_for_single_values if signature.compiled else are_for_columns
    require(0 < len(signature.takes) <= MOST_ARGUMENTS and usable(types), "functions of values that they can take")
    require(signature.strict or not signature.compiled, "functions that say what they make of null")

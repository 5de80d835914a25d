"""Drops rows that no element can ever select, before they reach a session: where tasks read files, Spark cannot filter for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.vector import from_arrow
from ostinato.program.code_inputs import code_inputs
from ostinato.program.pattern import Pattern

ENOUGH = 1 << 16  # rows for a push
MANY = 8  # beyond one row in so many, going through all rows is quicker than picking some


class StaticFilter:
    """Does nothing where every row counts, or where a predicate looks at neighbours."""

    def __init__(self, pattern: Pattern) -> None:
        results = [pattern.rows.results[bit] for bit in pattern.prefilter_bits]
        self._code = pattern.rows.reduced_to(results)
        self._inputs = list(dict.fromkeys(code_inputs(self._code)))
        self._works = bool(results) and not any(op.op == "shift" for op in self._code.ops)

    def applied(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """What is left of tables, put together where it is little: every push costs something, however few the rows."""
        if not self._works:
            yield from tables
            return
        held: list[pa.Table] = []
        for table in tables:
            held.append(self.apply(table))
            if sum(one.num_rows for one in held) >= ENOUGH:
                yield pa.concat_tables(held)
                held = []
        if held:
            yield pa.concat_tables(held)

    def apply(self, table: pa.Table) -> pa.Table:
        if not self._works or not table.num_rows:
            return table
        columns = {name: from_arrow(table.column(name)) for name in self._inputs}
        kept = np.zeros(table.num_rows, np.bool_)
        for predicate in evaluate(self._code, table.num_rows, columns.__getitem__):
            kept |= predicate.data if predicate.valid is None else predicate.data & predicate.valid
        few = np.flatnonzero(kept)
        return table.take(few) if MANY * len(few) < len(kept) else table.filter(pa.array(kept))

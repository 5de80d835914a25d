"""What of a query waits for the numbers of its matches (MATCH_NUMBER). The number of a match counts those of its key in all ranges before,
which no task knows. So tasks leave out the measures that need it, and give what those are computed from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.vector import from_arrow, to_arrow
from ostinato.program.code_inputs import code_inputs
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.pattern import Pattern
from ostinato.runtime.output.measures import measured_schema
from ostinato.tasks.ranges.match_places import PLACE

NUMBER = "match_number"  # as measures call it
OWN = "__ostinato_"


def numbers_matches(pattern: Pattern) -> bool:
    code = pattern.measures.code
    return code is not None and NUMBER in code_inputs(code)


@dataclass(frozen=True)
class DeferredNumbers:
    """A program that numbers its matches, taken apart."""

    pattern: Pattern

    @cached_property
    def late(self) -> tuple[int, ...]:
        """The measures that need the number."""
        return tuple(n for n, result in enumerate(self._code.results) if self._number in self._code.needed_for(result))

    @cached_property
    def given(self) -> dict[str, int]:
        """The columns that tasks give, and the operations that compute them: measures, inputs of the late ones, keys."""
        code, measures = self._code, self.pattern.measures
        found = {name: code.results[n] for n, name in enumerate(measures.names) if n not in self.late}
        needed = code.needed_for(*(code.results[n] for n in self.late)) - {self._number}
        found |= {OWN + code.ops[n].params[0]: n for n in sorted(needed) if code.ops[n].op == "input"}
        shown = set(found.values())
        return found | {OWN + name: op for name, op in self._keys.items() if op not in shown}

    @property
    def keys(self) -> list[str]:
        """Those of the given columns that hold the keys."""
        return [next(name for name, op in self.given.items() if op == key) for key in self._keys.values()]

    @property
    def task_program(self) -> Pattern:
        reduced = self._code.reduced_to(tuple(self.given.values()))
        return replace(self.pattern, measures=replace(self.pattern.measures, names=tuple(self.given), code=reduced))

    @property
    def task_output(self) -> pa.Schema:
        return measured_schema(self.task_program).append(pa.field(PLACE, pa.int64()))

    @property
    def is_plain(self) -> bool:
        """Whether the number is shown as it is, and nothing is computed from it."""
        return all(self._code.results[n] == self._number for n in self.late)

    @property
    def _code(self) -> ColumnCode:
        """The measures; keys are among the operations."""
        code = self.pattern.measures.code
        assert code is not None
        known = set(code_inputs(code))
        columns = [self.pattern.reads.columns[k] for k in self.pattern.reads.keys]
        more = [ColumnOp("input", (), c.type, (f"partition:{c.name}",)) for c in columns if f"partition:{c.name}" not in known]
        return replace(code, ops=(*code.ops, *more))

    @property
    def _keys(self) -> dict[str, int]:
        names = [f"partition:{self.pattern.reads.columns[k].name}" for k in self.pattern.reads.keys]
        return {name: self._input(name) for name in names}

    @property
    def _number(self) -> int:
        return self._input(NUMBER)

    def _input(self, name: str) -> int:
        return next(n for n, op in enumerate(self._code.ops) if op.op == "input" and op.params[0] == name)

    def completed(self, table: pa.Table) -> pa.Table:
        """Matches that have their numbers, with the measures that waited for them."""
        measures = self.pattern.measures
        names = [measures.names[n] for n in self.late]
        code = self._code.reduced_to([self._code.results[n] for n in self.late])
        columns = evaluate(code, table.num_rows, lambda name: from_arrow(table.column(OWN + name)), names=names)
        ready = {name: to_arrow(column) for name, column in zip(names, columns, strict=True)}
        return pa.table({name: ready[name] if name in ready else table.column(name) for name in measures.names})

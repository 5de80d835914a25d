"""Situations that are rows of a result by themselves, each an event that lasts."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.algebra.situations import END, SITUATION, START, Situations, SituationStream
from ostinato.base.errors import SchemaError
from ostinato.lang.situations.returns import lower_returns
from ostinato.lang.situations.sources import Sources
from ostinato.lang.situations.syntax import Definition, Returned


def situation_stream(
    situations: Situations, returns: Sequence[Returned], definitions: Sequence[Definition], sources: Sources
) -> SituationStream:
    own = (SITUATION, START, END)
    for column in situations.partition:
        if column.lower() in own:
            raise SchemaError(
                f"The partition column `{column}` has the name of a column that every situation has",
                hint=f"Rename it before: a row has {', '.join(own)} and the columns of PARTITION BY",
            )
    others = (SITUATION, *situations.partition, START, END)
    return SituationStream(situations, lower_returns(returns, definitions, sources, others, each=True))

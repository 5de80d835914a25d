"""What is called contradictory never matches, and what three situations can be in by small whole numbers is not called so."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_tpstream_equals_reference import compiled, expected
from tests.property.tpstream_meaning import lowered
from tests.property.tpstream_texts import Written, written

from ostinato.algebra.allen import Related, Relation
from ostinato.algebra.composition import RELATIONS
from ostinato.algebra.contradictions import contradiction
from ostinato.algebra.situations import MatchIntervals
from ostinato.reference.intervals import _related

pytestmark = pytest.mark.filterwarnings("ignore")
SCHEMA = {"s": pa.schema([("ts", pa.int64()), ("f", pa.bool_())])}
FEW_RELATIONS = ("before", "meets", "overlaps", "starts", "during", "finishes", "equals", "contains", "after", "before[2, 5]")


def few(random: Random) -> str:
    """Constraints with one or two relations between all pairs, and durations: most contradict each other."""
    lasting = ("", "", " AT LEAST 0", " AT LEAST 3", " AT MOST 2", " BETWEEN 2 AND 4")
    definitions = ", ".join(f"{name} AS {random.choice(('f', 'g', 'x > 1'))}{random.choice(lasting)}" for name in "ABC")
    pairs = [pair for pair in ("AB", "BC", "CA") if pair != "CA" or random.random() < 0.6]
    said = " AND ".join(f"{a} {';'.join(random.sample(FEW_RELATIONS, random.randint(1, 2)))} {b}" for a, b in pairs)
    within = random.choice(("", " WITHIN 4", " WITHIN 9"))
    return f"FROM s DEFINE {definitions} PATTERN {said}{within} RETURN count(A.*) AS n"


@settings(max_examples=150, deadline=None)
@given(written(most_rows=40, most_situations=1, read=(("s",),)), st.integers(0, 2**32))
def test_what_is_called_contradictory_never_matches(case: Written, seed: int) -> None:
    if not case.integers:
        return
    text = few(Random(seed))
    for latency in ("earliest", "final"):
        query = lowered(text, {"s": case.tables["s"].schema}, latency=latency)
        if contradiction(query) is not None:
            assert not expected(Written(text, case.tables, latency, integers=True))


@settings(max_examples=60, deadline=None)
@given(written(most_rows=30))
def test_nor_do_random_texts(case: Written) -> None:
    query = compiled(case)
    if query is not None and isinstance(query.algebra, MatchIntervals) and contradiction(query.algebra) is not None:
        assert not expected(case)


INTERVALS = list(combinations(range(8), 2))
HOLDS = {
    (number, a, b): _related(Related(relation), *a, *b)
    for number, relation in enumerate(RELATIONS)
    for a, b in product(INTERVALS, INTERVALS)
}


@pytest.mark.parametrize("seed", range(60))
def test_three_situations_as_small_numbers_have_them(seed: int) -> None:
    """In the final mode, without bounds: what is possible at all is possible within eight times."""
    random = Random(seed)
    pairs = (("A", "B"), ("B", "C"), ("A", "C"))
    chosen = [random.sample(RELATIONS, random.choice((1, 1, 2, 3))) for _ in pairs]
    least, most = random.choice((None, 2, 3)), random.choice((None, 1, 2))
    duration = {"A": (least or 1, 9), "B": (1, most or 9), "C": (1, 9)}
    within = random.choice((None, 3, 5))
    said = " AND ".join(f"{a} {';'.join(one.value for one in own)} {b}" for (a, b), own in zip(pairs, chosen, strict=True))
    definitions = f"A AS f{'' if least is None else f' AT LEAST {least}'}, B AS f{'' if most is None else f' AT MOST {most}'}, C AS f"
    text = f"FROM s DEFINE {definitions} PATTERN {said}{'' if within is None else f' WITHIN {within}'}"
    assert (contradiction(lowered(text, SCHEMA, latency="final")) is None) == _is_possible(chosen, duration, within)


def _is_possible(chosen: list[list[Relation]], duration: dict[str, tuple[int, int]], within: int | None) -> bool:
    own = {name: [one for one in INTERVALS if least <= one[1] - one[0] <= most] for name, (least, most) in duration.items()}
    numbers = [[RELATIONS.index(relation) for relation in relations] for relations in chosen]
    for a, b in product(own["A"], own["B"]):
        if not any(HOLDS[n, a, b] for n in numbers[0]):
            continue
        for c in own["C"]:
            if within is not None and max(a[1], b[1], c[1]) - min(a[0], b[0], c[0]) > within:
                continue
            if any(HOLDS[n, b, c] for n in numbers[1]) and any(HOLDS[n, a, c] for n in numbers[2]):
                return True
    return False

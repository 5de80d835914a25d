"""How large a statement becomes in planning, from the plan that Spark's parser writes down."""

from __future__ import annotations

from typing import Any

from ostinato.hosts.spark.plan_size import is_too_large

LOGICAL = "org.apache.spark.sql.catalyst."


def table(name: str) -> dict[str, Any]:
    return {"class": LOGICAL + "analysis.UnresolvedRelation", "multipartIdentifier": f"[{name}]"}


def joined(*names: str) -> list[dict[str, Any]]:
    return [{"class": LOGICAL + "plans.logical.Join"}, *map(table, names)]


def with_tables(definitions: dict[str, list[Any]], body: list[Any]) -> list[Any]:
    entries = [{"_1": name, "_2": plan} for name, plan in definitions.items()]
    return [{"class": LOGICAL + "plans.logical.UnresolvedWith", "cteRelations": entries}, *body]


def grouped(kind: str, columns: int) -> list[dict[str, Any]]:
    return [{"class": LOGICAL + "expressions." + kind, "num-children": columns}]


def test_doubling_counts_what_it_becomes() -> None:
    def doubling(depth: int) -> list[Any]:
        steps = {f"a{i}": joined(f"a{i - 1}", f"a{i - 1}") for i in range(1, depth)}
        return with_tables({"a0": [table("t")], **steps}, [table(f"a{depth - 1}")])

    assert not is_too_large(doubling(6))
    assert is_too_large(doubling(9))
    assert is_too_large(doubling(2_000))  # without recursion, and in a moment


def test_names_in_scopes_of_their_own_do_not_go_round_in_circles() -> None:
    inner = with_tables({"a": joined("b", "b")}, [table("a")])
    assert not is_too_large(with_tables({"a": [table("a")], "b": inner}, joined("a", "b")))


def test_a_flat_statement_is_as_large_as_it_is() -> None:
    assert not is_too_large(joined(*(f"t{i}" for i in range(200))))
    assert is_too_large(joined(*(f"t{i}" for i in range(300))))


def test_grouping_sets_are_multiplied() -> None:
    assert not is_too_large(grouped("Cube", 4) + grouped("Rollup", 3))
    assert is_too_large(grouped("Cube", 9))
    assert is_too_large(grouped("Cube", 5) + grouped("Cube", 5))

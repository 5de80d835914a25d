"""What Spark is asked to run on behalf of a text: by Spark's own parser, a query and nothing that writes; in the sandbox nothing but
the named inputs and functions that compute."""

from __future__ import annotations

import json
import re
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ostinato.base.errors import QuerySyntaxError, SandboxError, UnsupportedError
from ostinato.hosts.parse_tree import dictionaries_in
from ostinato.hosts.spark.parallelism import is_connect
from ostinato.lang.sql.splice import Spliced
from ostinato.lang.sql.statement import read_statement

EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
# Plans that read and compute. What is not listed is refused: new ones have to be looked at first, and WINDOW definitions cannot be
# looked at, because Spark does not write them down
PLANS = frozenset(
    [
        "Project",
        "Filter",
        "Join",
        "Aggregate",
        "Sort",
        "GlobalLimit",
        "LocalLimit",
        "Offset",
        "Distinct",
        "Union",
        "Except",
        "Intersect",
        "SubqueryAlias",
        "UnresolvedWith",
        "Generate",
        "Pivot",
        "Unpivot",
        "Expand",
        "Window",
        "UnresolvedHint",
        "LateralJoin",
        "Sample",
        "Repartition",
        "RepartitionByExpression",
        "RebalancePartitions",
        "LocalRelation",
        "OneRowRelation",
        "Range",
        "AsOfJoin",
        "Deduplicate",
        "Tail",
        "UnresolvedHaving",
        "UnresolvedSubqueryColumnAliases",
        "UnresolvedInlineTable",
        "UnresolvedTableValuedFunction",
        "UnresolvedTVFAliases",
        "UnresolvedRelation",
        "UnresolvedFunction",
        "UnresolvedAttribute",
        "UnresolvedStar",
        "UnresolvedAlias",
        "UnresolvedGenerator",
        "UnresolvedOrdinal",
        "UnresolvedExtractValue",
        "UnresolvedNamedLambdaVariable",
        "UnresolvedStarExcept",
        "UnresolvedStarExceptOrReplace",
        "UnresolvedStarWithColumns",
        "UnresolvedRegex",
        "MultiAlias",
        "UsingJoin",
        "NaturalJoin",
        "UnresolvedGroupingSets",
        "UnresolvedOrderByAll",
        "UnresolvedWindowExpression",
    ]
)
TABLE_FUNCTIONS = frozenset(
    ["range", "explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack", "json_tuple"]
)
DENIED = re.compile(
    r"java_method|(try_)?reflect|call_function|input_file_.*|current_(user|catalog|database|schema|path)|user|session_user|version|identifier"
    r"|.*http.*|.*worker_logs|sql_keywords|collations|repeat|lpad|rpad|sequence|array_repeat|space|.*sleep.*|ai_.*|read_.*|from_avro|to_avro"
    r"|from_protobuf|to_protobuf|.*xpath.*"
)
CALLS_CODE = re.compile(r"java_method|reflect", re.IGNORECASE)  # wherever it stands: the last wall
VARIABLE = re.compile(r"\$\{")  # Spark's parser puts settings and the environment in place of `${...}`, also inside of literals
READS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(", "EXPLAIN", "DESCRIBE", "DESC", "SHOW", "MAP", "REDUCE")
WRITES = (("INSERT", "INTO"), ("INSERT", "OVERWRITE"), ("MERGE", "INTO"), ("DELETE", "FROM"))


def check_reads(spark: SparkSession, query: Spliced) -> None:
    """Refuse what writes, creates, drops or sets: Spark would do it at once."""
    words = read_statement(query.text, "spark").words
    pairs = {(word.upper, after.upper) for word, after in zip(words, words[1:], strict=False) if word.kind == after.kind == "name"}
    kinds = () if is_connect(spark) else _kinds(_plan(spark, query))
    if words[0].upper in READS and not pairs & set(WRITES) and not any(_is_command(spark, kind) for kind in kinds):
        return
    raise QuerySyntaxError(
        f"{words[0].upper} writes, or is no query",
        detail="Spark would execute the statement at once.",
        hint="Write the DataFrame that a SELECT gives: sql(...).write...; or say that the text may write: sql(..., writes=True)",
        span=query.origin(words[0].span.start).to(query.origin(words[0].span.end - 1)),
    )


def check_sandboxed(spark: SparkSession, query: Spliced, names: frozenset[str]) -> None:
    """`names` are the tables that the query may read, in lower case."""
    if is_connect(spark):
        raise UnsupportedError(
            "the sandbox asks Spark's own parser what a text uses, which Spark Connect does not offer",
            hint="use a session with a driver of its own, or run the text embedded: ost.sql(..., sandbox=True)",
        )
    if (called := CALLS_CODE.search(query.text)) is not None:
        raise _refused(f"The word {called[0]}", query)
    if VARIABLE.search(query.text) is not None:
        raise _refused("A variable of the form ${...}", query)
    plan = _plan(spark, query)
    if plan is None:
        return
    try:
        parts = list(dictionaries_in(json.loads(plan.toJSON())))
    except Exception as error:  # of whatever kind: what cannot be looked at is not let in
        raise _refused("What Spark cannot write down", query) from error
    defined = {str(entry["_1"]).lower() for part in parts for entry in part.get("cteRelations") or () if "_1" in entry}
    for name in sorted(defined - names):
        if spark.catalog.tableExists(name):  # beyond its scope it would be the table
            raise _refused(f"A common table expression with the name of the table {name}", query)
    known = _functions(spark)
    for part in parts:
        _check_part(part, query, names | defined, known)


def _check_part(part: dict[str, Any], query: Spliced, names: frozenset[str], functions: frozenset[str]) -> None:
    kind = part.get("class")
    if not isinstance(kind, str) or kind.startswith(EXPRESSIONS):
        return
    short = kind.rpartition(".")[2].rstrip("$")
    if short not in PLANS:
        raise _refused(f"{short} in Spark's plan", query)
    if short == "UnresolvedRelation":
        name = _name(part.get("multipartIdentifier"))
        if name not in names:
            raise SandboxError(
                f"The sandbox reads only the streams that were given, and {name} is none of them",
                hint=f"Given are {', '.join(sorted(n for n in names if not n.startswith('__ostinato'))) or 'none'}",
                span=query.origin(0),
            )
    elif short == "UnresolvedFunction":
        name = _name(part.get("nameParts"))
        if name not in functions or DENIED.fullmatch(name):
            raise _refused(f"The function {name}", query)
    elif short == "UnresolvedTableValuedFunction":
        name = _name(part.get("name") or part.get("nameParts") or part.get("functionName"))
        if name not in TABLE_FUNCTIONS:
            raise _refused(f"The table function {name}", query)
    elif short == "UnresolvedGenerator":
        name = str(part.get("name", {}).get("funcName", "")).lower()
        if name not in TABLE_FUNCTIONS:
            raise _refused(f"The table function {name}", query)


def _name(parts: object) -> str:
    """Spark writes `[a, b]` for a name of two parts, which no name of one part can be."""
    text = ", ".join(map(str, parts)) if isinstance(parts, list) else str(parts).removeprefix("[").removesuffix("]")
    return text.lower()


def _functions(spark: SparkSession) -> frozenset[str]:
    """Spark's own: what a user has registered may do anything."""
    return frozenset(str(row[0]).lower() for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect())


def _plan(spark: SparkSession, query: Spliced) -> Any:
    """What Spark's own parser makes of the text; None if it is no SQL: whoever runs it says what is wrong, and where."""
    try:
        return spark._jsparkSession.sessionState().sqlParser().parsePlan(query.text)
    except PySparkException:
        return None


def _kinds(plan: Any) -> tuple[str, ...]:
    """The classes of the plan and of what it is made of: a statement that writes may stand inside of others."""
    kinds: list[str] = []
    waiting = [] if plan is None else [plan]
    while waiting:
        part = waiting.pop()
        kinds.append(part.getClass().getName())
        children = part.children()
        waiting += [children.apply(number) for number in range(children.size())]
    return tuple(kinds)


def _is_command(spark: SparkSession, kind: str) -> bool:
    short = kind.rpartition(".")[2]
    if kind.startswith(EXPRESSIONS) or short in PLANS or short.startswith(("Show", "Describe", "Explain")):
        return False
    jvm = spark._jvm
    assert jvm is not None
    found = jvm.java.lang.Class.forName(kind)
    writing = ("plans.logical.Command", "plans.logical.ParsedStatement")
    return any(jvm.java.lang.Class.forName(f"org.apache.spark.sql.catalyst.{name}").isAssignableFrom(found) for name in writing)


def _refused(what: str, query: Spliced) -> SandboxError:
    hint = "The sandbox reads the named streams, and computes; it sees no other tables, no files, and calls no code"
    return SandboxError(f"{what} is not let into the sandbox", hint=hint, span=query.origin(0))

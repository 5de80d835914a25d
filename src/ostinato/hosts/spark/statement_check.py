"""What Spark is asked to run on behalf of a text: by Spark's own parser, a query and nothing that writes; in the sandbox nothing but
the named inputs and functions that compute."""

from __future__ import annotations

import json
import re
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ostinato.base.errors import QuerySyntaxError, SandboxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.hosts.parse_tree import dictionaries_in
from ostinato.hosts.spark.parallelism import is_connect
from ostinato.hosts.spark.plan_size import is_too_large
from ostinato.hosts.spark.window_definitions import NODE, window_definitions
from ostinato.lang.sql.splice import Spliced
from ostinato.lang.sql.statement import read_statement

EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
# Plans that read and compute. What is not listed is refused: new ones have to be looked at first
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
        "WithWindowDefinition",
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
    r"|.*http.*|.*worker_logs|sql_keywords|collations|repeat|lpad|rpad|sequence|array_repeat|array_insert|space|format_string|printf|randstr|.*_xml|.*_avro|.*sleep.*|ai_.*|read_.*"
    r"|from_protobuf|to_protobuf|.*xpath.*"
)
CALLS_CODE = re.compile(r"java_method|reflect", re.IGNORECASE)  # wherever it stands: the last wall
WINDOWS = f".{NODE}"
VARIABLE = re.compile(r"\$\{")  # Spark's parser puts settings and the environment in place of `${...}`, also inside of literals
_known_functions: WeakKeyDictionary[SparkSession, frozenset[str]] = WeakKeyDictionary()
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
        raise _refused(f"The word {called[0]}", query.origin(called.start()).to(query.origin(called.end() - 1)))
    if (variable := VARIABLE.search(query.text)) is not None:
        raise _refused("A variable of the form ${...}", query.origin(variable.start()))
    plan = _plan(spark, query)
    if plan is None:
        return
    parts = list(dictionaries_in(_written_down(plan, query)))
    if _has_variables(spark):
        raise _refused("A session with variables of its own (DECLARE)", query.origin(0))
    defined = {str(entry["_1"]).lower() for part in parts for entry in part.get("cteRelations") or () if "_1" in entry}
    for name in sorted(defined - names):
        if spark.catalog.tableExists(name):  # beyond its scope it would be the table
            raise _refused(f"A common table expression with the name of the table {name}", _place(name, query))
    known = _functions(spark)
    for part in parts:
        _check_part(part, query, names | defined, known)


def _written_down(plan: Any, query: Spliced) -> object:
    """The tree of the plan, with all that it is made of."""
    try:
        tree = json.loads(plan.toJSON())
        clauses = sum(str(part.get("class", "")).endswith(WINDOWS) for part in dictionaries_in(tree))
        windows = window_definitions(plan, clauses) if clauses else []
    except Exception as error:  # of whatever kind: what cannot be looked at is not let in
        raise _refused("What Spark cannot write down", query.origin(0)) from error
    if windows is None:
        raise _refused("A WINDOW clause in a subquery of an expression", _place("window", query))
    if is_too_large(tree):
        raise SandboxError(
            "The statement is too large for the sandbox, with its common table expressions put in where they are named",
            hint="Name each less often, and group by fewer columns",
            span=query.origin(0),
        )
    return [tree, *windows]


def _has_variables(spark: SparkSession) -> bool:
    """A name that is no column would be one of them."""
    return not spark._jsparkSession.sessionState().catalogManager().tempVariableManager().isEmpty()


def _place(name: str, query: Spliced) -> Span:
    """Where a name stands in the text: Spark writes down no places."""
    words = read_statement(query.text, "spark").words
    wanted = name.split(", ")
    for at in range(len(words)):
        parts = words[at : at + 2 * len(wanted) - 1]
        if [word.value.lower() for word in parts[::2] if word.is_identifier] == wanted and all(word.value == "." for word in parts[1::2]):
            return query.origin(parts[0].span.start).to(query.origin(parts[-1].span.end - 1))
    return query.origin(0)


def _check_part(part: dict[str, Any], query: Spliced, names: frozenset[str], functions: frozenset[str]) -> None:
    kind = part.get("class")
    if not isinstance(kind, str) or kind.startswith(EXPRESSIONS):
        return
    short = kind.rpartition(".")[2].rstrip("$")
    if short not in PLANS:
        raise _refused(f"{short} in Spark's plan", query.origin(0))
    if short == "UnresolvedRelation":
        name = _name(part.get("multipartIdentifier"))
        if name not in names:
            raise SandboxError(
                f"The sandbox reads only the streams that were given, and {name} is none of them",
                hint=f"Given are {', '.join(sorted(n for n in names if not n.startswith('__ostinato'))) or 'none'}",
                span=_place(name, query),
            )
    elif short == "UnresolvedFunction":
        name = _name(part.get("nameParts"))
        if name not in functions or DENIED.fullmatch(name):
            raise _refused(f"The function {name}", _place(name, query))
    elif short == "UnresolvedTableValuedFunction":
        name = _name(part.get("name") or part.get("nameParts") or part.get("functionName"))
        if name not in TABLE_FUNCTIONS:
            raise _refused(f"The table function {name}", _place(name, query))
    elif short == "UnresolvedGenerator":
        name = str(part.get("name", {}).get("funcName", "")).lower()
        if name not in TABLE_FUNCTIONS:
            raise _refused(f"The table function {name}", _place(name, query))


def _name(parts: object) -> str:
    """Spark writes `[a, b]` for a name of two parts, which no name of one part can be."""
    text = ", ".join(map(str, parts)) if isinstance(parts, list) else str(parts).removeprefix("[").removesuffix("]")
    return text.lower()


def _functions(spark: SparkSession) -> frozenset[str]:
    """Spark's own: what a user has registered may do anything. They stay the same for a session, and asking takes a while."""
    if spark not in _known_functions:
        _known_functions[spark] = frozenset(str(row[0]).lower() for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect())
    return _known_functions[spark]


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


def _refused(what: str, span: Span) -> SandboxError:
    hint = "The sandbox reads the named streams, and computes; it sees no other tables, no files, and calls no code"
    return SandboxError(f"{what} is not let into the sandbox", hint=hint, span=span)

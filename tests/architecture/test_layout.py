"""One concept per file, functions that fit on a screen, names that say something, nothing left unfinished."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "ostinato"
FILES = sorted(SOURCE.rglob("*.py"))
EMPTY_NAMES = re.compile(r"(utils|helpers|common|misc|core|manager|handler)[^/]*\.py$")
UNFINISHED = re.compile(r"\b(NotImplementedError|TODO|FIXME|XXX|HACK)\b")
FILE_LINES = 350
FUNCTION_LINES = 50
KERNEL_LINES = 100
FILES_IN_A_PACKAGE = 24


def _functions(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_there_are_files():
    assert len(FILES) > 20


def test_files_stay_short():
    long = {str(path.relative_to(SOURCE)): lines for path in FILES if (lines := len(path.read_text().splitlines())) > FILE_LINES}
    assert long == {}


def test_packages_stay_small():
    counts: dict[str, int] = {}
    for path in FILES:
        if path.name != "__init__.py":
            counts[str(path.parent.relative_to(SOURCE))] = counts.get(str(path.parent.relative_to(SOURCE)), 0) + 1
    assert {package: count for package, count in counts.items() if count > FILES_IN_A_PACKAGE} == {}


def test_functions_stay_short():
    long = []
    for path in FILES:
        limit = KERNEL_LINES if "kernels" in path.parts else FUNCTION_LINES
        for function in _functions(path):
            lines = function.end_lineno - function.lineno + 1
            if lines > limit:
                long.append(f"{path.relative_to(SOURCE)}:{function.lineno} {function.name} has {lines} lines")
    assert long == []


def test_file_names_say_something():
    assert [str(path) for path in FILES if EMPTY_NAMES.search(path.name)] == []


def test_nothing_is_left_unfinished():
    assert [str(path.relative_to(SOURCE)) for path in FILES if UNFINISHED.search(path.read_text())] == []


def test_no_import_hides_inside_a_function_of_the_lower_layers():
    """A late import may keep a heavy package away from `import ostinato`; it may not hide a cycle between our own modules."""
    hidden = []
    for path in FILES:
        if path.relative_to(SOURCE).parts[0] in ("cli", "hosts", "__init__.py", "query.py", "inspect"):
            continue
        for function in _functions(path):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ostinato"):
                    hidden.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert hidden == []

"""Who is no language does not know any by name: a new one touches its own folder and one line of the registry."""

from __future__ import annotations

import ast
from pathlib import Path

from ostinato.lang.registry import languages

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "ostinato"
SHARED = ("streams", "events", "situations")  # what no language owns
PUBLIC = ("__all__", "_LAZY")  # names of functions that are called like a language


def _names_a_language(tree: ast.Module) -> list[int]:
    """Lines with a text that is the name or the suffix of a language."""
    told = {name for language in languages() for name in (language.name, *language.suffixes)}
    public = [node for node in tree.body if isinstance(node, ast.Assign) and any(getattr(t, "id", "") in PUBLIC for t in node.targets)]
    skipped = {id(inner) for node in public for inner in ast.walk(node)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in skipped)
    return [node.lineno for node in constants if isinstance(node.value, str) and node.value in told]


def test_no_language_is_known_by_name():
    outside = (path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).parts[0] != "lang")
    assert [f"{path.relative_to(SOURCE)}:{line}" for path in outside for line in _names_a_language(ast.parse(path.read_text()))] == []


def test_a_name_would_be_found():
    assert _names_a_language(ast.parse("def f(x):\n    return x.language == 'sql' or x in ('sase', '.sql')\n")) == [2, 2, 2]
    assert _names_a_language(ast.parse("__all__ = ['sql']\nx = 'SQL is a language'\n")) == []


def test_every_folder_is_a_language_of_the_registry_with_the_same_files_and_a_page():
    folders = {path.name for path in (SOURCE / "lang").iterdir() if (path / "__init__.py").exists()} - {*SHARED}
    assert folders == {language.name for language in languages()}
    for name in folders:
        files = {path.stem for path in (SOURCE / "lang" / name).glob("*.py")}
        assert {"language", "syntax", "parse", "lower", "render"} <= files, name
        assert (ROOT / "docs" / "languages" / f"{name}.md").exists(), name

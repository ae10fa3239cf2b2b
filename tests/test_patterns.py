"""Every regular expression takes time in proportion to what it is given: no few bytes hold a thread for minutes."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.builders.examples import every
from tests.builders.steps import Counter, TooManySteps, hostile_texts

ROOT = Path(__file__).resolve().parent.parent
SEARCHING = {"search", "sub", "subn", "split", "findall", "finditer"}
USING = SEARCHING | {"match", "fullmatch"}
SHORT, LONG = 24, 72
GROWTH = 4.5
"""Texts three times as long take about three times the steps; quadratic ones nine times."""
TRIED = 2
"""`make test` tries each so many-th text, those with an odd end: it still tells all patterns that are known as slow."""
FEW_STEPS = 600
MANY_STEPS = 50_000
"""No linear pattern takes so many for a short text."""


def modules() -> list[str]:
    """The modules that compile a pattern; others, with seconds of kernels to import, have none of their own."""
    compiling = [path for path in sources() if "re.compile(" in (ROOT / path).read_text(encoding="utf-8")]
    return [path.removesuffix(".py").replace("/", ".") for path in compiling]


@cache
def sources() -> dict[str, ast.Module]:
    paths = [
        path for folder in ("app", "checkers", "games", "solvers") for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


@cache
def searched() -> frozenset[str]:
    """The names of the patterns that are looked for anywhere in a text, and not only at one place of it."""
    return frozenset(
        node.func.value.attr if isinstance(node.func.value, ast.Attribute) else node.func.value.id
        for tree in sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHING
        if isinstance(node.func.value, ast.Name | ast.Attribute)
    )


@cache
def patterns() -> dict[str, re.Pattern]:
    """The patterns of all modules by `module.NAME`, those in tuples and maps included."""
    everything = {}
    for name in modules():
        importlib.import_module(name)
    for name in modules():
        for attribute, value in vars(sys.modules[name]).items():
            for at, each in enumerate(_values(value)):
                if isinstance(each, re.Pattern):
                    everything.setdefault((each.pattern, each.flags), f"{name}.{attribute}" + (f"[{at}]" if at else ""))
    return {name: re.compile(*key) for key, name in everything.items()}


def _values(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, tuple | list | frozenset | set):
        yield from value
    else:
        yield value


def steps(pattern: re.Pattern, text: str, most: int, *, search: bool) -> int:
    """The steps of looking for a pattern in a text; raises TooManySteps above `most`."""
    counter = Counter(pattern)
    if search:
        counter.search_all(text, most)
    else:
        for whole in (False, True):
            counter.match(text, most, whole=whole)
    return counter.steps


def slow_text(pattern: re.Pattern, *, search: bool) -> str | None:
    """A text on which the steps grow faster than its length; None where there is none, or none among those tried."""
    pairs = zip(hostile_texts(pattern, SHORT), hostile_texts(pattern, LONG), strict=True)
    for short, long in every(TRIED, pairs, 1):
        try:
            few = steps(pattern, short, MANY_STEPS, search=search)
            steps(pattern, long, max(FEW_STEPS, int(GROWTH * few)), search=search)
        except (TooManySteps, RecursionError):
            return long
    return None


def test_the_counter_matches_what_python_matches() -> None:
    """Else its steps would say nothing."""
    for pattern in patterns().values():
        for text in list(hostile_texts(pattern, 12))[::7]:
            given = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
            expected = pattern.match(given)
            end = Counter(pattern).match(text, 1_000_000)
            assert end == (expected.end() if expected else None), (pattern.pattern, text)


@pytest.mark.parametrize(
    ("pattern", "search"),
    [
        (r"(a+)+b", False),
        (r"(a|a)*b", False),
        (r"a*a*b", False),
        (r"\s+$", True),
        (r"<svg\b[^>]*>", True),
        (r"(`+).+?\1", True),
        (r"(.*?), found", True),
        (r"\d+\.?\d*e", False),
    ],
)
def test_slow_patterns_are_told(pattern: str, search: bool) -> None:
    """Those that this test is for, some of them once in use here."""
    assert slow_text(re.compile(pattern), search=search) is not None


def test_all_patterns_are_linear() -> None:
    """Each pattern of a module, looked for as the code looks for it, takes steps in proportion to the text."""
    slow = {}
    for name, pattern in patterns().items():
        text = slow_text(pattern, search=name.rpartition(".")[2].partition("[")[0] in searched())
        if text is not None:
            slow[name] = text[:60]
    assert len(patterns()) > 40
    assert slow == {}


OF_PACKAGES = "app/packages/formats/cms_groups.py"
"""Compiles an expression that a package brings, of a grammar with few repeats and none inside of another."""


def test_patterns_are_compiled_where_this_test_finds_them() -> None:
    """No function looks for a pattern that it writes down or puts together itself."""
    inner = [
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr in USING
    ]
    compiled = [
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "compile"
        if ast.unparse(node.func) == "re.compile" and path != OF_PACKAGES
    ]
    assert inner + compiled == []

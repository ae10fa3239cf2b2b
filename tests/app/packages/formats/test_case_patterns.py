"""Expressions by which CMS names the cases of a group: those that cannot take long are taken."""

from __future__ import annotations

import pytest

from app.packages.formats.cms_groups import compiled


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("00[0-4]|010", ["000", "004", "010"]),
        (r"^0(0\d|10)$", ["000", "004", "005", "010"]),
        ("[^0]", ["123"]),
        (".*5", ["005", "015"]),
        ("(000)|(001)", None),
    ],
)
def test_expressions_match_the_beginnings_of_names(expression: str, names: list[str] | None) -> None:
    pattern = compiled(expression)
    every = ("000", "004", "005", "010", "015", "123")
    assert (None if pattern is None else [name for name in every if pattern.match(name)]) == names


@pytest.mark.parametrize(
    "expression",
    ["0+", "(0)*", "(0", "0)", "[0", "[.]", r"\w", "[5-2]", "((0))", ".*.*.*.*", "0" * 2001, "(0|0)" * 200 + "$"],
)
def test_other_expressions_are_refused(expression: str) -> None:
    assert compiled(expression) is None

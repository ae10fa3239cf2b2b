"""Expressions of CMS match as Python's do, in time that grows with expression and name alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.packages.formats.cms_groups import DEEPEST, NotUnderstood, begins_with

ATOMS = st.sampled_from(["0", "1", "_", ".", ".*", r"\d", r"\.", "[01]", "[^0]", "[0-1_]", "^", "$", ""])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map("|".join).map("({})".format),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS, st.text("012_.", max_size=6))
def test_expressions_match_what_python_matches(expression: str, name: str) -> None:
    assert begins_with(expression, name) == (re.match(expression, name) is not None)


def test_what_takes_python_longer_than_the_universe_is_answered() -> None:
    """Steps grow by the product of lengths: each of the 200 brackets is walked once."""
    assert not begins_with("(0|0)" * 200 + "$", "0" * 200 + "1")
    assert begins_with("(0|0)" * 200 + "$", "0" * 200)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0+", "letters, digits"),
        ("(0)*", "letters, digits"),
        ("(0", "more"),
        ("0)", "no `)` without its `(`"),
        ("[0", "more"),
        ("[.]", "letters and digits in"),
        (r"\w", "letters, digits"),
        ("(" * (DEEPEST + 1), f"at most {DEEPEST} deep"),
        ("0" * 2001, "at most 2000 characters"),
    ],
)
def test_other_expressions_are_refused_in_words(expression: str, expected: str) -> None:
    with pytest.raises(NotUnderstood, match=re.escape(expected)):
        begins_with(expression, "000")

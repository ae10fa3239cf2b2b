"""Ids of judgements and runs: each number has one, no one else's is a number, and they keep no order."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.ids import MOST, VeiledIds

IDS, OTHERS = VeiledIds("a" * 32), VeiledIds("b" * 32)
CLICS = re.compile(r"[a-zA-Z0-9_.][a-zA-Z0-9_.-]{0,35}")
NUMBERS = st.integers(1, MOST)


@given(NUMBERS)
def test_an_id_leads_back_to_its_number_in_its_contest_alone(number: int) -> None:
    shown = IDS.judgement(number)
    assert CLICS.fullmatch(shown)
    assert IDS.number(shown) == number
    assert OTHERS.number(shown) != number
    assert IDS.judgement(number) == VeiledIds("a" * 32).judgement(number) != OTHERS.judgement(number)


@given(st.binary(min_size=8, max_size=8))
def test_every_id_stands_for_one_number_at_most(data: bytes) -> None:
    shown = f"j{data.hex()}"
    number = IDS.number(shown)
    assert number is None or (0 < number <= MOST and IDS.judgement(number) == shown)


@given(st.sets(st.tuples(NUMBERS, NUMBERS), max_size=20))
def test_runs_have_ids_of_their_own_that_name_their_judgement(pairs: set[tuple[int, int]]) -> None:
    shown = {IDS.run(*pair): pair for pair in pairs}
    assert len(shown) == len(pairs)
    for run_id, (judgement, _) in shown.items():
        assert CLICS.fullmatch(run_id)
        assert IDS.judgement_of(run_id) == judgement


def test_a_thousand_ids_in_a_row_are_as_far_apart_as_chance_has_them() -> None:
    """Neither the order nor the gaps of the numbers are seen: half the steps go down, half the bits change."""
    values = [int(IDS.judgement(number)[1:], 16) for number in range(1, 1001)]
    down = sum(after < before for before, after in pairwise(values))
    changed = sum((after ^ before).bit_count() for before, after in pairwise(values)) / 999
    assert 400 < down < 600
    assert 31 < changed < 33
    cases = [IDS.run(1, case).partition("-")[2] for case in range(1, 1001)]
    assert 400 < sum(after < before for before, after in pairwise(cases)) < 600


@pytest.mark.parametrize(
    "text", ["", "1", "j", "-", "j1", "j" + "0" * 15, "j" + "F" * 16, "j" + "0" * 17, "x" + "0" * 16, "j" + "٣" * 16]
)
def test_what_is_no_id_of_a_judgement_has_no_number(text: str) -> None:
    assert IDS.number(text) is None
    assert IDS.judgement_of(f"{text}-{'0' * 16}") is None

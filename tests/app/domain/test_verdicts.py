"""From the verdicts of cases to that of a submission."""

from __future__ import annotations

from fractions import Fraction

import pytest

from app.domain.counting import CaseVerdict, JudgementType, is_full, judgement_type

RIGHT = (CaseVerdict.ACCEPTED, True)
PART = (CaseVerdict.ACCEPTED, False)
WRONG = (CaseVerdict.REJECTED, False)
FAULT = (CaseVerdict.JUDGE_ERROR, False)


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ([], JudgementType.CE),
        ([RIGHT, RIGHT], JudgementType.AC),
        ([RIGHT, PART], JudgementType.PC),
        ([PART], JudgementType.PC),
        ([RIGHT, WRONG], JudgementType.PC),
        ([WRONG, WRONG], JudgementType.WA),
        ([RIGHT, FAULT], JudgementType.JE),
    ],
)
def test_a_submission_is_right_wrong_partly_correct_or_nobodys_fault(
    cases: list[tuple[CaseVerdict, bool]], expected: JudgementType
) -> None:
    assert judgement_type(cases, complete=True) is expected


def test_a_submission_that_leaves_cases_out_is_at_most_partly_correct() -> None:
    assert judgement_type([RIGHT], complete=False) is JudgementType.PC
    assert judgement_type([WRONG], complete=False) is JudgementType.WA


def test_an_answer_is_full_where_nothing_can_be_added_to_it() -> None:
    """A share just below 1 is not full, however close: it is an exact number."""
    assert [is_full(share, absolute=True) for share in (0, Fraction(10**20 - 1, 10**20), 1, Fraction(1), None)] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert is_full(0, absolute=False), "under relative scoring an answer that counts is right"

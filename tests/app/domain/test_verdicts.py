"""From the verdicts of cases to that of a submission."""

from __future__ import annotations

import pytest

from app.domain.verdicts import CaseVerdict, JudgementType, judgement_type

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

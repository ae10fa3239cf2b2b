"""Outcomes of judgements: from the scores of the answers to the type."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.contests.schemas.settings import Rule
from app.core.clock import utc_now
from app.domain.case_scores import CaseAnswer, FoundScore
from app.domain.contests import Kind
from app.domain.documents import MessageDocument, ProblemSettingsDocument
from app.domain.verdicts import CaseVerdict, JudgementType, is_full, judgement_type
from app.submissions.queries.judgements import Outcome, Task

JUDGE_ERROR: MessageDocument = {
    "key": "judge-error",
    "text": "the judge failed on this answer; it is not your fault",
    "args": {},
}


@dataclass(frozen=True, slots=True)
class Trial:
    """Graders' scores for answers that are in no row; `error`: the checker failed, and all are judge errors."""

    scores: Sequence[FoundScore]
    error: str | None = None


def outcome(task: Task, scores: Sequence[FoundScore]) -> Outcome:
    """Sum up an attempt that went well."""
    verdict = summed_up(scores, task.settings, task.rule, task.counted_cases)
    return Outcome(task.judgement_id, task.attempt, verdict.value, scores, utc_now())


def summed_up(
    scores: Sequence[FoundScore], settings: ProblemSettingsDocument, rule: Rule, counted: Collection[int]
) -> JudgementType:
    """The judgement type that scores give; `counted` are the ids of the cases that count during the contest."""
    absolute = (rule.kind or settings["scoring"]["kind"]) == Kind.ABSOLUTE
    seen = [(score.verdict, is_full(score.multiplier, absolute=absolute)) for score in scores]
    return judgement_type(seen, complete={*counted} <= {score.test_case_id for score in scores})


def over_limit(task: Task, scores: Sequence[FoundScore], seconds: float) -> Outcome:
    """End a judgement whose grading took longer than `seconds`: cases without a score are judge errors."""
    error = (
        f"submission_seconds: expected at most {seconds:g} s of grading for a submission to problem"
        f" {task.problem_id!r}, found more after {len(scores)} of {len(task.answers)} cases: make the checker faster,"
        " or raise submission_seconds in jurado.yaml"
    )
    rest = [replace(score, judge_message=error) for score in judge_errors(task.answers[len(scores) :])]
    return Outcome(task.judgement_id, task.attempt, JudgementType.JE.value, [*scores, *rest], utc_now(), error)


def given_up(task: Task, error: str) -> Outcome:
    """The end of a judgement on which the checker failed too often."""
    scores = judge_errors(task.answers)
    return Outcome(task.judgement_id, task.attempt, JudgementType.JE.value, scores, utc_now(), error)


def judge_errors(answers: Sequence[CaseAnswer]) -> list[FoundScore]:
    """A judge error for each of these answers."""
    return [
        FoundScore(answer.test_case_id, CaseVerdict.JUDGE_ERROR, None, None, None, JUDGE_ERROR, 0) for answer in answers
    ]

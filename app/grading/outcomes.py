"""How a judgement ends: what was found for each answer, summed up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from app.domain.contests import Kind
from app.domain.verdicts import CaseVerdict, judgement_type
from app.storage.judgements import FoundScore, Outcome, Task

JUDGE_ERROR = {"key": "judge-error", "text": "the judge failed on this answer; it is not your fault", "args": {}}


def outcome(task: Task, scores: Sequence[FoundScore]) -> Outcome:
    """Sum up an attempt that went well."""
    relative = task.rule.get("kind", task.settings.get("scoring", {}).get("kind")) != Kind.ABSOLUTE
    seen = [(score.verdict, _is_full(score, relative)) for score in scores]
    complete = task.counted_cases <= {score.test_case_id for score in scores}
    verdict = judgement_type(seen, complete=complete)
    return Outcome(task.judgement_id, task.attempt, verdict.value, scores, datetime.now(UTC))


def _is_full(score: FoundScore, relative: bool) -> bool:
    """Does an accepted answer earn all it can, whatever others do? Under relative scoring validity is all there is."""
    return relative or score.multiplier is None or score.multiplier >= 1


def given_up(task: Task, error: str) -> Outcome:
    """End a judgement that the checker has failed at too often: a judge error, for every answer."""
    scores = [
        FoundScore(answer.test_case_id, CaseVerdict.JUDGE_ERROR, None, None, None, JUDGE_ERROR, 0)
        for answer in task.answers
    ]
    return Outcome(task.judgement_id, task.attempt, "JE", scores, datetime.now(UTC), error)

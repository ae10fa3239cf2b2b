"""Counted answers kept from one board to the next: most teams have sent nothing new since.

Folding a team's attempts into the answers that count is most of a board's work, and depends on nothing but these
attempts and the rule. A fold is taken again when it is of the very same score mappings; what is kept holds them, so
that no other mapping can be taken for one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.domain.contests import ScoringRule
from app.domain.scoring import Answers, Attempt, counted_answers


@dataclass(frozen=True, slots=True)
class _Fold:
    rule: ScoringRule
    attempts: Sequence[Attempt]
    answers: Answers

    def is_of(self, rule: ScoringRule, attempts: Sequence[Attempt]) -> bool:
        return (
            len(self.attempts) == len(attempts)
            and all(
                one.id == other.id and one.scores is other.scores and one.time == other.time
                for one, other in zip(self.attempts, attempts, strict=True)
            )
            and self.rule == rule
        )


@dataclass
class Folds:
    """The last fold of each team at each problem; one for each kind of board, used by one thread at a time."""

    kept: dict[tuple[str, str], _Fold] = field(default_factory=dict)

    def counted(self, problem_id: str, team_id: str, rule: ScoringRule, attempts: Sequence[Attempt]) -> Answers:
        """As `counted_answers`, for rules under which single answers or the last submission count."""
        if not attempts:
            return {}
        key = (problem_id, team_id)
        fold = self.kept.get(key)
        if fold is None or not fold.is_of(rule, attempts):
            fold = self.kept[key] = _Fold(rule, attempts, counted_answers(attempts, rule))
        return fold.answers

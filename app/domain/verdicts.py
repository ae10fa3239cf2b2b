"""Verdicts of cases and judgement types of submissions.

- Keys for caches of what is computed from large values that never change, and are dear to compare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Generic, TypeVar


class CaseVerdict(StrEnum):
    """What the checker says of one answer file."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    JUDGE_ERROR = "judge_error"


class JudgementType(StrEnum):
    """What a whole judgement ends with (CLICS identifiers; PC is the contract's own: partly correct)."""

    AC = "AC"
    PC = "PC"
    WA = "WA"
    JE = "JE"
    CE = "CE"


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """Name of a judgement type and whether it counts as solved."""

    name: str
    solved: bool


JUDGEMENT_TYPES = {
    JudgementType.AC: TypeFacts("accepted", True),
    JudgementType.PC: TypeFacts("partly correct", False),
    JudgementType.WA: TypeFacts("wrong answer", False),
    JudgementType.JE: TypeFacts("judging error", False),
    JudgementType.CE: TypeFacts("not an answer archive", False),
}


def is_full(multiplier: int | Fraction | None, *, absolute: bool) -> bool:
    """Does an accepted answer earn all it can, whatever others do? Under other scoring validity is all there is.

    `multiplier` is the share 0..1 that the checker gives; None: the checker gives none, and right is right.
    """
    return not absolute or multiplier is None or multiplier >= 1


def judgement_type(verdicts: Iterable[tuple[CaseVerdict, bool]], *, complete: bool) -> JudgementType:
    """Derive the judgement type from a submission's cases, each a verdict and whether it earns its full points.

    One judge error makes the judgement JE, which is judged again and counts against nobody. AC needs full points at
    every case of the problem (`complete`: the submission has them all), WA has no accepted case, PC is all between. A
    submission without cases is CE.
    """
    seen = list(verdicts)
    if not seen:
        return JudgementType.CE
    if any(verdict is CaseVerdict.JUDGE_ERROR for verdict, _ in seen):
        return JudgementType.JE
    accepted = [full for verdict, full in seen if verdict is CaseVerdict.ACCEPTED]
    if not accepted:
        return JudgementType.WA
    whole = complete and len(accepted) == len(seen) and all(accepted)
    return JudgementType.AC if whole else JudgementType.PC


T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Identical(Generic[T]):
    """A value that equals only itself. It is held, so that no other object gets its address."""

    of: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identical) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)

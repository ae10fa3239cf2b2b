"""Verdicts of cases, and which of a team's answers counts for each case: carry-over, best-case, best or last."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from app.domain.contests import Carry, Counting, Direction, Kind, ScoringRule


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


# The names of judgement types. AC alone counts as solved.
JUDGEMENT_TYPES = {
    JudgementType.AC: "accepted",
    JudgementType.PC: "partly correct",
    JudgementType.WA: "wrong answer",
    JudgementType.JE: "judging error",
    JudgementType.CE: "not an answer archive",
}


def is_full(multiplier: int | Fraction | None, *, absolute: bool) -> bool:
    """Does an accepted answer earn all it can, whatever others do? Under other scoring validity is all there is.

    `multiplier` is the share 0..1 that the checker gives; None: the checker gives none, and right is right.
    """
    return not absolute or multiplier is None or multiplier >= 1


def judgement_type(verdicts: Iterable[tuple[CaseVerdict, bool]], *, complete: bool) -> JudgementType:
    """Derive the judgement type from a submission's cases, each a verdict and whether it earns its full points.

    One judge error makes the judgement JE, which is judged again and counts against no one. AC needs full points at
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


Exact = int | Fraction


def pair(value: Exact | None) -> tuple[int | None, int | None]:
    """A number as the pair of columns that holds it."""
    if value is None:
        return None, None
    return int(value.numerator), int(value.denominator)


def exact(numerator: int | None, denominator: int | None) -> Exact | None:
    """The number a pair of columns holds: an int where it is one."""
    if numerator is None or denominator is None:
        return None
    return numerator if denominator == 1 else _fraction(numerator, denominator)


# Most are shares that many answers have: to reduce each again was a tenth of a cold board's time.
_fraction = lru_cache(maxsize=4096)(Fraction)
# Looked up once: `better` is called for each answer of a contest, and enums find their members slowly.
ACCEPTED, ABSOLUTE, MAXIMISE = CaseVerdict.ACCEPTED, Kind.ABSOLUTE, Direction.MAXIMISE


@dataclass(frozen=True, slots=True)
class RawScore:
    """The checker's result for one answer: a verdict, an exact raw score, and a multiplier for absolute scoring."""

    verdict: CaseVerdict
    raw: Exact | None = None
    multiplier: Exact | None = None

    @property
    def accepted(self) -> bool:
        """Is the answer accepted? Only accepted answers earn points or set a BEST."""
        return self.verdict is CaseVerdict.ACCEPTED


# A team at a problem.
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One submission of one team to one problem; `scores` by case name, None while it is unjudged.

    latest  when it last changed: at its submission, or at the end of its judgement
    """

    id: int
    team_id: str
    problem_id: str
    time: timedelta
    scores: Mapping[str, RawScore] | None
    latest: datetime | None = None

    @property
    def place(self) -> Place:
        """Its team at its problem."""
        return self.team_id, self.problem_id

    @property
    def failed(self) -> bool:
        """Did the judge fail on a case? Then the submission replaces nothing that counted before it."""
        return any(score.verdict is CaseVerdict.JUDGE_ERROR for score in (self.scores or {}).values())


Cells = Mapping[Place, Sequence[Attempt]]


def by_place(attempts: Iterable[Attempt]) -> dict[Place, list[Attempt]]:
    """Attempts by team and problem, each list in their order."""
    cells: defaultdict[Place, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        cells[attempt.place].append(attempt)
    return dict(cells)


@dataclass(frozen=True, slots=True)
class Counted:
    """The answer that counts for a case: its score, its submission, and the time of the last improvement."""

    score: RawScore
    submission_id: int
    improved: timedelta


Answers = Mapping[str, Counted]


def better(one: RawScore, other: RawScore | None, rule: ScoringRule) -> bool:
    """Is `one` strictly better than `other` under the rule? A rejected answer is better than nothing only."""
    if other is None:
        return True
    if one.verdict is not ACCEPTED:
        return False
    if other.verdict is not ACCEPTED:
        return True
    if rule.kind is ABSOLUTE:  # a better raw score with equal points is no improvement
        return (one.multiplier or 0) > (other.multiplier or 0)
    mine, theirs = one.raw or 0, other.raw or 0
    return mine > theirs if rule.direction is MAXIMISE else mine < theirs


def counted_answers(
    attempts: Iterable[Attempt], rule: ScoringRule, worth: Callable[[Answers], float] | None = None
) -> Answers:
    """Fold one team's judged attempts at one problem, in order of (time, id), into the answers that count.

    `worth` gives the points of a whole submission's answers; it is needed, and used, only where the best one counts.
    """
    if rule.counting is not Counting.BEST:
        return _last(answers for _, answers in histories(attempts, rule))
    if worth is None:
        raise ValueError("expected a way to tell which submission is best, found none")
    chosen: Answers = {}
    most = -1.0
    for _, answers in submission_answers(attempts, rule):
        points = worth(answers)
        if points > most:
            chosen, most = answers, points
    return chosen


def submission_answers(attempts: Iterable[Attempt], rule: ScoringRule) -> Iterator[tuple[Attempt, Answers]]:
    """Yield each judged attempt in order with its answers: its own, and carried-over ones for the other cases.

    A submission's own score and report show these, whichever answers count in the end.
    """
    return histories(attempts, replace(rule, counting=Counting.LAST))


def histories(attempts: Iterable[Attempt], rule: ScoringRule) -> Iterator[tuple[Attempt, Answers]]:
    """Yield each judged attempt in order of (time, id), with the answers that count after it."""
    fold = Fold(rule)
    for attempt in sorted((a for a in attempts if a.scores is not None), key=lambda a: (a.time, a.id)):
        yield attempt, fold.add(attempt)


@dataclass
class Fold:
    """One team's judged attempts at one problem so far: the answers that count, and the best of each case."""

    rule: ScoringRule
    counted: Answers = field(default_factory=dict)
    best: dict[str, Counted] = field(default_factory=dict)

    def add(self, attempt: Attempt) -> Answers:
        """Add the next attempt in order of (time, id); returns the answers that count after it."""
        if attempt.failed:
            return self.counted
        scores = list((attempt.scores or {}).items())
        self.counted = after = _after(attempt, scores, self.counted, self.best, self.rule)
        if self.rule.counting is Counting.BEST_CASE:
            self.best = after  # the same comparisons with the same outcome
        else:
            _remember_best(self.best, attempt, scores, after, self.rule)
        return self.counted

    def copy(self) -> Fold:
        """An independent copy: `counted` is never changed in place and may be shared, `best` is."""
        return Fold(self.rule, self.counted, dict(self.best))


def _last(each: Iterable[Answers]) -> Answers:
    last = deque(each, maxlen=1)
    return last[0] if last else {}


Judged = list[tuple[str, RawScore]]


def _after(attempt: Attempt, scores: Judged, before: Answers, best: Answers, rule: ScoringRule) -> dict[str, Counted]:
    """The counted answers after one more attempt."""
    after = dict(before) if rule.counting is Counting.BEST_CASE else dict(carried(before, best, rule.carry))
    for case, score in scores:
        old = before.get(case)
        if old is None or better(score, old.score, rule):
            after[case] = Counted(score, attempt.id, attempt.time)
        elif rule.counting is not Counting.BEST_CASE:
            after[case] = Counted(score, attempt.id, old.improved)
    return after


def carried(before: Answers, best: Answers, carry: Carry) -> Answers:
    """The answers carried over to the cases without a file in a new submission."""
    if carry is Carry.NONE:
        return {}
    return best if carry is Carry.BEST else before


def _remember_best(
    best: dict[str, Counted], attempt: Attempt, scores: Judged, counted: Answers, rule: ScoringRule
) -> None:
    for case, score in scores:
        old = best.get(case)
        if old is None or better(score, old.score, rule):
            now = counted[case]  # shared where equal: each case of each submission has one
            same = now.score is score and now.improved == attempt.time and now.submission_id == attempt.id
            best[case] = now if same else Counted(score, attempt.id, attempt.time)

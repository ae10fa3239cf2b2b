"""Which problems are in a contest, under which label, and how they are scored there."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints
from sqlalchemy.orm import Session

from app.domain.contests import Direction, Kind, ScoringRule
from app.domain.limits import read_limits, write_limits
from app.domain.rules import read_rule, write_rule
from app.domain.settings import read_settings
from app.services.bodies import Body, Line
from app.services.contests.bodies import LimitsBody
from app.services.contests.contests import contest_of
from app.services.errors import BadRequest, Conflict, NotFound
from app.services.names import did_you_mean
from app.storage import contests, problems
from app.storage.tables import ContestProblemRow, ProblemRow

Label = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x20\x7f/]+$", max_length=36)]
Rgb = Annotated[str, StringConstraints(pattern=r"^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$")]
Points = Annotated[int, Field(strict=True, ge=0, le=10**9)]
Ratio = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,9}([./][0-9]{1,9})?$")]
MOST_ORDINAL = 2**31 - 1


class Rule(Body):
    """How the problem is scored in this contest; what is left out is as the problem has it."""

    kind: Literal["absolute", "relative", "rank"] | None = None
    direction: Literal["maximise", "minimise"] | None = None
    counting: Literal["best-case", "best", "last"] | None = None
    carry: Literal["best", "latest", "none"] | None = None
    reference_counts: bool | None = None
    max_points: Points | Ratio | None = Field(None, description='a number, or an exact ratio such as "100/3"')


class EntryBody(Body):
    """A problem to be put into a contest. Without a label it gets the next free letter, and the last place."""

    id: Line = Field(description="the problem")
    label: Label | None = None
    ordinal: int | None = Field(None, ge=0, le=MOST_ORDINAL)
    rgb: Rgb | None = None
    color: Line | None = None
    rule: Rule = Rule()
    limits: LimitsBody = Field(default_factory=LimitsBody)


class EntryChange(Body):
    """What to change; what is left out stays. A rule, or limits, that are given replace the old ones."""

    id: Line | None = None
    label: Label | None = None
    ordinal: int | None = Field(None, ge=0, le=MOST_ORDINAL)
    rgb: Rgb | None = None
    color: Line | None = None
    rule: Rule | None = None
    limits: LimitsBody | None = None


class EntryView(BaseModel):
    """A problem's place in a contest, and the whole rule and limits that hold there."""

    id: str
    label: str
    ordinal: int
    rgb: str | None
    color: str | None
    rule: dict[str, Any]
    limits: dict[str, Any]


def problem_row(session: Session, problem_id: str) -> ProblemRow:
    """The problem a contest refers to."""
    problem = problems.get(session, problem_id)
    assert problem is not None, "a foreign key"
    return problem


def checked_rule(session: Session, row: ContestProblemRow, rule: Rule) -> dict[str, Any]:
    """The rule as it is kept; raises BadRequest where it is not understood."""
    kept = rule.model_dump(exclude_none=True)
    _read(session, kept, problem_row(session, row.problem_id))
    return kept


def entry_of(session: Session, contest_id: str, problem_id: str) -> ContestProblemRow:
    """The problem's place in the contest; raises NotFound."""
    contest_of(session, contest_id)
    row = contests.entry(session, contest_id, problem_id)
    if row is None:
        known = [each.problem_id for each in contests.entries(session, contest_id)]
        raise NotFound(f"no problem {problem_id!r} in contest {contest_id!r}{did_you_mean(problem_id, known)}")
    return row


def view(session: Session, row: ContestProblemRow, problem: ProblemRow) -> EntryView:
    """Show an entry with its whole rule; raises BadRequest where the rule is not understood."""
    rule = _read(session, row.rule, problem)
    settings = read_settings(contest_of(session, row.contest_id).settings)
    return EntryView(
        id=row.problem_id,
        label=row.label,
        ordinal=row.ordinal,
        rgb=row.rgb,
        color=row.color,
        rule=write_rule(rule),
        limits=write_limits(read_limits(row.limits or {}, settings.limits)),
    )


def _read(session: Session, document: dict[str, Any], problem: ProblemRow) -> ScoringRule:
    scoring = problem.settings["scoring"]
    most = problems.max_points(session).get(problem.id, Fraction(0))
    try:
        return read_rule(document, Kind(scoring["kind"]), Direction(scoring["direction"]), most)
    except ValueError as error:
        raise BadRequest(str(error)) from None


def check_label(session: Session, row: ContestProblemRow) -> None:
    """Raise Conflict where another problem of the contest has this label."""
    with session.no_autoflush:  # else the database would refuse the label before we can say why
        there = contests.entries(session, row.contest_id)
    for other in there:
        if other.problem_id != row.problem_id and other.label == row.label:
            raise Conflict(f"label: {row.label!r} is the label of problem {other.problem_id!r}")

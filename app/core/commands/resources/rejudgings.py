"""Rejudgings and the differences they make."""

from __future__ import annotations

from typing_extensions import TypedDict


class Selection(TypedDict):
    """The submissions that a rejudging judges again; null: any."""

    problem_id: str | None
    team_id: str | None
    submission_ids: list[str] | None


class Rejudging(TypedDict):
    """A rejudging; `progress` is 0 to 1, `href` its path below /api."""

    id: str
    contest_id: str
    reason: str
    selection: Selection
    changes: list[str]
    state: str
    judged: int
    total: int
    progress: float
    without_answer: list[str]
    reference_run: str | None
    created: str
    href: str


class CaseSide(TypedDict):
    """A test case of a submission, before or after."""

    verdict: str | None
    raw: int | float | None
    points: float | None


class CaseDifference(TypedDict):
    """A test case that is judged otherwise."""

    name: str
    before: CaseSide
    after: CaseSide


class SubmissionSide(TypedDict):
    """A submission, before or after."""

    judgement_type_id: str | None
    points: float | None


class SubmissionDifference(TypedDict):
    """A submission that is judged otherwise, with its cases."""

    submission_id: str
    team_id: str | None
    problem_id: str
    before: SubmissionSide
    after: SubmissionSide
    cases: list[CaseDifference]


class TeamSide(TypedDict):
    """A team, before or after."""

    rank: int | None
    points: float | None


class TeamDifference(TypedDict):
    """A team whose points or rank change, for judges and on the public board."""

    name: str
    before: TeamSide
    after: TeamSide
    public_before: TeamSide
    public_after: TeamSide


class TypeChange(TypedDict):
    """The number of submissions that go from one judgement type to another."""

    before: str | None
    after: str | None
    count: int


class Counts(TypedDict):
    """The size of the difference that a rejudging makes."""

    submissions: int
    submissions_changed: int
    cases_changed: int
    teams_changed: int
    ranks_changed: int
    types: list[TypeChange]


class Difference(TypedDict):
    """The difference that a rejudging makes, as of a version; `newcomers` are submissions that came after it began."""

    rejudging: Rejudging
    version: str
    newcomers: list[str]
    counts: Counts
    submissions: list[SubmissionDifference]
    teams: list[TeamDifference]

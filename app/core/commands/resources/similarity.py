"""Similar answers and sources of two teams."""

from __future__ import annotations

from typing_extensions import TypedDict


class AlikeSubmission(TypedDict):
    """The submission in which a team first had something alike."""

    team_id: str
    submission_id: str
    contest_time: str


class AlikeSources(TypedDict):
    """A pair of teams with sources alike; `ratio` is 0 to 1."""

    problem_id: str
    team_ids: list[str]
    kind: str
    ratio: float
    weight: float
    submissions: list[AlikeSubmission]


class AlikeAnswers(AlikeSources):
    """A pair of teams with answers alike: in so many of the cases in which that tells something."""

    shared_cases: int
    telling_cases: int


class Similarity(TypedDict):
    """The pairs of a contest; `unread` of the `texts` could not be read in the time a request has."""

    texts: int
    unread: int
    left_off: int
    pairs: list[AlikeAnswers]
    sources: list[AlikeSources]


class SharedAnswer(AlikeSubmission):
    """One team's answer to a case."""

    size: int
    verdict: str | None
    raw: int | float | None


class SharedSource(AlikeSubmission):
    """One team's source."""

    name: str


class SharedSources(TypedDict):
    """Two sources alike."""

    problem_id: str
    kind: str
    ratio: float
    weight: float
    first_team_id: str
    files: list[SharedSource]


class SharedCase(TypedDict):
    """Two answers to a case alike; `why_nothing` is why that tells nothing."""

    case: str
    problem_id: str
    kind: str
    weight: float
    why_nothing: str | None
    sharing_teams: int
    first_team_id: str
    answers: list[SharedAnswer]


class SideBySide(TypedDict):
    """Two teams' answers and sources alike."""

    team_ids: list[str]
    cases: list[SharedCase]
    sources: list[SharedSources]

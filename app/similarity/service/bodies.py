"""Documents of likenesses between teams."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.submissions.service.report_bodies import SourceFile


class AlikeSubmission(BaseModel):
    """A submission that has something alike with another team's."""

    team_id: str
    submission_id: str
    contest_time: str


class AlikeSources(BaseModel):
    """Two teams with sources that are alike in one problem."""

    problem_id: str
    team_ids: list[str]
    kind: str
    ratio: float
    weight: float
    first_team_id: str
    submissions: list[AlikeSubmission]


class AlikeAnswers(AlikeSources):
    """Two teams with answers that are alike in one problem."""

    shared_cases: int
    telling_cases: int = Field(description="cases in which being alike tells something")


class SimilarityView(BaseModel):
    """Pairs of teams, the most telling first."""

    contest_id: str
    texts: int
    unread: int = Field(description="texts that were not read in the time a request has; ask again for the rest")
    left_off: int
    pairs: list[AlikeAnswers]
    sources: list[AlikeSources]


class SharedAnswer(AlikeSubmission):
    """A team's answer to a case that is alike."""

    sha256: str
    size: int
    verdict: str | None
    raw: int | float | None
    href: str


class SharedSource(SourceFile, AlikeSubmission):
    """A team's source file that is alike."""


class Likeness(BaseModel):
    """The extent to which two teams share sources, or answers to a test case."""

    problem_id: str
    kind: str
    ratio: float
    weight: float
    why_nothing: str | None = Field(description="why it tells nothing; null: it tells something")
    sharing_teams: int
    first_team_id: str


class SharedSources(Likeness):
    """Sources of two teams that are alike."""

    files: list[SharedSource]


class SharedCase(Likeness):
    """A test case to which two teams sent answers that are alike."""

    case: str
    answers: list[SharedAnswer]


class Comparison(BaseModel):
    """The likenesses of two teams, side by side."""

    team_ids: list[str]
    cases: list[SharedCase]
    sources: list[SharedSources]

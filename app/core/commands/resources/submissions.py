"""Submissions, their reports, and the changes of both as they are streamed."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class Submission(TypedDict):
    """A submission that has been stored."""

    id: str
    contest_time: str


class ReportedFile(TypedDict):
    """A file of a submission; `ignored` is why it was not taken."""

    name: str
    ignored: str | None


class Message(TypedDict):
    """A checker's message in English."""

    text: str


class ReportedImage(TypedDict):
    """An image that a checker left, and its address below /api."""

    name: str
    size: int
    href: str


class ReportedCase(TypedDict):
    """One test case of a report."""

    name: str
    max_points: float
    points: float | None
    file: str | None
    carried_over_from: str | None
    verdict: str | None
    raw: int | float | None
    message: Message | None
    images: NotRequired[list[ReportedImage]]


class ReportedGroup(TypedDict):
    """One group of test cases of a report; `why` is why it has no points."""

    name: str
    points: float
    max_points: float
    why: str | None


class Verdict(TypedDict):
    """The judgement of a submission; without a type it goes on."""

    judgement_type_id: str | None


class Report(TypedDict):
    """The report on a submission: its verdict, files, cases and groups."""

    submission_id: str
    judgement: Verdict
    points: float | None
    max_points: float
    files: list[ReportedFile]
    cases: list[ReportedCase]
    groups: list[ReportedGroup]


class NewSubmission(TypedDict):
    """A submission as the stream of verdicts has it."""

    id: str
    problem_id: str
    team_id: str | None
    contest_time: str


class NewJudgement(TypedDict):
    """A judgement as the stream of verdicts has it; without a type it has only begun."""

    submission_id: str
    judgement_type_id: NotRequired[str | None]
    score: NotRequired[float | None]
    current: NotRequired[bool]
    end_contest_time: NotRequired[str | None]


class SubmissionChange(TypedDict):
    """A submission that came in, or null where it is gone."""

    type: Literal["submissions"]
    data: NewSubmission | None


class JudgementChange(TypedDict):
    """A judgement that changed, or null where it is gone."""

    type: Literal["judgements"]
    data: NewJudgement | None

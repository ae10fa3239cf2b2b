"""Problems of the server, their test cases, and the jobs that make expected answers."""

from __future__ import annotations

from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict


class TestCase(TypedDict):
    """A test case as admins see it."""

    group: str
    name: str
    size: int
    max_points: float
    answer_size: int | None
    provenance: dict[str, JsonValue]


class ContestCase(TypedDict):
    """A test case as a contest shows it: a sample, provisional or final."""

    name: str
    kind: str


class StoredCase(TypedDict):
    """A test case that has been put; without an answer `reference_run` is the job that makes one."""

    answer_sha256: str | None
    reference_run: str | None


class SizedCase(TypedDict):
    """A test case that has been put, with the size of its input in bytes."""

    size: int


class CasePreview(TypedDict):
    """A test case that a change adds, removes or changes."""

    name: str
    group: str
    change: str
    parts: list[str]


class ContestPreview(TypedDict):
    """A contest that a change reaches, or `why` it does not."""

    id: str
    version: int
    goes_along: bool
    why: str | None
    submissions: int
    teams: int


class Preview(TypedDict):
    """What a change of a problem would do."""

    version: int
    outcome: str
    changes: list[str]
    testcases: list[CasePreview]
    contests: list[ContestPreview]
    submissions: int
    teams: int


class Version(TypedDict):
    """A version of a problem, and the contests that have it; `pinned` ones stay with it."""

    number: int
    created: str
    account_id: str | None
    note: str
    contests: list[str]
    pinned: list[str]


class VersionCase(TypedDict):
    """A test case of a version."""

    group: str
    name: str
    max_points: float
    sha256: str
    answer_sha256: str | None


class VersionDetails(Version):
    """A version with its test cases."""

    testcases: list[VersionCase]
    sha256: str


class FieldDifference(TypedDict):
    """A field in which two versions differ."""

    where: str
    before: str
    after: str


class VersionDiff(TypedDict):
    """The difference between two versions."""

    before: int
    after: int
    judging: bool
    points: bool
    fields: list[FieldDifference]


class ProblemDetails(TypedDict):
    """A problem with its test cases."""

    id: str
    testcases: list[TestCase]


class PackageFault(TypedDict):
    """An error or a warning about a file of a package."""

    severity: str
    file: str
    where: str
    line: int | None
    message: str


class StoredProblem(TypedDict):
    """A problem that has been brought in."""

    id: str
    test_data_count: int
    warnings: NotRequired[list[PackageFault]]
    reference_run: NotRequired[str | None]


class CaseResult(TypedDict, total=False):
    """The result of a reference run for a case: a raw score, or an error; `rejudging` is where the answer waits."""

    error: str
    raw: int | float | None
    optimal: bool
    method: str
    seed: int
    seconds: float
    contest: str
    rejudging: int | str


class Against(TypedDict):
    """Points against one player, and the games with it."""

    points: float
    games: int


class TournamentRow(TypedDict):
    """A player's row of a cross table."""

    name: str
    elo: float
    points: float
    games: int
    lost_by_fault: int
    against: dict[str, Against]


class Tournament(TypedDict):
    """The cross table of a tournament, after so many games."""

    game: str
    count: int
    players: list[TournamentRow]


class JobResult(TypedDict, total=False):
    """The result of a job: of a reference run by test case, of a tournament its table, or why all of it failed."""

    error: str
    cases: dict[str, CaseResult]
    tournament: Tournament


class JobState(TypedDict):
    """Long work on the server: queued, running, done, failed or cancelled."""

    id: str
    state: str


class Job(JobState):
    """A job with its progress, 0 to 1, its log and its result."""

    progress: float
    log: str
    result: JobResult | None

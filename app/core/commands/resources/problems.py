"""Problems of the server, their test cases, and the jobs that make expected answers."""

from __future__ import annotations

from typing_extensions import TypedDict


class ContestCase(TypedDict):
    """A test case as a contest shows it: a sample, provisional or final."""

    name: str
    kind: str


class SizedCase(TypedDict):
    """A test case that has been put, with the size of its input in bytes."""

    size: int


class PackageFault(TypedDict):
    """An error or a warning about a file of a package."""

    severity: str
    file: str
    where: str
    line: int | None
    message: str


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

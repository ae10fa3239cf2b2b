"""The state of a server."""

from __future__ import annotations

from typing_extensions import TypedDict


class Readiness(TypedDict):
    """The readiness of a server to take and judge submissions; other properties are shown as they are."""

    ready: bool
    sandbox: dict[str, str]


class FileFault(TypedDict):
    """A stored file that is missing or damaged."""

    sha256: str


class StoredFiles(TypedDict):
    """The stored files known to be missing or damaged."""

    faults: list[FileFault]


class Advice(TypedDict):
    """A part that is not well, and what to do about it."""

    what: str
    urgent: bool
    advice: str


class Process(TypedDict):
    """A server or a worker."""

    kind: str
    host: str
    pid: int
    version: str
    since: str
    alive: bool
    graders: int


class Replica(TypedDict):
    """A server that follows the database."""

    name: str
    state: str | None
    seconds_behind: float | None
    bytes_behind: int | None


class Database(TypedDict):
    """The database of a service."""

    kind: str
    version: str
    size: int
    replicas: list[Replica]


class Queue(TypedDict):
    """A queue of the broker."""

    name: str
    ready: int
    delayed: int
    consumers: int


class Broker(TypedDict):
    """The broker, and what workers have of it."""

    error: str
    queues: list[Queue]
    unacknowledged: int


class Judging(TypedDict):
    """What waits, and what the last minutes brought."""

    waiting: int
    oldest_seconds: float | None
    waiting_again: int
    submissions_per_second: float
    verdict_seconds_median: float | None
    verdict_seconds_95: float | None


class RunningContest(TypedDict):
    """A contest that is going on."""

    id: str
    end: str | None
    frozen: bool
    paused: bool


class NextEvent(TypedDict):
    """The next moment at which a contest changes."""

    contest_id: str
    event: str
    time: str
    seconds: float


class Files(TypedDict):
    """The stored files."""

    place: str
    free_bytes: int | None
    replica: str | None
    damaged: int


class Backup(TypedDict):
    """The last backup."""

    made: str
    age_seconds: float
    place: str
    files: int


class Status(TypedDict):
    """The state of an installation."""

    time: str
    version: str
    processes: list[Process]
    database: Database
    broker: Broker | None
    judging: Judging
    judge_errors: int
    contests: list[RunningContest]
    next_event: NextEvent | None
    files: Files
    backup: Backup | None


class StatusWithAdvice(TypedDict):
    """The state of an installation, and what to do."""

    ready: bool
    status: Status
    advice: list[Advice]

"""The puzzles of a day as readers get them: made once, kept in the data folder, and without solutions on their day.

- The puzzles of a day, made in a process that is bounded, gives way to all others, and can be killed.
"""

from __future__ import annotations

import datetime
import os
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile

import structlog
from anyio import CapacityLimiter, sleep
from anyio.to_thread import run_sync
from cachetools import LRUCache
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from app.core.clics import example
from app.core.errors import Unavailable
from app.core.files.temporary import SOLVER_PREFIX, locked_folder
from app.core.messages import N_
from app.core.shared_work import SharedWork
from app.daily.service.days import today
from app.judging.service.solver_process import Bounds, SolverFailed, SolverProcess
from app.sandbox.environment import clean_environment

MODULE = "solvers.daily"
MEMORY = 256
# Graders go first: a puzzle can wait, a contest cannot.
NICE = "--nice=5"
# Time for what takes half a second of an idle core.
SECONDS = 120.0


def make_puzzles(process: SolverProcess, day: date) -> bytes:
    """Make a day's puzzles: the JSON of `python -m solvers.daily`. Raises SolverFailed, also where it is killed."""
    with locked_folder(SOLVER_PREFIX) as folder:
        made = folder / "puzzles.json"
        environment = {**clean_environment(), "TMPDIR": str(folder)}
        with made.open("wb") as target:
            process.start(
                [day.isoformat(), NICE], environment, target=target, bounds=Bounds(MEMORY, folder), module=MODULE
            )
        ended = process.listen(lambda _report: None, SECONDS, f"it took more than {SECONDS:g} seconds")
        if ended.status != 0:
            raise SolverFailed(ended.killed or ended.complaint or f"it ended with status {ended.status}")
        return made.read_bytes()


# A part of the names of the files: that of `solvers.daily.draws`.
EDITION = 1
# Days; one takes some 10 KB.
IN_MEMORY = 64
# Days that may wait to be made: then a crawler of back numbers is sent away, and today's readers are not.
MOST_WAITING = 20
SECONDS_UNTIL_BACK = 30
# Time that a server has to get ready by itself.
SECONDS_AFTER_START = 30.0
SECONDS_BETWEEN_LOOKS = 300.0

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.daily")


PUZZLE = {
    "kind": "netgame",
    "size": "small",
    "instance": "4\n0 0 1 0\n0 0 0 1\n1 0 1 1\n0 1 1 1\n",
    "x": None,
    "y": None,
    "z": 1,
    "answer": None,
}


@example(PUZZLE)
class DailyPuzzle(BaseModel):
    """A puzzle of a day: an input of its kind's problem, and the levels to reach."""

    kind: str = Field(description="optimiza, comesolo or netgame")
    size: str = Field(description="small, medium or large")
    instance: str = Field(description="the input, in the form of the kind's problem")
    x: int | None = Field(description="what a careless player collects; null where a puzzle is won or lost")
    y: int | None = Field(description="what a good player collects; null where a puzzle is won or lost")
    z: int = Field(description="the proven maximum")
    answer: str | None = Field(description="a best answer, in the form of the problem; null until the day is over")


class Puzzle(DailyPuzzle):
    """A puzzle with its answer; `drawn` is the number of candidates up to this one."""

    answer: str
    drawn: int


@dataclass(frozen=True, slots=True)
class Day:
    """All puzzles of a day."""

    date: datetime.date
    puzzles: Sequence[Puzzle]

    @property
    def past(self) -> bool:
        """Whether the day is over, so that its solutions may be seen."""
        return self.date < today()

    @property
    def by_kind(self) -> Mapping[str, Sequence[Puzzle]]:
        """The puzzles of each kind, the small ones first."""
        kinds: dict[str, list[Puzzle]] = {}
        for puzzle in self.puzzles:
            kinds.setdefault(puzzle.kind, []).append(puzzle)
        return kinds

    def puzzle(self, kind: str, size: str) -> Puzzle:
        """The puzzle of a kind and a size."""
        return next(puzzle for puzzle in self.puzzles if (puzzle.kind, puzzle.size) == (kind, size))


READER = TypeAdapter(Day)


class DailyPuzzles:
    """Days by their dates: from memory, from the folder, or made by a process, one at a time for all who wait.

    The folder is a cache: a day gives the same puzzles whenever it is made, so that files may be removed.
    """

    def __init__(self, folder: Path, make: Callable[[SolverProcess, datetime.date], bytes] = make_puzzles) -> None:
        self._folder = folder
        self._make_by = make
        self._known: LRUCache[datetime.date, Day] = LRUCache(IN_MEMORY)
        self._work = SharedWork()
        self._one = CapacityLimiter(1)
        self._waiting = 0
        self._lock = threading.Lock()
        self._process: SolverProcess | None = None
        self._closed = False

    async def of(self, day: datetime.date) -> Day:
        """The puzzles of a day; raises Unavailable where they cannot be made now."""
        known = self._known.get(day)
        if known is None:
            known = self._known[day] = await self._work.joined(day, partial(self._made, day))
        return known

    async def keep_made(
        self,
        is_busy: Callable[[], Awaitable[bool]],
        after: float = SECONDS_AFTER_START,
        every: float = SECONDS_BETWEEN_LOOKS,
    ) -> None:
        """Make the puzzles of today and tomorrow before their first reader comes, while there is nothing to judge.

        Goes on until it is cancelled; `after` and `every` are seconds.
        """
        await sleep(after)
        while True:
            for day in (today(), today() + timedelta(days=1)):
                if await is_busy():
                    break
                with suppress(Unavailable):  # it is in the log; the next look tries again
                    await self.of(day)
            await sleep(every)

    def close(self) -> None:
        """Kill the process that makes puzzles, and start none again."""
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None:
            process.kill("the service stops")

    async def _made(self, day: datetime.date) -> Day:
        if self._waiting >= MOST_WAITING and day != today():
            raise Unavailable(
                N_("the puzzles of %(day)s have to be made, after others; try again"), SECONDS_UNTIL_BACK, day=day
            )
        self._waiting += 1
        try:
            return await run_sync(self._read_or_make, day, limiter=self._one)
        except SolverFailed as error:
            log.warning("the puzzles of a day cannot be made", day=day.isoformat(), error=str(error))
            raise Unavailable(
                N_("the puzzles of %(day)s cannot be made now; try again"), SECONDS_UNTIL_BACK, day=day
            ) from None
        finally:
            self._waiting -= 1

    def _read_or_make(self, day: datetime.date) -> Day:
        path = self._folder / f"{EDITION}-{day.isoformat()}.json"
        try:
            return READER.validate_json(path.read_bytes())
        except (OSError, ValidationError):
            made = self._make(day)
        self._keep(path, made)
        return READER.validate_json(made)

    def _make(self, day: datetime.date) -> bytes:
        process = SolverProcess()
        with self._lock:
            if self._closed:
                raise SolverFailed("the service stops")
            self._process = process
        try:
            return self._make_by(process, day)
        finally:
            with self._lock:
                self._process = None

    def _keep(self, path: Path, made: bytes) -> None:
        """Write a file whole or not at all; a folder that takes none costs only time."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(made)
            os.replace(file.name, path)
        except OSError as error:
            log.warning("the puzzles of a day cannot be kept", day=path.stem, error=str(error))

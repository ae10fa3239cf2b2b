"""Puzzles of the day: made once a day by a process and kept as a file, shown without answers until the day is over.

A day begins at 00:00 UTC, and no one sees the puzzles of a day that has not begun. The process that makes a day is
bounded, gives way to all others, and can be killed. The other player of a net answers here, so that nothing that says
who wins leaves the server.
"""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from types import MappingProxyType

import structlog
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from app.core import clics, clock
from app.core.files.temporary import SOLVER_PREFIX, locked_folder, whole_file
from app.core.messages import N_, BadRequest, Message, NotFound, Unavailable, did_you_mean
from app.judging.service.solver_process import Bounds, SolverFailed, SolverProcess
from app.sandbox.child import clean_environment
from checkers.doors import Rejected
from games.netgame import GAME

# The day on which Optimiza was published; back numbers go back to it.
FIRST_DAY = date(2010, 2, 26)
# The kinds of puzzles by their titles, in the order of a sheet.
KINDS: Mapping[str, str] = MappingProxyType({"optimiza": "Optimiza", "comesolo": "Comesolo", "netgame": "The Net Game"})
SIZES = ("small", "medium", "large")
FORM = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def today() -> date:
    """The day that it is by the service's clock, in UTC."""
    return clock.utc_now().date()


def open_day(text: str) -> date:
    """A day by its name, YYYY-MM-DD, whose puzzles may be seen.

    Raises NotFound for other text, days to come, and days before the first.
    """
    try:
        # Python reads other forms of ISO 8601, too, and one day would have many addresses.
        day = date.fromisoformat(text if FORM.fullmatch(text) else "")
    except ValueError:
        raise NotFound(N_("expected a day such as %(day)s, found %(found)r"), day=today(), found=text[:40]) from None
    if day > today():
        raise NotFound(N_("the puzzles of %(day)s come on that day, at 00:00 UTC"), day=day)
    if day < FIRST_DAY:
        raise NotFound(N_("the first puzzles are those of %(first)s, found %(day)s"), first=FIRST_DAY, day=day)
    return day


def kind_called(name: str) -> str:
    """A kind of puzzle; raises NotFound with the nearest name where there is none."""
    if name not in KINDS:
        raise NotFound(did_you_mean(Message(N_("no kind of puzzle %(name)r"), name=name[:40]), name, KINDS))
    return name


def size_called(name: str) -> str:
    """A size of puzzle; raises NotFound with the nearest name where there is none."""
    if name not in SIZES:
        raise NotFound(did_you_mean(Message(N_("no size %(size)r"), size=name[:40]), name, SIZES))
    return name


PUZZLE = {
    "kind": "netgame",
    "size": "small",
    "instance": "4\n0 0 1 0\n0 0 0 1\n1 0 1 1\n0 1 1 1\n",
    "x": None,
    "y": None,
    "z": 1,
    "answer": None,
}


@clics.example(PUZZLE)
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


@clics.example({"date": "2026-11-22", "past": False, "puzzles": [PUZZLE]})
class DailyPuzzles(BaseModel):
    """All puzzles of a day; a day begins at 00:00 UTC."""

    date: str
    past: bool = Field(description="the day is over: its puzzles have their answers")
    puzzles: list[DailyPuzzle]


@clics.example({"cut": 3})
class Reply(BaseModel):
    """The other player's cut in a net of the day; null: nothing is left to cut, and the player who asked has won."""

    cut: int | None


def day_view(day: Day) -> DailyPuzzles:
    """Show a day; its answers only once it is over."""
    return DailyPuzzles(
        date=day.date.isoformat(), past=day.past, puzzles=[puzzle_view(day, puzzle) for puzzle in day.puzzles]
    )


def puzzle_view(day: Day, puzzle: Puzzle) -> DailyPuzzle:
    """Show a puzzle; its answer only once the day is over."""
    return DailyPuzzle(**puzzle.model_dump(exclude={"answer", "drawn"}), answer=puzzle.answer if day.past else None)


# A part of the names of the files: that of `solvers.daily.draws`.
EDITION = 1
MODULE = "solvers.daily"
MEMORY = 256
# Graders go first: a puzzle can wait, a contest cannot.
NICE = "--nice=5"
# Time for what takes half a second of an idle core.
SECONDS = 120.0
# Requests that may wait for a day to be made: then a crawler of back numbers is refused, and today's readers are not.
MOST_WAITING = 20
SECONDS_UNTIL_BACK = 30

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.daily")


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


class Puzzles:
    """Days by their dates: from the folder, or made by one process at a time.

    The folder is a cache: a day gives the same puzzles whenever it is made, so that files may be removed.
    """

    def __init__(self, folder: Path, make: Callable[[SolverProcess, datetime.date], bytes] = make_puzzles) -> None:
        self._folder = folder
        self._make = make
        self._one = CapacityLimiter(1)  # guarantee 6: back numbers take one process, whoever asks for them
        self._process: SolverProcess | None = None
        self._closed = False

    async def of(self, day: datetime.date) -> Day:
        """The puzzles of a day; raises Unavailable where they cannot be made now."""
        if (stored := self._read(day)) is not None:  # some 10 KB
            return stored
        asked = self._one.statistics()
        if asked.borrowed_tokens + asked.tasks_waiting >= MOST_WAITING and day != today():
            raise Unavailable(
                N_("the puzzles of %(day)s have to be made, after others; try again"), SECONDS_UNTIL_BACK, day=day
            )
        try:
            return await run_sync(self._read_or_make, day, limiter=self._one)
        except SolverFailed as error:
            log.warning("the puzzles of a day cannot be made", day=day.isoformat(), error=str(error))
            raise Unavailable(
                N_("the puzzles of %(day)s cannot be made now; try again"), SECONDS_UNTIL_BACK, day=day
            ) from None

    def close(self) -> None:
        """Kill the process that makes puzzles, and start none again."""
        self._closed = True
        if (process := self._process) is not None:
            process.kill("the service stops")

    def _path(self, day: datetime.date) -> Path:
        return self._folder / f"{EDITION}-{day.isoformat()}.json"

    def _read(self, day: datetime.date) -> Day | None:
        try:
            return READER.validate_json(self._path(day).read_bytes())
        except (OSError, ValidationError):
            return None

    def _read_or_make(self, day: datetime.date) -> Day:
        if (stored := self._read(day)) is not None:  # made while this request waited
            return stored
        self._process = process = SolverProcess()
        if self._closed:  # asked after the process is set: close() either finds it or was here before
            raise SolverFailed("the service stops")
        made = self._make(process, day)
        self._keep(self._path(day), made)
        return READER.validate_json(made)

    def _keep(self, path: Path, made: bytes) -> None:
        """Write a file whole or not at all; a folder that takes none costs only time."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:  # another server may read it now, or write the same one
                file.write(made)
        except OSError as error:
            log.warning("the puzzles of a day cannot be stored", day=path.stem, error=str(error))


# Characters of a list of cuts: the largest net of a day has fewer.
LONGEST_CUTS = 400


def answering_cut(instance: str, cuts: str) -> int | None:
    """The other player's cut after these (with commas between them), one that wins if there is any; None: all is cut.

    Raises BadRequest where the cuts are none of a game, or where it is not the other player's turn.
    """
    moves = cuts.split(",")
    position = GAME.start(instance)
    try:
        for move in moves:
            position = GAME.apply(position, move)
    except Rejected:
        moves = []
    if len(moves) % 2 == 0:
        raise BadRequest(
            N_("expected the ropes that were cut, yours first and last, such as 3,7,1, found %(found)r"),
            where="cuts",
            found=cuts[:40],
        )
    sides = set(position.sides)

    @cache
    def is_won(whole: int) -> bool:
        # At most 2^14 sets of cells, a tenth of a second. The game's own opponents load a compiler that takes seconds.
        return any(whole & side and not is_won(whole & ~side) for side in sides)

    ropes = position.cuttable
    winning = (rope for rope in ropes if not is_won(position.whole & ~position.sides[rope - 1]))
    return next(winning, ropes[0] if ropes else None)

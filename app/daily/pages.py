"""Pages of the puzzles of the day: today's, each puzzle with its board, sheets for paper, back numbers."""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Any, cast

from fastapi import Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from app.core.messages import N_
from app.core.pages.forms import language_of
from app.core.pages.languages import _, gettext, speaking
from app.core.pages.visits import Visit
from app.daily.drawing import drawing, solution_steps
from app.daily.service import FIRST_DAY, KINDS, SIZES, Day, Puzzle, Puzzles, kind_called, open_day, size_called, today

RULES: Mapping[str, str] = MappingProxyType(
    {
        "optimiza": N_(
            "Start on any cell. From a cell with the number k, go exactly k cells straight on, in one of eight "
            "directions; who leaves the board on one side comes in on the other. The number that you land on must be "
            "k or more, and no cell may be landed on twice. Collect the greatest sum, the start included."
        ),
        "comesolo": N_(
            "A piece jumps over an adjacent piece, in one of eight directions, onto the empty cell behind it, and eats "
            "it. Eat as many pieces as you can."
        ),
        "netgame": N_(
            "Two players cut ropes in turn. A rope may be cut while it is a side of a whole cell, whose four sides are "
            "all there. Who cannot cut loses. You cut first: only one cut wins."
        ),
    }
)
# The sizes, by the words for them.
NAMES: Mapping[str, str] = MappingProxyType(dict(zip(SIZES, (N_("small"), N_("medium"), N_("large")), strict=True)))


@dataclass(frozen=True, slots=True)
class Shown:
    """A puzzle with its drawings; `solution` and `steps` are empty while they may not be seen."""

    puzzle: Puzzle
    drawing: Markup
    solution: Markup | None
    steps: list[str]


async def _day(request: Request, day: str) -> Day:
    """The day that the address names."""
    return await cast(Puzzles, request.app.state.daily).of(open_day(day))


async def _today(request: Request) -> Day:
    return await cast(Puzzles, request.app.state.daily).of(today())


async def _solved(request: Request, day: str) -> Day:
    """The day whose solutions stand below a sheet: the same day once it is over, until then the day before."""
    asked = open_day(day)
    solved = asked if asked < today() else max(FIRST_DAY, asked - timedelta(days=1))
    return await cast(Puzzles, request.app.state.daily).of(solved)


TheDay = Annotated[Day, Depends(_day)]


def _shown(day: Day, puzzle: Puzzle) -> Shown:
    """A puzzle as pages show it, in the language that is spoken."""
    name = f"{gettext(KINDS[puzzle.kind])}, {gettext(NAMES[puzzle.size])}, {day.date}"
    given = Markup(drawing(puzzle, name))
    if not day.past:
        return Shown(puzzle, given, None, [])
    solution = drawing(puzzle, _("Solution: %(puzzle)s", puzzle=name), solved=True)
    return Shown(puzzle, given, Markup(solution), _in_words(puzzle.kind, solution_steps(puzzle)))


def _in_words(kind: str, steps: Sequence[Sequence[str]]) -> list[str]:
    if kind == "optimiza":
        return [f"({row}, {column})" for row, column in steps]
    if kind == "comesolo":
        return [_("(%(r1)s, %(c1)s) to (%(r2)s, %(c2)s)", r1=a, c1=b, r2=c, c2=d) for a, b, c, d in steps]
    return [_("cut rope %(rope)s", rope=rope) for (rope,) in steps]


def _all_shown(visit: Visit, day: Day) -> Mapping[str, list[Shown]]:
    with speaking(language_of(visit.request)):
        return {kind: [_shown(day, puzzle) for puzzle in puzzles] for kind, puzzles in day.by_kind.items()}


def daily_today(visit: Visit, made: Annotated[Day, Depends(_today)]) -> HTMLResponse:
    """The puzzles of this day."""
    return daily_day(visit, made)


def daily_day(visit: Visit, made: TheDay) -> HTMLResponse:
    """The puzzles of a day."""
    return _page("day", visit, made, shown=_all_shown(visit, made))


def daily_puzzle(visit: Visit, made: TheDay, kind: str, size: str) -> HTMLResponse:
    """A puzzle with its board."""
    one = _all_shown(visit, made)[kind_called(kind)][SIZES.index(size_called(size))]
    return _page("puzzle", visit, made, kind=kind, size=size, one=one)


def daily_sheet(visit: Visit, made: TheDay, solved: Annotated[Day, Depends(_solved)]) -> HTMLResponse:
    """A day's puzzles on A4. A past day has its own solutions upside down, today those of the day before."""
    solutions = _all_shown(visit, solved) if solved.past else {}
    return _page("sheet", visit, made, shown=_all_shown(visit, made), solved=solved, solutions=solutions)


def _page(name: str, visit: Visit, made: Day, **values: Any) -> HTMLResponse:
    """A page about a day, with the days before and after it as far as there are puzzles of them."""
    before, after = made.date - timedelta(days=1), made.date + timedelta(days=1)
    return visit.page(
        f"daily/{name}.html",
        day=made,
        kinds=KINDS,
        sizes=NAMES,
        rules=RULES,
        before=before if before >= FIRST_DAY else None,
        after=after if after <= today() else None,
        **values,
    )


def daily_archive(visit: Visit, month: Annotated[str, Query(max_length=20)] = "") -> HTMLResponse:
    """The days of a month that may be seen, this month's by default."""
    last = today()
    first = open_day(f"{month}-01" if month else f"{last:%Y-%m}-01") if month != f"{FIRST_DAY:%Y-%m}" else FIRST_DAY
    length = monthrange(first.year, first.month)[1]
    days = [day for number in range(1, length + 1) if FIRST_DAY <= (day := first.replace(day=number)) <= last]
    before = first.replace(day=1) - timedelta(days=1)
    after = first.replace(day=length) + timedelta(days=1)
    return visit.page(
        "daily/archive.html",
        today=last,
        days=days,
        month=f"{first:%Y-%m}",
        before=f"{before:%Y-%m}" if before >= FIRST_DAY else None,
        after=f"{after:%Y-%m}" if after <= last else None,
    )


def daily_latest(kind: str, size: str) -> Response:
    """The way to today's puzzle of a kind and a size, under an address that stays."""
    # Temporary: tomorrow it leads to another puzzle.
    return RedirectResponse(f"/daily/{today()}/{kind_called(kind)}/{size_called(size)}", 307)

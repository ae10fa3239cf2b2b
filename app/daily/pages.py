"""Pages of the puzzles of the day: today's, each puzzle with its board, sheets for paper, back numbers, the feed."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from types import MappingProxyType
from typing import Annotated, cast

from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from app.core.messages import N_
from app.core.pages.forms import language_of
from app.core.pages.headers import HEADERS
from app.core.pages.languages import _, gettext, speaking
from app.core.pages.pages import StoredPages, page
from app.core.pages.visitor import Visitor, address_of_index
from app.daily.service.days import FIRST_DAY, KINDS, SIZES, kind_called, latest_days, open_day, size_called, today
from app.daily.service.drawing import feed, puzzle_drawing, solution_drawing, solution_steps
from app.daily.service.puzzles import DailyPuzzles, Day, Puzzle

IN_FEED = 14
IMMUTABLE = "public, max-age=31536000, immutable"
ONLY_TODAY = "public, no-cache"
RULES: Mapping[str, str] = MappingProxyType(
    {
        "optimiza": N_(
            "Start on any cell. From a cell with the number k, go exactly k cells straight on, in one of eight "
            "directions; who leaves the board on one side comes in on the other. The number that you land on must be "
            "k or more, and no cell may be landed on twice. Collect the greatest sum, the start included."
        ),
        "comesolo": N_(
            "A piece jumps over a piece beside it, in one of eight directions, onto the empty cell behind that one, "
            "and eats it. Eat as many pieces as you can."
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


def puzzles_of(request: Request) -> DailyPuzzles:
    """The puzzles of the running service."""
    return cast(DailyPuzzles, request.app.state.daily)


def stored_pages_of(request: Request) -> StoredPages:
    """The pages that the running service has stored."""
    return cast(StoredPages, request.app.state.stored_pages)


def _shown(day: Day, puzzle: Puzzle) -> Shown:
    """A puzzle as pages show it, in the language that is spoken."""
    name = f"{KINDS[puzzle.kind]}, {gettext(NAMES[puzzle.size])}, {day.date}"
    drawing = Markup(puzzle_drawing(puzzle, name))
    if not day.past:
        return Shown(puzzle, drawing, None, [])
    solution = solution_drawing(puzzle, _("Solution: %(puzzle)s", puzzle=name))
    return Shown(puzzle, drawing, Markup(solution), _in_words(puzzle.kind, solution_steps(puzzle)))


def _in_words(kind: str, steps: Sequence[Sequence[str]]) -> list[str]:
    if kind == "optimiza":
        return [f"({row}, {column})" for row, column in steps]
    if kind == "comesolo":
        return [_("(%(r1)s, %(c1)s) to (%(r2)s, %(c2)s)", r1=a, c1=b, r2=c, c2=d) for a, b, c, d in steps]
    return [_("cut rope %(rope)s", rope=rope) for (rope,) in steps]


def _all_shown(request: Request, day: Day) -> Mapping[str, list[Shown]]:
    with speaking(language_of(request)):
        return {kind: [_shown(day, puzzle) for puzzle in puzzles] for kind, puzzles in day.by_kind.items()}


async def daily_today(request: Request, viewer: Visitor) -> Response:
    """The puzzles of this day."""
    return _day_page(request, viewer, await puzzles_of(request).of(today()))


async def daily_day(request: Request, viewer: Visitor, day: str) -> Response:
    """The puzzles of a day."""
    return _day_page(request, viewer, await puzzles_of(request).of(open_day(day)))


def _day_page(request: Request, viewer: Visitor, day: Day) -> Response:
    before, after = _neighbours(day.date)

    def made() -> Response:
        return page(
            "daily/day.html",
            request,
            viewer=viewer,
            day=day,
            kinds=KINDS,
            shown=_all_shown(request, day),
            rules=RULES,
            sizes=NAMES,
            before=before,
            after=after,
        )

    return stored_pages_of(request).page(request, viewer, made)


async def daily_puzzle(request: Request, viewer: Visitor, day: str, kind: str, size: str) -> Response:
    """A puzzle with its board."""
    asked, kind, size = open_day(day), kind_called(kind), size_called(size)
    puzzles = await puzzles_of(request).of(asked)
    before, after = _neighbours(asked)

    def made() -> Response:
        return page(
            "daily/puzzle.html",
            request,
            viewer=viewer,
            day=puzzles,
            kind=kind,
            size=size,
            kinds=KINDS,
            sizes=NAMES,
            one=_all_shown(request, puzzles)[kind][SIZES.index(size)],
            rules=RULES,
            before=before,
            after=after,
        )

    return stored_pages_of(request).page(request, viewer, made)


async def daily_sheet(request: Request, day: str) -> Response:
    """A day's puzzles on A4. A past day has its own solutions upside down, today those of the day before."""
    asked = open_day(day)
    puzzles = await puzzles_of(request).of(asked)
    solved = puzzles if puzzles.past else await puzzles_of(request).of(max(FIRST_DAY, asked - timedelta(days=1)))
    sheet = page(
        "daily/sheet.html",
        request,
        day=puzzles,
        kinds=KINDS,
        shown=_all_shown(request, puzzles),
        rules=RULES,
        sizes=NAMES,
        solved=solved,
        solutions=_all_shown(request, solved) if solved.past else {},
    )
    sheet.headers["Cache-Control"] = IMMUTABLE if puzzles.past else ONLY_TODAY
    return _tagged(request, sheet)


async def daily_archive(
    request: Request, viewer: Visitor, month: Annotated[str, Query(max_length=20)] = ""
) -> HTMLResponse:
    """The days of a month that may be seen, this month's by default."""
    last = today()
    first = open_day(f"{month}-01" if month else f"{last:%Y-%m}-01") if month != f"{FIRST_DAY:%Y-%m}" else FIRST_DAY
    length = monthrange(first.year, first.month)[1]
    days = [day for number in range(1, length + 1) if FIRST_DAY <= (day := first.replace(day=number)) <= last]
    before = first.replace(day=1) - timedelta(days=1)
    after = first.replace(day=length) + timedelta(days=1)
    return page(
        "daily/archive.html",
        request,
        viewer=viewer,
        today=last,
        days=days,
        month=f"{first:%Y-%m}",
        before=f"{before:%Y-%m}" if before >= FIRST_DAY else None,
        after=f"{after:%Y-%m}" if after <= last else None,
    )


async def daily_latest(request: Request, kind: str, size: str) -> Response:
    """The way to today's puzzle of a kind and a size, under an address that stays."""
    root = request.scope.get("root_path", "")
    return RedirectResponse(f"{root}/daily/{today()}/{kind_called(kind)}/{size_called(size)}", 307)


async def daily_feed(request: Request) -> Response:
    """The last days as an Atom feed."""
    body = feed(address_of_index(request), latest_days(IN_FEED))
    headers = {**HEADERS, "Cache-Control": "public, max-age=600"}
    return _tagged(request, Response(body, media_type="application/atom+xml", headers=headers))


def _neighbours(day: date) -> tuple[date | None, date | None]:
    """The days before and after one, as far as there are puzzles of them."""
    before, after = day - timedelta(days=1), day + timedelta(days=1)
    return before if before >= FIRST_DAY else None, after if after <= today() else None


def _tagged(request: Request, reply: Response) -> Response:
    """The reply with its ETag; 304 without a body where the reader has it already."""
    tag = f'"{sha256(bytes(reply.body)).hexdigest()[:32]}"'
    reply.headers["ETag"] = tag
    if tag not in request.headers.get("if-none-match", ""):
        return reply
    return Response(
        None,
        304,
        {name: value for name, value in reply.headers.items() if name not in ("content-length", "content-type")},
    )

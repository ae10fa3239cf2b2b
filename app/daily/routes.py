"""HTTP routes: the puzzles of the day, and the other player of its nets."""

from __future__ import annotations

from typing import Annotated, cast

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Query, Request, Response

from app.core.http.deps import GatedRoute
from app.daily.service.days import kind_called, open_day, size_called, today
from app.daily.service.nets import (
    LONGEST_CUTS,
    DailyPuzzles,
    Reply,
    answering_cut,
    cuts_of,
    day_view,
    puzzle_view,
)
from app.daily.service.puzzles import DailyPuzzle, Day
from app.daily.service.puzzles import DailyPuzzles as Puzzles

router = APIRouter(route_class=GatedRoute, tags=["puzzles"])
PAST = "public, max-age=31536000, immutable"
ONLY_TODAY = "public, no-cache"


async def _puzzles(request: Request) -> Puzzles:
    return cast(Puzzles, request.app.state.daily)


ThePuzzles = Annotated[Puzzles, Depends(_puzzles)]


@router.get("/daily", summary="The puzzles of this day")
async def get_todays_puzzles(puzzles: ThePuzzles, response: Response) -> DailyPuzzles:
    """Nine puzzles: three kinds in three sizes. A day begins at 00:00 UTC."""
    return day_view(_cached(await puzzles.of(today()), response))


@router.get("/daily/{day}", summary="The puzzles of a day")
async def get_daily_puzzles(puzzles: ThePuzzles, day: str, response: Response) -> DailyPuzzles:
    """From 2010-02-26 to today, with answers once the day is over; 503 while a back number has to be made."""
    return day_view(_cached(await puzzles.of(open_day(day)), response))


@router.get("/daily/{day}/{kind}/{size}", summary="One puzzle of a day")
async def get_daily_puzzle(puzzles: ThePuzzles, day: str, kind: str, size: str, response: Response) -> DailyPuzzle:
    """With its answer once the day is over."""
    made = _cached(await puzzles.of(open_day(day)), response)
    return puzzle_view(made, made.puzzle(kind_called(kind), size_called(size)))


@router.get("/daily/{day}/netgame/{size}/reply", summary="The other player's cut")
async def get_daily_reply(
    puzzles: ThePuzzles,
    day: str,
    size: str,
    cuts: Annotated[
        str, Query(max_length=LONGEST_CUTS, description="the ropes cut so far, yours first and last, such as `3,7,1`")
    ],
    response: Response,
) -> Reply:
    """The other player wins where that can be done. Nothing is stored; null where nothing is left to cut."""
    made = _cached(await puzzles.of(open_day(day)), response)
    instance = made.puzzle("netgame", size_called(size)).instance
    return Reply(cut=await run_sync(answering_cut, instance, cuts_of(cuts)))


def _cached(day: Day, response: Response) -> Day:
    """A day whose reply may be kept: for ever once it is over."""
    response.headers["Cache-Control"] = PAST if day.past else ONLY_TODAY
    return day

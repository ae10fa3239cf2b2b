"""HTTP routes: the puzzles of the day, and the other player of its nets."""

from datetime import date
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request, Response

from app.core.http.deps import GatedRoute
from app.daily import service

router = APIRouter(route_class=GatedRoute, tags=["puzzles"])
PAST = "public, max-age=31536000, immutable"
ONLY_TODAY = "public, no-cache"


async def _made(request: Request, response: Response, day: date) -> service.Day:
    """Get the puzzles of a day; a reply may be kept forever once the day is over."""
    made = await cast(service.Puzzles, request.app.state.daily).of(day)
    response.headers["Cache-Control"] = PAST if made.past else ONLY_TODAY
    return made


async def _today(request: Request, response: Response) -> service.Day:
    return await _made(request, response, service.today())


async def _day(request: Request, response: Response, day: str) -> service.Day:
    return await _made(request, response, service.open_day(day))


TheDay = Annotated[service.Day, Depends(_day)]


@router.get("/daily", summary="The puzzles of this day")
async def get_todays_puzzles(day: Annotated[service.Day, Depends(_today)]) -> service.DailyPuzzles:
    """Nine puzzles: three kinds in three sizes. A day begins at 00:00 UTC."""
    return service.day_view(day)


@router.get("/daily/{day}", summary="The puzzles of a day")
async def get_daily_puzzles(made: TheDay) -> service.DailyPuzzles:
    """From 2010-02-26 to today, with answers once the day is over; 503 while a back number has to be made."""
    return service.day_view(made)


@router.get("/daily/{day}/{kind}/{size}", summary="One puzzle of a day")
async def get_daily_puzzle(made: TheDay, kind: str, size: str) -> service.DailyPuzzle:
    """With its answer once the day is over."""
    return service.puzzle_view(made, made.puzzle(service.kind_called(kind), service.size_called(size)))


@router.get("/daily/{day}/netgame/{size}/reply", summary="The other player's cut")
def get_daily_reply(
    made: TheDay,
    size: str,
    cuts: Annotated[
        str,
        Query(
            max_length=service.LONGEST_CUTS, description="the ropes cut so far, yours first and last, such as `3,7,1`"
        ),
    ],
) -> service.Reply:
    """The other player wins where that can be done. Nothing is stored; null where nothing is left to cut."""
    instance = made.puzzle("netgame", service.size_called(size)).instance
    return service.Reply(cut=service.answering_cut(instance, cuts))

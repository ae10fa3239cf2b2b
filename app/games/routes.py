"""HTTP routes: games against the judge, started, looked at, played and resigned."""

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request, Response

from app.contests.service.capabilities import problem_called
from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheService, TheSnapshot, address_of
from app.core.http.downloads import Replies
from app.games.service import playing, showing
from app.games.service.starting import start

router = APIRouter(route_class=GatedRoute, tags=["games"])
TEXT: Replies = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "The transcript"}}


async def get_games(request: Request) -> playing.Games:
    """The games of the running service."""
    return cast(playing.Games, request.app.state.games)


TheGames = Annotated[playing.Games, Depends(get_games)]


@router.post(
    "/contests/{contest_id}/problems/{problem_id}/games", status_code=201, summary="Start a game against the judge"
)
async def create_game(
    request: Request,
    response: Response,
    viewer: CurrentViewer,
    service: TheService,
    games: TheGames,
    contest_id: str,
    problem_id: str,
    body: showing.StartBody,
) -> showing.GameView:
    """A team's game from a test case counts: its end is a submission. Others are for practice, also without login."""
    table = await start(service, viewer, address_of(request), contest_id, problem_id, body)
    response.headers["Location"] = f"/api/games/{table.game.id}"
    return await games.shown(table)


@router.get("/contests/{contest_id}/games", summary="Games of a contest")
def list_games(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    problem_id: Annotated[str | None, Query()] = None,
) -> list[showing.GameSummary]:
    """The latest first, a thousand at most: all for judges, for others those of their team and their account."""
    problem_id = problem_id and problem_called(snapshot, problem_id)
    return showing.listed(session, viewer, snapshot, problem_id=problem_id)


@router.get("/games/{game_id}", summary="A game: position, whose move, clock and moves")
async def get_game(viewer: CurrentViewer, games: TheGames, game_id: str) -> showing.GameView:
    """For its player and for judges; a practice game without login is known by its id alone."""
    return await games.shown(await games.look(viewer, game_id))


@router.get("/games/{game_id}/transcript", response_class=Response, responses=TEXT, summary="The transcript of a game")
async def get_transcript(viewer: CurrentViewer, games: TheGames, game_id: str) -> Response:
    """The text that `jurado check` takes, of a game that has ended."""
    text = showing.transcript(await games.ended(viewer, game_id))
    return Response(text, media_type="text/plain")


@router.post("/games/{game_id}/moves", summary="Make a move")
async def create_move(viewer: CurrentViewer, games: TheGames, game_id: str, body: showing.MoveBody) -> showing.GameView:
    """The game after the opponent's reply, both stored. The same number and move again give the same reply."""
    return await games.shown(await games.move(viewer, game_id, body))


@router.post("/games/{game_id}/resign", summary="Resign a game")
async def resign_game(viewer: CurrentViewer, games: TheGames, game_id: str) -> showing.GameView:
    """The game is lost. Repeating the request changes nothing."""
    return await games.shown(await games.resign(viewer, game_id))

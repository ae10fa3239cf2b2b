"""The pages of games: starting one against an opponent, playing it by plain forms, and its replay."""

import json
from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Response
from fastapi.responses import HTMLResponse

from app.contests.service.visibility import the_problem
from app.core.messages import N_, BadRequest, NotFound
from app.core.pages.forms import made_of_values
from app.core.pages.languages import _, in_words_of
from app.core.pages.visitor import Fields, address_of
from app.core.pages.visits import ContestLook, Visit
from app.games.routes import TheGames
from app.games.service import referee, showing
from app.games.service.starting import game_of, start
from app.problems.pages.contest import named_problem
from app.problems.queries import pins
from app.problems.service import shown_cases
from games.catalog import games as catalog
from games.doors import Picture

MOST_LISTED = 20
ENDINGS = {
    "played": N_("by the rules"),
    "resigned": N_("resigned"),
    "clock": N_("out of time"),
    "contest": N_("ended with the contest"),
    "moves": N_("too long"),
}


def play_page(visit: ContestLook, problem_id: str) -> HTMLResponse:
    """The form to start a game, and the viewer's games of this problem."""
    session, viewer, snapshot = visit.session, visit.viewer, visit.snapshot
    scored = the_problem(snapshot, named_problem(snapshot, problem_id))
    row = pins.row(session, snapshot.contest.id, scored.id)
    name, own = game_of(row)
    rules = catalog()[name]
    cases = shown_cases.list_cases(viewer, snapshot, session, scored.id) if own is not None else []
    return visit.framed(
        "play.html",
        "problems",
        problem=scored.id,
        label=snapshot.contest.labels.get(scored.id, scored.id),
        title=rules.title,
        sides=rules.sides,
        asker=rules.asker,
        sample=rules.sample,
        opponents={each: opponent.summary for each, opponent in rules.opponents.items()},
        cases=[case.name for case in cases],
        games=showing.listed(session, viewer, snapshot, problem_id=scored.id)[:MOST_LISTED],
        endings=ENDINGS,
    )


async def begin_game(visit: Visit, fields: Fields, contest_id: str, problem_id: str) -> Response:
    """Start a game, and go to its page."""
    values: dict[str, object] = {name: fields[name] for name in ("opponent", "testcase") if fields.get(name)}
    if fields.get("side"):
        values["side"] = _number(fields["side"])
    if fields.get("for") == "practice":
        values["practice"] = True
    if not fields.get("testcase"):
        # Browsers leave out line feeds at the ends of a text area; a position ends with one.
        text = fields.get("position", "").strip("\n")
        values["parameters"] = {"instance": f"{text}\n"}
    body = made_of_values(showing.StartBody, values)
    table = await start(visit.service, visit.viewer, address_of(visit.request), contest_id, problem_id, body)
    return visit.see(f"/c/{contest_id}/games/{table.game.id}")


async def _looked_at(visit: Visit, games: TheGames, game_id: str) -> tuple[referee.Table, showing.GameView]:
    """A game with its view."""
    table = await games.look(visit.viewer, game_id)
    if table.game.contest_id != visit.request.path_params["contest_id"]:
        raise NotFound(N_("no game %(game)r in this contest"), game=game_id)
    return table, await games.shown(table)


def game_page(
    visit: ContestLook, looked: Annotated[tuple[referee.Table, showing.GameView], Depends(_looked_at)]
) -> HTMLResponse:
    """A game: its position, the forms to play on, its moves, and the way to its replay."""
    (table, view), plays = looked, showing.may_play(visit.viewer, looked[0].game)
    game, rules = table.game, catalog()[table.game.game]
    legal = None if table.over else rules.legal(table.position)
    return visit.framed(
        "game.html",
        "problems",
        game=view,
        label=visit.snapshot.contest.labels.get(game.problem_id, game.problem_id),
        title=rules.title,
        sides=rules.sides,
        instance=game.instance,
        moves=json.dumps([move.move for move in view.moves]),
        players=json.dumps([_called(view, side) for side in (0, 1)]),
        rule="" if legal is None else in_words_of(legal.rule),
        picture=_picture(rules.picture(table.position)),
        may_move=plays and not view.over,
        verdict=_verdict(view, plays=plays),
        endings=ENDINGS,
    )


async def play_on(visit: Visit, fields: Fields, games: TheGames, contest_id: str, game_id: str) -> Response:
    """Do what the form says, move or resign; then the game's page again."""
    act = fields.get("act", "move")
    if act == "move":
        values = {"number": _number(fields.get("number", "")), "move": fields.get("move", "")}
        await games.move(visit.viewer, game_id, made_of_values(showing.MoveBody, values))
    elif act == "resign":
        await games.resign(visit.viewer, game_id)
    else:
        raise BadRequest(N_("expected move or resign, found %(found)r"), where="act", found=act[:40])
    return visit.see(f"/c/{contest_id}/games/{game_id}")


def _number(text: str) -> int | str:
    """A number of a form, for documents that take no text in its place; other text as it is, to be refused there."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def _called(view: showing.GameView, side: int) -> str:
    """The player of a side, as sentences name it."""
    return _("you") if side == view.side else _("your opponent")


def _verdict(view: showing.GameView, *, plays: bool) -> tuple[str, str]:
    """The mark and the words of how a game stands."""
    if view.over:
        marks = {"you": ("ac", N_("You won")), "opponent": ("wa", N_("You lost")), None: ("no", N_("No one won"))}
        return marks[view.winner]
    return ("pc", N_("Your turn")) if plays else ("wait", N_("in progress"))


def _picture(lines: Picture) -> Sequence[str]:
    """A position in characters, as for a terminal."""
    return ["".join(text for text, _ in line) for line in lines]

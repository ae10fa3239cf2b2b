"""Puts a contest with problems that are played into a service's tables.

With K = 1 and one pile every move of the last treat is forced: whoever begins wins an odd pile and loses an even one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from app.contests.schemas import Limits
from app.core.service import Service
from app.games.service.ending import Keeper
from app.tables import ContestProblemRow
from games.catalog import games
from games.checker import read_instance
from games.doors import draws
from games.transcript import End, Move, Transcript, write
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api

GAME = "treat"
PLAIN = "lasttreat"
STEP = "1 0"


def case(start: str, opponent: str = "one") -> str:
    """The input of a test case: a position of the last treat and an opponent."""
    return f"game lasttreat\nopponent {opponent}\n{start}\n"


def forced(text: str) -> str:
    """The transcript of a game in which the contestant and the opponent make the only moves there are."""
    start = read_instance(text.encode())
    rules = games()[start.game]
    position, moves = rules.start(start.instance), []
    while not rules.over(position):
        side = rules.to_move(position)
        move = rules.opponents[start.opponent].choose(position, draws(1, len(moves) + 1)) if side else STEP
        moves.append(Move(side, move, 0.0))
        position = rules.apply(position, move)
    return write(
        Transcript(start.game, start.instance, 0, start.opponent, 1, tuple(moves), End("over", rules.winner(position)))
    )


STARTS = {"data/sample/01": "1 0 1", "data/secret/02": "3 0 1", "data/secret/03": "5 0 1"}
PACKAGE: Mapping[str, str | bytes | None] = {
    "jurado.yaml": "checker: game\ngame: {name: lasttreat}\nscoring: {kind: absolute, direction: maximise}\n",
    "input_validators/validate.py": "import sys\n\nsys.exit(42)\n",
    "data/invalid_input/word.in": None,
    "data/invalid_output/six.in": None,
    "data/invalid_output/six.ans": None,
    "data/invalid_output/six.out": None,
    "data/valid_output/five.in": None,
    "data/valid_output/five.ans": None,
    "data/valid_output/five.out": None,
    "submissions/accepted/copy/02.out": forced(case("3 0 1")),
    "submissions/accepted/copy/03.out": forced(case("5 0 1")),
    **{f"{path}.in": case(start) for path, start in STARTS.items()},
    **{f"{path}.ans": forced(case(start)) for path, start in STARTS.items()},
}
"""A problem that is played: sample 01 and the cases 02 and 03, 50 points each, which the only moves there are win."""


def add_games(service: Service, *, changes: Mapping[str, str | bytes | None] | None = None, **contest: Any) -> None:
    """A contest `c` with the problem `treat`, which is played."""
    add_problem(service, {**PACKAGE, **(changes or {})}, GAME)
    add_contest(service, problem_id=GAME, **contest)


def limit(service: Service, **limits: Any) -> None:
    """Limit the contest's problem."""
    with service.database.write() as session:
        session.get_one(ContestProblemRow, ("c", GAME)).limits = Limits(**limits)


def start(api: Api, user: str | None = "team", problem: str = GAME, **body: Any) -> httpx.Response:
    """Start a game of the contest, at its case 02 unless the body says something else."""
    asked = body or {"testcase": "02"}
    return api.post(f"contests/c/problems/{problem}/games", user=user, json=asked)


def move(api: Api, game_id: str, number: int, text: str = STEP, user: str | None = "team") -> httpx.Response:
    """Make a move."""
    return api.post(f"games/{game_id}/moves", user=user, json={"number": number, "move": text})


def win(api: Api, user: str = "team", **body: Any) -> dict[str, Any]:
    """Play a game to its end, by the moves that are the only ones; returns the game."""
    game = start(api, user, **body).json()
    while not game["over"]:
        game = move(api, game["id"], game["next_move"], user=user).json()
    return dict(game)


def look_at_clocks(api: Api) -> None:
    """Let the keeper of games look once, as it does each second."""
    keeper: Keeper = api.app.state.keeper
    keeper.look()


def document(reply: httpx.Response) -> dict[str, Any]:
    """The body of a reply, whose status is a success."""
    assert reply.is_success, reply.text
    return dict(json.loads(reply.text))

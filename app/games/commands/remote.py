"""Games of a program against the judge, over HTTP: many at once, each with its own process."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import typer

from app.core.commands.client import Client, refusal
from app.core.commands.output import Failure, Json, JsonMapping, show, table, write_json
from app.games.commands.choices import game_named, read_position
from app.games.commands.many import run_all
from app.games.commands.program import Program
from games.catalog import names
from games.checker import read_instance
from games.doors import FIRST, SECOND
from games.match import Lost
from games.transcript import End

ILLEGAL = 400
AT_ONCE = 8
"""Games played at the same time unless another number is asked for; the server bounds those of one account."""


@dataclass(frozen=True)
class Wanted:
    """A game to be played: what is posted to start it, and the text of its position, as the program is told it."""

    start: Mapping[str, object]
    instance: str


@dataclass(frozen=True)
class Result:
    """A game that has ended, and what was wrong with the program, if anything."""

    game: JsonMapping
    fault: str = ""


def play_remotely(
    client: Client,
    contest: str,
    problem: str,
    wanted: list[Wanted],
    command: list[str],
    seconds: float,
    jobs: int | None,
    *,
    quiet: bool,
) -> list[Result]:
    """Play all games, several at once, below a bar."""
    games = [partial(play_one, client, contest, problem, each, command, seconds) for each in wanted]
    return run_all(games, jobs or AT_ONCE, f"{problem} in {contest}", quiet=quiet)


def wanted_games(
    client: Client,
    contest: str,
    problem: str,
    cases: list[str],
    positions: list[str],
    opponent: str | None,
    seed: int,
    games: int,
) -> list[Wanted]:
    """List the games to be played: of test cases, else from positions, else from the game's sample.

    Games of test cases name neither opponent nor seed unless they are asked for: where they count, the judge chooses.
    """
    if cases and positions:
        raise Failure("--case has a position of its own: expected --case or --position, found both")
    own = {} if opponent is None else {"opponent": opponent}
    if cases:
        return [
            Wanted({"testcase": case, **own}, position_of_case(client, contest, problem, case))
            for case in cases
            for _ in range(games)
        ]
    if not positions and problem not in names():
        raise Failure(f"{problem}: expected --case or --position, found neither")
    texts = [read_position(text) for text in positions] or [game_named(problem).sample]
    return [
        Wanted({"parameters": {"instance": text}, **own, "seed": seed + at}, text)
        for text in texts
        for at in range(games)
    ]


def position_of_case(client: Client, contest: str, problem: str, case: str) -> str:
    """Fetch the position of a test case."""
    data = client.request("GET", f"/api/contests/{contest}/problems/{problem}/testcases/{case}/input").content
    return read_instance(data).instance if data.startswith(b"game ") else data.decode()


def play_one(client: Client, contest: str, problem: str, wanted: Wanted, command: list[str], seconds: float) -> Result:
    """Play one game to its end; a program that does not play, or moves illegally, gives it up."""
    game = client.post(f"contests/{contest}/problems/{problem}/games", dict(wanted.start))
    program = Program(command, seconds)
    known, fault = 0, ""
    try:
        program.start(game_named(game["game"]), SECOND if game["side"] else FIRST, wanted.instance)
        while True:
            for move in game["moves"]:
                if move["number"] > known and move["by"] == "opponent":
                    program.hear(move["move"])
                known = max(known, move["number"])
            if game["over"]:
                break
            game = make_move(client, game, program.choose(None, game["next_move"]))
    except Lost as lost:
        fault = f"{lost.reason}: {lost}" if str(lost) else lost.reason
        game = client.post(f"games/{game['id']}/resign", again=nothing)
    finally:
        with suppress(Lost):
            winner = None if game["winner"] is None else game["winner"] == "you"
            program.finish(winner, End("over", None))
        program.close()
    return Result(game, fault)


def make_move(client: Client, game: JsonMapping, text: str) -> Json:
    """Post a move, again after a broken connection: by its number it is the same move.

    Raises Lost if it is illegal; gives the game as it is where it has ended meanwhile.
    """
    body = {"number": game["next_move"], "move": text}
    reply = client.request("POST", f"/api/games/{game['id']}/moves", json=body, accept=(400, 409), again=nothing)
    if reply.status_code == ILLEGAL:
        raise Lost("illegal", refusal(reply))
    if reply.is_success:
        return client.body(reply)
    now = client.get(f"games/{game['id']}")
    if not now["over"]:
        raise Failure(refusal(reply), 1)
    return now


def nothing() -> None:
    """Make a small body ready to be sent again: it is, always."""


def report_remote(results: list[Result], *, as_json: bool) -> None:
    """Print how the games ended; exit code 1 unless all were won."""
    won = sum(result.game["winner"] == "you" for result in results)
    if as_json:
        write_json({"won": won, "games": [{**result.game, "fault": result.fault} for result in results]})
    else:
        rows = [
            (
                result.game["id"],
                result.game["testcase"] or "",
                result.game["opponent"],
                ended_words(result.game["winner"]),
                result.game["ending"],
                len(result.game["moves"]),
                result.game["submission_id"] or "",
                result.fault,
            )
            for result in results
        ]
        columns = ["game", "case", "opponent", "ended", "how", ">moves", "submission", "fault of the program"]
        show(table(f"{won} of {len(results)} games won", columns, rows))
    if won < len(results):
        raise typer.Exit(1)


def ended_words(winner: str | None) -> str:
    """Say in a word how a game ended for its contestant."""
    return {"you": "won", "opponent": "lost", None: "draw"}[winner]

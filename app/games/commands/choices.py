"""What commands for games are asked for: a game, its positions, an opponent, a side.

- A transcript as `jurado check` takes it: replayed from its first move to its end.
- Games of a program against the judge, over HTTP: many at once, each with its own process.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

from app.core.commands.client import Client, refusal
from app.core.commands.output import Failure, Json, JsonMapping, nearest, read_file, show, write_json
from app.core.commands.registry import Cell, Table
from app.games.commands.program import Program, run_all
from checkers.doors import Message, Rejected, Score
from games.catalog import names, open_game
from games.checker import read_instance
from games.doors import FIRST, SECOND, AnyGame, AnyOpponent, Side, begin
from games.match import Lost
from games.transcript import End, Transcript, is_transcript, read, replay, won_by_contestant

LARGEST_POSITION = 2**20


def game_named(name: str) -> AnyGame:
    """Open a game by its name; raises Failure with the nearest one where there is none."""
    if name not in names():
        raise nearest("game", name, names())
    return open_game(name)


def opponent_named(game: AnyGame, name: str) -> AnyOpponent:
    """Find an opponent of a game; raises Failure with the nearest one where there is none."""
    if name not in game.opponents:
        raise nearest(f"opponent for {game.slug}", name, game.opponents)
    return game.opponents[name]


def side_named(game: AnyGame, name: str | None) -> Side:
    """Find a side by what the game calls it, or by 1 and 2; the asker's where none is named."""
    if name is None:
        return game.asker
    known: dict[str, Side] = {game.sides[0].lower(): FIRST, game.sides[1].lower(): SECOND, "1": FIRST, "2": SECOND}
    if name.lower() not in known:
        raise Failure(f"--as: expected {game.sides[0]} or {game.sides[1]}, found {name!r}")
    return known[name.lower()]


def positions(game: AnyGame, texts: Sequence[str]) -> list[str]:
    """Give the texts of the positions asked for: each a file, `-`, or a position on one line; the sample for none."""
    return [position_text(game, text) for text in texts] or [game.sample]


def position_text(game: AnyGame, text: str) -> str:
    """Read one position; raises Failure unless a game can begin there."""
    position = read_position(text)
    try:
        return game.to_text(begin(game, position))
    except Rejected as error:
        hint = "" if text == "-" or Path(text).exists() else " (and there is no file of that name)"
        raise Failure(f"position {text}: {error}{hint}") from None


def read_position(text: str) -> str:
    """Give the text of a position: that of the file named, of standard input for `-`, or the words as they are."""
    if text != "-" and not Path(text).is_file():
        return text
    data = read_file(Path(text), "position", limit=LARGEST_POSITION)
    if len(data) > LARGEST_POSITION:
        raise Failure(f"position {text}: expected at most {LARGEST_POSITION} bytes, found more")
    return data.decode("utf-8", "backslashreplace")


LARGEST = 64 * 2**20


def transcript_file(path: Path) -> bytes:
    """Read a transcript; raises Failure where the file is something else."""
    data = read_file(path, "transcript", limit=LARGEST)
    if not is_transcript(data):
        raise Failure(f"{path}: expected a transcript of a game, or PROBLEM INPUT ANSWER, found something else")
    return data


def score_transcript(data: bytes, position: bytes | None = None) -> Score:
    """Replay a transcript: raw score 1 where the contestant won, 0 where not.

    Raises Rejected at its first fault, and where it does not begin at `position`, if one is given; Failure where that
    is no position of the game.
    """
    if len(data) > LARGEST:
        raise Rejected.at("file", expected=f"at most {LARGEST} bytes", found="more")
    transcript = read(data.decode("utf-8", "backslashreplace"))
    if position is not None:
        hold_start(transcript, position)
    outcome = replay(transcript)
    if outcome.fault is not None:
        message = outcome.fault.message
        raise Rejected(message.text, key=message.key, **message.args)
    won = won_by_contestant(transcript, outcome)
    return Score(int(won), 1, int(won), Message("game-replayed", summary(transcript, won=won)))


def hold_start(transcript: Transcript, position: bytes) -> None:
    """Raise Rejected unless a transcript begins at this position."""
    game = game_named(transcript.game)
    try:
        expected = game.start(position.decode("utf-8", "backslashreplace"))
    except Rejected as error:
        raise Failure(f"input: {error}") from None
    if game.start(transcript.instance) != expected:
        raise Rejected.at("position", expected="that of the input", found="another one")


def summary(transcript: Transcript, *, won: bool) -> str:
    """Say in one line how a sound game ended."""
    game, end = game_named(transcript.game), transcript.end
    against = "" if transcript.opponent is None else f" against {transcript.opponent}"
    if end is None:
        result = "goes on"
    elif end.winner is None:
        result = "is a draw"
    else:
        result = f"is {'won' if won else 'lost'} ({end.reason})"
    side = game.sides[transcript.contestant]
    return f"{game.slug}: the game of {side}{against} {result} after {len(transcript.moves)} moves"


ILLEGAL = 400
# Games played at the same time unless another number is asked for; the server bounds those of one account.
AT_ONCE = 8


@dataclass(frozen=True)
class Wanted:
    """A game to be played: what is posted to start it, and the text of its position, as the program is told it."""

    start: Mapping[str, object]
    instance: str


GAMES: Mapping[str, Cell] = {
    "game": "id",
    "problem": "problem_id",
    "case": lambda game: game["testcase"] or ("" if game["counted"] else "practice"),
    "team": "team_id",
    "opponent": "opponent",
    ">moves": "moves",
    "ended": lambda game: {"you": "won", "opponent": "lost", None: "draw"}[game["winner"]] if game["over"] else "",
    "how": "ending",
    "started": lambda game: game["started"][:19].replace("T", " "),
    "submission": "submission_id",
}


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
) -> list[Json]:
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
    # A case of a problem that is played names its game and its opponent first.
    return read_instance(data).instance if data.startswith(b"game ") else data.decode()


def play_one(client: Client, contest: str, problem: str, wanted: Wanted, command: list[str], seconds: float) -> Json:
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
    return {**game, "fault": fault}


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


def report_remote(results: list[Json], *, as_json: bool) -> None:
    """Print how the games ended; exit code 1 unless all were won."""
    won = sum(game["winner"] == "you" for game in results)
    if as_json:
        write_json({"won": won, "games": results})
    else:
        rows = [{**game, "moves": len(game["moves"])} for game in results]
        show(Table({**GAMES, "fault of the program": "fault"}, f"{won} of {len(results)} games won").drawn(rows))
    if won < len(results):
        raise typer.Exit(1)

"""`jurado tournament`: programs and opponents play round robin, with Elo ratings and a cross table."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import JsonValue

from app.cli.games.choices import game_named, opponent_named, positions
from app.cli.games.many import run_all, save
from app.cli.games.play import MOST_AT_ONCE, split
from app.cli.games.program import Program
from app.cli.options import AsJson
from app.cli.output import Failure, show, table, write_json
from games.doors import Game
from games.match import Computer, Match, Player
from games.ratings import elo
from games.transcript import Transcript


@dataclass(frozen=True)
class Entrant:
    """A player of a tournament: a program by its command, or an opponent of the catalogue (no command)."""

    name: str
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pairing:
    """A game to be played: who is which side, where it begins, and the seed of opponents."""

    sides: tuple[Entrant, Entrant]
    start: str
    seed: int


def tournament(
    game: Annotated[str, typer.Argument(metavar="GAME", help="such as lasttreat")],
    program: Annotated[
        list[str] | None, typer.Option(metavar="NAME=CMD", help="a program that plays; can be given many times")
    ] = None,
    opponent: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="an opponent of the catalogue that plays too")
    ] = None,
    position: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="where to begin: a file, -, or the position on one line")
    ] = None,
    rounds: Annotated[int, typer.Option(help="how often each pair plays each position from both sides", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="seed of the first round's opponents", min=0)] = 1,
    jobs: Annotated[int | None, typer.Option(help="games at once", min=1, max=MOST_AT_ONCE)] = None,
    move_seconds: Annotated[float, typer.Option(help="time of a program for a move", min=0.001)] = 10.0,
    save_to: Annotated[Path | None, typer.Option("--save", metavar="DIR", help="write all transcripts there")] = None,
    as_json: AsJson = False,
) -> None:
    """Let programs and opponents play each other from both sides, and rate them.

    A win is a point and a draw half of one. Programs run here, with your rights. Ratings are those under which the
    results were most likely, around 1500.
    """
    rules = game_named(game)
    entrants = entrants_of(rules, program or [], opponent or [])
    pairings = draw_up(entrants, positions(rules, position or []), rounds, seed)
    wanted = [partial(play_pairing, rules, pairing, move_seconds) for pairing in pairings]
    played = run_all(wanted, jobs or os.cpu_count() or 1, f"{game} tournament", quiet=as_json)
    save(save_to, [(f"{at:04}-{file_name(pairing)}", played[at]) for at, pairing in enumerate(pairings)])
    result = result_of(entrants, pairings, played)
    if as_json:
        write_json({"game": game, "games": len(played), "players": result})
    else:
        show_result(game, len(played), result)


def entrants_of(game: Game[Any], programs: Sequence[str], opponents: Sequence[str]) -> list[Entrant]:
    """Read who plays; raises Failure unless there are two players or more, of different names."""
    entrants = []
    for text in programs:
        name, equals, command = text.partition("=")
        if not equals or not name.isidentifier():
            raise Failure(f"--program {text}: expected NAME=CMD, with a name of letters and digits")
        entrants.append(Entrant(name, tuple(split(command))))
    for name in opponents:
        opponent_named(game, name)
        entrants.append(Entrant(name))
    names = [entrant.name for entrant in entrants]
    if len(names) < 2:
        raise Failure(f"expected two players or more, found {len(names)}; opponents are {', '.join(game.opponents)}")
    if twice := {name for name in names if names.count(name) > 1}:
        raise Failure(f"expected players of different names, found {', '.join(sorted(twice))} twice")
    return entrants


def draw_up(entrants: Sequence[Entrant], starts: Sequence[str], rounds: int, seed: int) -> list[Pairing]:
    """List all games: each pair from each position, both ways round, in every round with a seed of its own."""
    return [
        Pairing(sides, start, seed + number)
        for number in range(rounds)
        for start in starts
        for one, other in combinations(entrants, 2)
        for sides in ((one, other), (other, one))
    ]


def play_pairing(game: Game[Any], pairing: Pairing, seconds: float) -> Transcript:
    """Play one game. Its transcript names an opponent where there is one; of two the second."""
    players = [seat(game, entrant, pairing.seed, seconds) for entrant in pairing.sides]
    first, second = pairing.sides
    contestant, opponent = (1, first.name) if second.command and not first.command else (0, second.name)
    known = None if first.command and second.command else opponent
    try:
        both: tuple[Player, Player] = (players[0], players[1])
        return Match(game, pairing.start, both, 1 if contestant else 0, known, pairing.seed).play()
    finally:
        for player in players:
            if isinstance(player, Program):
                player.close()


def seat(game: Game[Any], entrant: Entrant, seed: int, seconds: float) -> Player:
    """Make a player for one game."""
    return Program(entrant.command, seconds) if entrant.command else Computer(game.opponents[entrant.name], seed)


def file_name(pairing: Pairing) -> str:
    """Name the transcript of a game by its players."""
    return "-".join(entrant.name for entrant in pairing.sides)


def result_of(
    entrants: Sequence[Entrant], pairings: Sequence[Pairing], played: Sequence[Transcript]
) -> list[dict[str, JsonValue]]:
    """Count points and games of each pair, and rate; the best player first."""
    points: defaultdict[tuple[str, str], float] = defaultdict(float)
    games: defaultdict[tuple[str, str], int] = defaultdict(int)
    faults: defaultdict[str, int] = defaultdict(int)
    for pairing, transcript in zip(pairings, played, strict=True):
        names = [entrant.name for entrant in pairing.sides]
        winner = None if transcript.end is None else transcript.end.winner
        for side, (own, other) in enumerate((names, names[::-1])):
            points[own, other] += 0.5 if winner is None else float(winner == side)
            games[own, other] += 1
            faults[own] += transcript.end is not None and transcript.end.reason != "over" and winner not in (side, None)
    names = [entrant.name for entrant in entrants]
    score = {(own, other): (points[own, other], games[own, other]) for own in names for other in names if own != other}
    ratings = elo(names, score)
    ranked = sorted(names, key=lambda name: (-ratings[name], name))
    return [
        {
            "name": name,
            "elo": round(ratings[name], 1),
            "points": sum(points[name, other] for other in ranked),
            "games": sum(games[name, other] for other in ranked),
            "lost_by_fault": faults[name],
            "against": {
                other: {"points": points[name, other], "games": games[name, other]} for other in ranked if other != name
            },
        }
        for name in ranked
    ]


def show_result(game: str, count: int, result: Sequence[dict[str, Any]]) -> None:
    """Print the cross table."""
    names = [row["name"] for row in result]
    rows = [
        (
            at,
            row["name"],
            f"{row['elo']:.0f}",
            f"{row['points']:g} of {row['games']}",
            *("" if each == row["name"] else f"{row['against'][each]['points']:g}" for each in names),
            row["lost_by_fault"] or "",
        )
        for at, row in enumerate(result, start=1)
    ]
    columns = [">", "player", ">Elo", ">points", *(f">{name}" for name in names), ">faults"]
    show(table(f"{game}: {count} games", columns, rows))
    if any(row["lost_by_fault"] for row in result):
        show("faults: games lost by an illegal or late move, or a program that ended; --save keeps the transcripts")

"""`jurado tournament`: programs and opponents play round robin, with a cross table."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from app.core.commands.output import Failure, JsonMapping, show, table, write_json
from app.core.commands.registry import AsJson, command
from app.games.commands import choices, play
from app.games.commands.program import Program, run_all, save
from games.doors import FIRST, SECOND, AnyGame
from games.match import Computer, Match, Player
from games.tournament import Pairing, Row, cross_table, pairings, played
from games.transcript import Transcript


@command("tournament")
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
    jobs: Annotated[int | None, typer.Option(help="games at once", min=1, max=play.MOST_AT_ONCE)] = None,
    move_seconds: Annotated[float, typer.Option(help="time of a program for a move", min=0.001)] = 10.0,
    save_to: Annotated[Path | None, typer.Option("--save", metavar="DIR", help="write all transcripts there")] = None,
    as_json: AsJson = False,
) -> None:
    """Let programs and opponents play each other from both sides, and rank them by points.

    A win is a point and a draw half of one. Programs run here, with your rights.

    Examples:
      jurado tournament lasttreat --program mine=./mine --opponent optimal --opponent greedy --rounds 10
      jurado tournament netgame --opponent optimal --opponent random --json
    """
    rules = choices.game_named(game)
    entrants = entrants_of(rules, program or [], opponent or [])
    drawn = list(pairings(list(entrants), choices.positions(rules, position or []), rounds, seed))
    wanted = [partial(play_pairing, rules, entrants, pairing, move_seconds) for pairing in drawn]
    transcripts = run_all(wanted, jobs or os.cpu_count() or 1, f"{game} tournament", quiet=as_json)
    save(save_to, [(f"{at:04}-{'-'.join(pairing.sides)}", transcripts[at]) for at, pairing in enumerate(drawn)])
    results = [played(pairing.sides, each.end) for pairing, each in zip(drawn, transcripts, strict=True)]
    ranked = cross_table(list(entrants), results)
    if as_json:
        write_json({"game": game, "games": len(results), "players": ranked})
    else:
        show_result(game, len(results), ranked)


def entrants_of(game: AnyGame, programs: Sequence[str], opponents: Sequence[str]) -> dict[str, list[str]]:
    """Read who plays: the command of each program by its name, and no command for an opponent of the catalogue.

    Raises Failure unless there are two players or more, of different names.
    """
    entrants: list[tuple[str, list[str]]] = []
    for text in programs:
        name, equals, command = text.partition("=")
        if not equals or not name.isidentifier():
            raise Failure(f"--program {text}: expected NAME=CMD, with a name of letters and digits")
        entrants.append((name, play.split(command)))
    for name in opponents:
        choices.opponent_named(game, name)
        entrants.append((name, []))
    names = [name for name, _ in entrants]
    if len(names) < 2:
        raise Failure(f"expected two players or more, found {len(names)}; opponents are {', '.join(game.opponents)}")
    if twice := {name for name in names if names.count(name) > 1}:
        raise Failure(f"expected players of different names, found {', '.join(sorted(twice))} twice")
    return dict(entrants)


def play_pairing(game: AnyGame, entrants: Mapping[str, list[str]], pairing: Pairing, seconds: float) -> Transcript:
    """Play one game. Its transcript names an opponent where there is one; of two the second."""
    first, second = (entrants[name] for name in pairing.sides)

    def seat(name: str) -> Player:
        return Program(entrants[name], seconds) if entrants[name] else Computer(game.opponents[name], pairing.seed)

    players = seat(pairing.sides[0]), seat(pairing.sides[1])
    contestant = SECOND if second and not first else FIRST
    opponent = None if first and second else pairing.sides[1 - contestant]
    try:
        return Match(game, pairing.start, players, contestant, opponent, pairing.seed).play()
    finally:
        for player in players:
            if isinstance(player, Program):
                player.close()


def show_result(game: str, count: int, result: Sequence[Row] | Sequence[JsonMapping]) -> None:
    """Print the cross table."""
    names = [row["name"] for row in result]
    rows = [
        (
            at,
            row["name"],
            f"{row['points']:g} of {row['games']}",
            *("" if each == row["name"] else f"{row['against'][each]['points']:g}" for each in names),
            row["lost_by_fault"] or "",
        )
        for at, row in enumerate(result, start=1)
    ]
    columns = [">", "player", ">points", *(f">{name}" for name in names), ">faults"]
    show(table(f"{game}: {count} games", columns, rows))
    if any(row["lost_by_fault"] for row in result):
        show("faults: games lost by an illegal or late move, or a program that ended; --save keeps the transcripts")

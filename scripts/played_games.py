"""Play the games whose transcripts are the answers of a bundled package that is played."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.games.commands.program import Program
from games import checker
from games.catalog import open_game
from games.match import Computer, Match, Player
from games.transcript import write

SECONDS = 60.0
OPTIMAL = "optimal"


def transcript_of(data: bytes, submission: Mapping[str, Any], package: Path) -> bytes:
    """Play a case's game against its opponent: by a player of the catalogue (`method`), or a program of the package.

    The clock stands still, so that the same game is the same bytes.
    """
    start = checker.read_instance(data)
    game, own, seed = open_game(start.game), start.contestant, int(submission.get("seed", 1))
    player = seat(submission, package, game.opponents, seed)
    judge: Player = Computer(game.opponents[start.opponent], seed)
    players = (judge, player) if own else (player, judge)
    match = Match(game, start.instance, players, own, start.opponent, seed, clock=lambda: 0.0)
    return write(match.play()).encode()


def seat(submission: Mapping[str, Any], package: Path, opponents: Mapping[str, Any], seed: int) -> Player:
    """Make the player in the contestant's place."""
    if "program" in submission:
        return Program([sys.executable, str(package / "generators" / submission["program"])], SECONDS)
    return Computer(opponents[submission.get("method", OPTIMAL)], seed)

"""Play a tournament of opponents: `python -m games < ASKED.json`, progress and the result as lines of JSON on stderr.

ASKED has `game`, `players` (opponents by name), `positions`, `rounds`, `seed` and `most_moves`. Every game is told by
these alone, so that a run that was broken off gives the same result when it is begun again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from time import monotonic
from typing import Any

from games.catalog import open_game
from games.match import Computer, Match
from games.tournament import Pairing, Played, cross_table, games_of, pairings, played
from games.transcript import Transcript

SECONDS_BETWEEN_REPORTS = 0.3


def main() -> None:
    """Read what is asked for, play it, and report."""
    asked = json.load(sys.stdin)
    players = asked["players"]
    count = games_of(len(players), len(asked["positions"]), asked["rounds"])
    results: list[Played] = []
    rows: list[dict[str, Any]] = []
    reported = monotonic()
    for pairing in pairings(players, asked["positions"], asked["rounds"], asked["seed"]):
        transcript = play(pairing, asked["game"], asked["most_moves"])
        results.append(played(pairing.sides, transcript.end))
        rows.append(summary(pairing, transcript, asked["positions"]))
        if monotonic() - reported > SECONDS_BETWEEN_REPORTS:
            reported = monotonic()
            note = f"{len(results)} of {count} games"
            table = cross_table(players, results)
            report({"fraction": len(results) / count, "note": note, "count": len(results), "players": table})
    table = cross_table(players, results)
    report({"done": True, "game": asked["game"], "count": count, "players": table, "games": rows})


def play(pairing: Pairing, slug: str, most_moves: int) -> Transcript:
    """Play one game of two opponents."""
    game = open_game(slug)
    first, second = (Computer(game.opponents[name], pairing.seed) for name in pairing.sides)
    contest = Match(game, pairing.start, (first, second), 0, pairing.sides[1], pairing.seed, most_moves=most_moves)
    return contest.play()


def summary(pairing: Pairing, transcript: Transcript, positions: list[str]) -> dict[str, Any]:
    """Sum a game up: `position` counts from 0; `winner` and `lost_by` are null for a draw and an end by the rules."""
    end = transcript.end
    assert end is not None, "a game that is played has an end"
    return {
        "players": list(pairing.sides),
        "position": positions.index(pairing.start),
        "seed": pairing.seed,
        "winner": None if end.winner is None else pairing.sides[end.winner],
        "lost_by": None if end.reason == "over" else end.reason,
        "moves": len(transcript.moves),
    }


def report(line: Mapping[str, Any]) -> None:
    """Print a line of JSON."""
    print(json.dumps(line), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

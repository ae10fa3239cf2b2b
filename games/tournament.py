"""A round robin of players at one game: which games are played, and the cross table they end in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypedDict

from games.doors import Side
from games.transcript import End

Names = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Pairing:
    """A game to be played: who is which side, where it begins, and the seed of opponents."""

    sides: Names
    start: str
    seed: int


@dataclass(frozen=True, slots=True)
class Played:
    """A game as far as the table needs it: who was which side, the winner (None: a draw), and whether by a fault."""

    sides: Names
    winner: Side | None
    by_fault: bool = False


class Against(TypedDict):
    """Points against one player, and the games with it."""

    points: float
    games: int


class Row(TypedDict):
    """A player's row of the cross table; `against` has the others by name."""

    name: str
    points: float
    games: int
    lost_by_fault: int
    against: dict[str, Against]


def pairings(players: Sequence[str], starts: Sequence[str], rounds: int, seed: int) -> Iterator[Pairing]:
    """Draw up all games: each pair from each position, both ways round, in every round with a seed of its own."""
    for number in range(rounds):
        for start in starts:
            for one, other in combinations(players, 2):
                yield Pairing((one, other), start, seed + number)
                yield Pairing((other, one), start, seed + number)


def played(sides: Names, end: End | None) -> Played:
    """Note how a game ended; one that did not end is a draw."""
    winner = None if end is None else end.winner
    return Played(sides, winner, by_fault=end is not None and end.reason != "over" and winner is not None)


def cross_table(players: Sequence[str], results: Sequence[Played]) -> list[Row]:
    """Count the points of each pair; the player with the most points comes first."""
    points: defaultdict[Names, float] = defaultdict(float)
    games: defaultdict[Names, int] = defaultdict(int)
    faults: defaultdict[str, int] = defaultdict(int)
    for result in results:
        first, second = result.sides
        for side, pair in enumerate(((first, second), (second, first))):
            points[pair] += 0.5 if result.winner is None else float(result.winner == side)
            games[pair] += 1
            faults[pair[0]] += result.by_fault and result.winner != side
    total = {name: sum(points[name, other] for other in players) for name in players}
    ranked = sorted(players, key=lambda name: (-total[name], name))
    return [
        {
            "name": name,
            "points": total[name],
            "games": sum(games[name, other] for other in ranked),
            "lost_by_fault": faults[name],
            "against": {
                other: {"points": points[name, other], "games": games[name, other]} for other in ranked if other != name
            },
        }
        for name in ranked
    ]

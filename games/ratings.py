"""Elo ratings of a round robin: those under which the games played were the most likely to end as they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10

MEAN = 1500.0
SCALE = 400.0
"""A player rated so many points above another one is expected to win ten games for each lost."""

ROUNDS = 10_000
SETTLED = 1e-9

Score = Mapping[tuple[str, str], tuple[float, int]]
"""For each pair (player, other), in both orders: the points of the first (a win 1, a draw 1/2), and their games."""


def elo(players: Sequence[str], score: Score) -> dict[str, float]:
    """Rate players around a mean of 1500.

    Each pair is given one drawn game more than it played: who wins all games would have no bound otherwise.
    """
    strength = dict.fromkeys(players, 1.0)
    if len(players) < 2:
        return dict.fromkeys(players, MEAN)
    points = {player: sum(score[player, each][0] + 0.5 for each in players if each != player) for player in players}
    for _ in range(ROUNDS):
        following = {
            player: points[player]
            / sum(
                (score[player, each][1] + 1) / (strength[player] + strength[each]) for each in players if each != player
            )
            for player in players
        }
        scale = _geometric_mean(following)
        following = {player: value / scale for player, value in following.items()}
        change = max(abs(following[player] / strength[player] - 1) for player in players)
        strength = following
        if change < SETTLED:
            break
    return {player: MEAN + SCALE * log10(value) for player, value in strength.items()}


def _geometric_mean(values: Mapping[str, float]) -> float:
    return float(10 ** (sum(log10(value) for value in values.values()) / len(values)))

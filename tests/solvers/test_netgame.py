"""Netgame's solver: every exact method agrees with a brute force over ropes, written from the statement alone."""

from __future__ import annotations

import random
from functools import cache

import pytest

from checkers.netgame import FIRST, SECOND, Answer, Instance, Rope
from solvers import netgame

Ropes = frozenset[Rope]


def slow_cuts(ropes: Ropes) -> list[Rope]:
    """Twin of the legal cuts: the sides of every unit square with all four ropes."""
    squares = [
        {(x, y, x + 1, y), (x, y + 1, x + 1, y + 1), (x, y, x, y + 1), (x + 1, y, x + 1, y + 1)}
        for x in range(6)
        for y in range(6)
    ]
    return sorted({rope for square in squares if square <= ropes for rope in square})


@cache
def slow_wins(ropes: Ropes) -> bool:
    """Twin of every method: the player to move wins if some cut leaves the other one lost."""
    return any(not slow_wins(ropes - {rope}) for rope in slow_cuts(ropes))


def drawn_net(seed: int) -> Instance:
    draws = random.Random(seed)
    width, height = draws.choice([(1, 1), (1, 2), (2, 2), (1, 5), (2, 3)])
    level = [(x, y, x + 1, y) for x in range(width) for y in range(height + 1)]
    upright = [(x, y, x, y + 1) for x in range(width + 1) for y in range(height)]
    ropes = level + upright
    draws.shuffle(ropes)
    return Instance(tuple(ropes[: max(1, len(ropes) - draws.randint(0, 4))]))


@pytest.mark.parametrize("method", netgame.METHODS)
def test_every_method_agrees_with_the_brute_force_on_600_nets(method: str) -> None:
    for seed in range(600):
        instance = drawn_net(seed)
        if method == "figures" and len(instance.ropes) > 13:
            continue
        ropes = frozenset(instance.ropes)
        winning = [
            number
            for number, rope in enumerate(instance.ropes, start=1)
            if rope in slow_cuts(ropes) and not slow_wins(ropes - {rope})
        ]
        answer = netgame.solve(instance, method=method, seed=1, seconds=10.0)
        assert answer.winner == (FIRST if winning else SECOND)
        assert answer.rope in (winning or [0])
        lines = [f"{FIRST}", " ".join(map(str, winning))] if winning else [f"{SECOND}"]
        assert netgame.write_reference(instance, answer, seed=1).split("\n") == [*lines, ""]


def test_a_search_that_runs_out_of_steps_has_found_no_winning_cut() -> None:
    block = tuple((x, y, x + 1, y) for x in range(2) for y in range(4)) + tuple(
        (x, y, x, y + 1) for x in range(3) for y in range(3)
    )
    assert netgame.solve(Instance(block), method="dp", seed=1, seconds=1.0, steps=3) == Answer(SECOND)

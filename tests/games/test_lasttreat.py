"""The last treat: the closed form wins what can be won, and the printed strategy does not."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers import lasttreat as checker
from checkers.rules import lasttreat as rules
from games.doors import draws
from games.lasttreat import GAME
from games.lasttreat.position import Position

Move = tuple[int, int]
LARGEST = 10**18


def legal_moves(a: int, b: int, k: int) -> list[Move]:
    tries = [move for i in range(1, k + 1) for move in ((i, 0), (0, i), (i, i))]
    return [(x, y) for x, y in tries if x <= a and y <= b]


@cache
def slow_lost(a: int, b: int, k: int) -> bool:
    return not any(slow_lost(a - x, b - y, k) for x, y in legal_moves(a, b, k))


SMALL = [(a, b, k) for k in (1, 2, 3, 5, 8, 30) for a in range(20) for b in range(20) if a + b]


def test_the_closed_form_lists_exactly_the_winning_moves() -> None:
    for a, b, k in SMALL:
        winning = [(x, y) for x, y in legal_moves(a, b, k) if slow_lost(a - x, b - y, k)]
        assert sorted(rules.winning_moves(a, b, k)) == sorted(winning), (a, b, k)
        assert rules.is_lost(a, b, k) is slow_lost(a, b, k), (a, b, k)


@given(a=st.integers(0, LARGEST), b=st.integers(0, LARGEST), k=st.integers(1, LARGEST))
def test_rules_and_kernels_agree_up_to_the_largest_piles(a: int, b: int, k: int) -> None:
    assert rules.is_lost(a, b, k) is bool(checker.lost(a, b, k))
    assert rules.lower(a) == checker.lower(a)
    assert rules.is_lost(a, b, k) is (not rules.winning_moves(a, b, k))


def mirror(position: Position, last: Move | None) -> Move | None:
    """The strategy of the source's proof; None where it has no legal move.

    `last` is the other player's move, by which the position came about.
    """
    a, b, k = position.piles
    side = k + 1
    if last is not None:
        x, y = last
        if (a % side) + x >= side or (b % side) + y >= side:
            taken = max(x, y)
            reply = (side - taken) * (x > 0), (side - taken) * (y > 0)
            return reply if rules.is_legal(a, b, k, *reply) else None
    winning = rules.winning_moves(a % side, b % side, k)
    return winning[0] if winning else None


def beats_mirror(start: Position, seed: int) -> bool:
    """Whether `adversarial`, who moves first, wins against the mirror strategy."""
    position, number = start, 0
    while True:
        number += 1
        move = GAME.opponents["adversarial"].choose(position, draws(seed, number))
        position = GAME.apply(position, move)
        if GAME.over(position):
            return True
        number += 1
        x, y = map(int, move.split())
        reply = mirror(position, (x, y))
        if reply is None:
            return True
        position = GAME.apply(position, f"{reply[0]} {reply[1]}")
        if GAME.over(position):
            return False


def test_the_printed_strategy_loses_to_adversarial_from_2_4_at_k_2() -> None:
    assert rules.is_lost(2, 4, 2)
    assert all(beats_mirror(Position(2, 4, 2), seed) for seed in range(100))


def test_the_printed_strategy_loses_to_adversarial_wherever_a_diagonal_crosses_one_border_beside_a_small_pile() -> None:
    lost = [(a, b, k) for a, b, k in SMALL if rules.is_lost(a, b, k) and min(a, b) <= k < max(a, b)]
    broken = [(a, b, k) for a, b, k in lost if max(a, b) % (k + 1) < min(a, b)]
    assert len(broken) > 30
    assert all(beats_mirror(Position(*piles), 1) for piles in broken)


def test_the_answer_to_a_trap_is_the_closed_forms() -> None:
    after = GAME.apply(GAME.start("2 4 2"), "2 2")
    move = GAME.opponents["optimal"].choose(after, Random(1))
    assert GAME.winner(GAME.apply(after, move)) == 1


@pytest.mark.parametrize("text", ["2 4 2", "2 4 2\n", "2 4 2\nsecond to move\n", "0 1000000000000000000 1\n"])
def test_positions_are_read_with_and_without_the_last_line_feed(text: str) -> None:
    assert GAME.to_text(GAME.start(text)).rstrip("\n") == text.rstrip("\n")


HUGE_GAMES = 10_000
PLAYED_OUT, WATCHED = 100, 4
"""Games of which 300 moves are played, and the moves of the others: against `one` a game at 10^18 has up to 10^18."""


def test_the_closed_form_wins_every_won_start_of_10_000_at_10_18_against_every_opponent() -> None:
    """Every move of it leaves a lost position, which is how games are won; a hundred are played on, most to their end.

    The kernels, which are another program, say which positions are lost.
    """
    random, names = Random(14), sorted(GAME.opponents)
    wins = ended = 0
    while wins < HUGE_GAMES:
        a, b, k = (random.randint(1, LARGEST) for _ in range(3))
        if checker.lost(a, b, k):
            continue
        position, number = Position(a, b, k), 0
        name = names[wins % len(names)]
        last = 300 if wins < PLAYED_OUT else WATCHED
        while not GAME.over(position) and number < last:
            number += 1
            player = GAME.opponents["optimal" if GAME.to_move(position) == 0 else name]
            position = GAME.apply(position, player.choose(position, draws(wins, number)))
            assert position.turn == 0 or checker.lost(*position.piles), (a, b, k, name, number)
        if GAME.over(position):
            ended += 1
            assert GAME.winner(position) == 0
        wins += 1
    assert ended > PLAYED_OUT / 2


@pytest.mark.parametrize("name", GAME.opponents)
def test_the_closed_form_wins_whole_games_from_every_small_won_start(name: str) -> None:
    for a, b, k in SMALL:
        position, number = Position(a, b, k), 0
        if rules.is_lost(a, b, k):
            continue
        while not GAME.over(position):
            number += 1
            player = GAME.opponents["optimal" if GAME.to_move(position) == 0 else name]
            position = GAME.apply(position, player.choose(position, draws(a, number)))
        assert GAME.winner(position) == 0

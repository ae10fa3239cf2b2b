"""Opponents at the last treat. Moves are pairs (x, y) within this module."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from checkers.doors import N_
from checkers.rules.lasttreat import is_legal, winning_moves
from games.doors import Opponent
from games.lasttreat.position import Position

Move = tuple[int, int]

ALL_LOOKED_AT = 120
"""Positions with at most so many moves are searched move by move; of larger ones a sample is."""

SAMPLED = 8
WORTH_COUNTING = 100
"""More replies than these make a mistake no likelier: fewer are counted, so that games at 10^18 come to an end."""


def optimal(position: Position, random: Random) -> Move:
    """Take the greatest winning move; from a lost position any move, drawn."""
    winning = winning_moves(*position.piles)
    return winning[0] if winning else drawn(position, random)


def adversarial(position: Position, random: Random) -> Move:
    """Win where that is possible; otherwise break the mirror strategy, or leave the most replies that lose.

    The strategy printed in the source answers a move across a multiple of K + 1 by one in the same direction that
    completes K + 1. After a diagonal move across a multiple of one pile only, beside a pile smaller than K + 1, there
    is no such reply.
    """
    winning = winning_moves(*position.piles)
    if winning:
        return winning[0]
    moves = crossing(position) or candidates(position, random)
    chances = {move: chances_to_err(position, move) for move in moves}
    most = max(chances.values())
    return random.choice([move for move in moves if chances[move] == most])


def drawn(position: Position, random: Random) -> Move:
    """Draw a direction that has a move, and a number in it, all equally likely."""
    directions = [i for i, most in enumerate(reaches(position)) if most > 0]
    at = random.choice(directions)
    return in_direction(at, random.randint(1, reaches(position)[at]))


def one(position: Position, random: Random) -> Move:
    """Take a single treat, from a pile that is drawn."""
    return in_direction(random.choice([at for at in (0, 1) if reaches(position)[at] > 0]), 1)


def greedy(position: Position, random: Random) -> Move:
    """Take as many treats as one move can; between equals it draws."""
    moves = [in_direction(at, most) for at, most in enumerate(reaches(position)) if most > 0]
    most = max(map(sum, moves))
    return random.choice([move for move in moves if sum(move) == most])


def reaches(position: Position) -> tuple[int, int, int]:
    """Give the most that may be taken of cakes, of fruit, and of both."""
    a, b, k = position.piles
    return min(a, k), min(b, k), min(a, b, k)


def in_direction(at: int, number: int) -> Move:
    """Take a number of cakes (0), of fruit (1), or of both (2)."""
    return ((number, 0), (0, number), (number, number))[at]


def crossing(position: Position) -> list[Move]:
    """List diagonal moves across a multiple of K + 1 in one pile only that no mirror move answers; a few of many."""
    a, b, k = position.piles
    side = k + 1
    if min(a, b) >= side:
        return []
    low, high = sorted((a % side, b % side))
    last = min(high, reaches(position)[2])
    if last <= low:
        return []
    numbers = {low + 1, last, *range(low + 1, min(last, low + SAMPLED) + 1), (low + last + 1) // 2}
    return [(i, i) for i in sorted(numbers)]


def candidates(position: Position, random: Random) -> list[Move]:
    """List all moves where they are few; otherwise in each direction the least, the most, and some that are drawn."""
    most = reaches(position)
    if sum(most) <= ALL_LOOKED_AT:
        return [in_direction(at, i) for at in range(3) for i in range(1, most[at] + 1)]
    numbers = [{1, top, *(random.randint(1, top) for _ in range(SAMPLED))} if top else set() for top in most]
    return [in_direction(at, i) for at in range(3) for i in sorted(numbers[at])]


def chances_to_err(position: Position, move: Move) -> float:
    """Give the share of the replies to a move that lose what the reply could win; 0 where there is no reply."""
    x, y = move
    after = Position(position.cakes - x, position.fruit - y, position.most)
    replies = min(sum(reaches(after)), WORTH_COUNTING)
    return 1 - len(winning_moves(*after.piles)) / replies if replies else 0.0


def spoken(choose: Callable[[Position, Random], Move]) -> Callable[[Position, Random], str]:
    """Make a way to choose pairs one that gives the text of a move."""

    def choose_text(position: Position, random: Random) -> str:
        x, y = choose(position, random)
        assert is_legal(*position.piles, x, y), "an opponent makes legal moves"
        return f"{x} {y}"

    return choose_text


OPPONENTS = {
    N_("optimal"): Opponent(
        N_("wins what can be won, by a formula; draws a move where it is lost"), spoken(optimal), quick=True
    ),
    N_("adversarial"): Opponent(
        N_("wins what can be won; where it is lost it breaks the mirror strategy or leaves the most replies that lose"),
        spoken(adversarial),
    ),
    N_("random"): Opponent(N_("draws a pile or both, and a number, all equally likely"), spoken(drawn), quick=True),
    N_("one"): Opponent(N_("takes a single treat from a pile that it draws"), spoken(one), quick=True),
    N_("greedy"): Opponent(N_("takes as many treats as one move can"), spoken(greedy), quick=True),
}

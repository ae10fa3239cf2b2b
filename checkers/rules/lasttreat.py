"""Rules of the last treat: legal moves, and which positions are lost. Exact for integers of any size.

A position is (cakes, fruit, most): two piles, and the most that a move takes from one of them. The theory is that of
`checkers/lasttreat.py`, whose kernels do the same for 10^5 positions at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt

from checkers.doors import Phrase

LARGEST = 10**18


def is_legal(cakes: int, fruit: int, most: int, x: int, y: int) -> bool:
    """Tell whether x cakes and y pieces of fruit may be taken where at most `most` may be taken from a pile."""
    return illegality(cakes, fruit, most, x, y) is None


def illegality(cakes: int, fruit: int, most: int, x: int, y: int) -> tuple[str, str] | None:
    """Say why a move is not legal, as (expected, found); None where it is. Taking nothing is no move."""
    if x == y == 0 or (x != y and x != 0 and y != 0) or x < 0 or y < 0:
        return Phrase("a number from one pile or the same number from both"), f"{x} {y}"
    if max(x, y) > most:
        return Phrase("at most %(count)s from a pile", count=most), str(max(x, y))
    if x > cakes:
        return Phrase("at most %(count)s cakes", count=cakes), str(x)
    if y > fruit:
        return Phrase("at most %(count)s pieces of fruit", count=fruit), str(y)
    return None


def is_lost(cakes: int, fruit: int, most: int) -> bool:
    """Tell whether a position is lost for its mover; the empty one is."""
    a, b = cakes % (most + 1), fruit % (most + 1)
    return lower(abs(a - b)) == min(a, b)


def lower(n: int) -> int:
    """Wythoff's a_n = floor(n * golden ratio)."""
    return (n + isqrt(5 * n * n)) // 2


def partner(number: int) -> int:
    """Complete a number to its pair (a_n, a_n + n): every number above 0 is in exactly one."""
    quotient = lower(number) - number  # floor(number / golden ratio)
    if number > 0 and lower(quotient + 1) == number:
        return number + quotient + 1
    return quotient


def winning_moves(cakes: int, fruit: int, most: int) -> list[tuple[int, int]]:
    """Give all winning moves, those that take most first; none from a lost position.

    A move along a pile leads to the one lost position of its row or column within the square of side most + 1; a move
    along both keeps the difference of the remainders, or turns it round the square. So there are four to look at.
    """
    moves = {
        (x, y)
        for x, y in _candidates(cakes, fruit, most)
        if is_legal(cakes, fruit, most, x, y) and is_lost(cakes - x, fruit - y, most)
    }
    return sorted(moves, key=lambda move: (-sum(move), move))


def _candidates(cakes: int, fruit: int, most: int) -> Iterator[tuple[int, int]]:
    side = most + 1
    a, b = cakes % side, fruit % side
    yield (a - partner(b)) % side, 0
    yield 0, (b - partner(a)) % side
    for difference, larger in ((abs(a - b), max(a, b)), (side - abs(a - b), min(a, b))):
        both = (larger - lower(difference) - difference) % side
        yield both, both

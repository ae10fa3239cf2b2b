"""Wythoff's pairs by their formula, in whole numbers: the reference."""

from __future__ import annotations

from checkers.compiled import njit
from checkers.lasttreat import lower
from checkers.numbers import Integers
from solvers.lasttreat.pairs import move_to
from solvers.lasttreat.progress import Work

POSITIONS_A_TURN = 65536


def fill_by_formula(rows: Integers, work: Work) -> None:
    """Answer all positions, each in a moment. A step: 65536 positions."""
    for begin in range(0, len(rows), POSITIONS_A_TURN):
        if not work.clock.running():
            return
        part = rows[begin : begin + POSITIONS_A_TURN]
        _answer(part, work.moves[begin : begin + POSITIONS_A_TURN])
        work.done += len(part)
        work.turn(len(part))


@njit(cache=True, nogil=True)
def partner_of(number: int) -> int:  # pragma: no cover - compiled
    """Complete a number (0..10^18) to its pair: every number is in exactly one.

    If it is a lower number a_n then n = floor(number / golden ratio) + 1; otherwise it is an upper one, and its lower
    one is floor(number / golden ratio). That floor is lower(number) - number.
    """
    if number == 0:
        return 0
    quotient = lower(number) - number
    if lower(quotient + 1) == number:
        return number + quotient + 1
    return quotient


@njit(cache=True, nogil=True)
def _answer(rows: Integers, moves: Integers) -> None:  # pragma: no cover - compiled
    """Answer every position."""
    for at in range(len(rows)):
        a, b, k = rows[at]
        r = a % (k + 1)
        s = b % (k + 1)
        x, y = move_to(r, s, partner_of(r), partner_of(s), lower(abs(r - s)))
        moves[at, 0] = x
        moves[at, 1] = y

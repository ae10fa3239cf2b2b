"""The game tree: a position is won if a move leads to a lost one, tried move by move and remembered nowhere."""

from __future__ import annotations

import numpy as np

from checkers.compiled import njit
from checkers.numbers import Integers
from solvers.lasttreat.progress import LOOKS_A_TURN, Work, refuse_beyond

DEEPEST = 4096
"""More treats than this are not tried: a play may take them one by one, and no one could wait for it."""

GOING_ON, LOST, WON = range(3)
CAKES, FRUIT, TRIED = range(3)


def fill_by_tree(rows: Integers, work: Work) -> None:
    """Answer position after position until the budget ends. A step: a million moves, or a position."""
    refuse_beyond(f"at most {DEEPEST} treats", rows, rows[:, 0] + rows[:, 1] <= DEEPEST)
    for at, (cakes, fruit, most) in enumerate(rows.tolist()):
        path = np.zeros((cakes + fruit + 2, 3), np.int64)
        path[0, CAKES], path[0, FRUIT] = cakes, fruit
        depth, state = 0, GOING_ON
        while state == GOING_ON and work.clock.running():
            depth, state, looks = _go_on(path, depth, most, LOOKS_A_TURN)
            work.turn(looks)
        if state == GOING_ON:
            return
        work.moves[at] = move_of(int(path[0, TRIED]) - 1, min(most, max(cakes, fruit))) if state == WON else (0, 0)
        work.done += 1


def move_of(number: int, largest: int) -> tuple[int, int]:
    """Give the move of a number: 0, 1, 2 take `largest` from the cakes, the fruit, both; then one less, and so on."""
    amount, pile = largest - number // 3, number % 3
    return (0 if pile == 1 else amount, 0 if pile == 0 else amount)


@njit(cache=True, nogil=True)
def _go_on(path: Integers, depth: int, most: int, turn: int) -> tuple[int, int, int]:  # pragma: no cover - compiled
    """Look at up to `turn` moves more; return the depth, the state of the root and the moves looked at.

    A row of `path` is a position on the way: its piles, and how many of its moves have been tried. Where all are tried
    the position is lost; the one above is won then, and the one above that tries its next move.
    """
    looks = 0
    while looks < turn:
        looks += 1
        cakes, fruit = path[depth, CAKES], path[depth, FRUIT]
        number = path[depth, TRIED]
        amount = min(most, max(cakes, fruit)) - number // 3
        if amount < 1:
            if depth == 0:
                return depth, LOST, looks
            if depth == 1:
                return depth, WON, looks
            depth -= 2
            continue
        path[depth, TRIED] = number + 1
        x = 0 if number % 3 == 1 else amount
        y = 0 if number % 3 == 0 else amount
        if x <= cakes and y <= fruit:
            depth += 1
            path[depth, CAKES] = cakes - x
            path[depth, FRUIT] = fruit - y
            path[depth, TRIED] = 0
    return depth, GOING_ON, looks

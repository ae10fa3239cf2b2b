"""Wythoff's pairs listed: the smallest number not used yet, and that number plus 0, 1, 2, ..."""

from __future__ import annotations

import numpy as np

from checkers.compiled import njit
from checkers.numbers import Integers
from solvers.lasttreat.pairs import move_to
from solvers.lasttreat.progress import MOST_CELLS, Work, refuse_beyond


def fill_by_pairs(rows: Integers, work: Work) -> None:
    """List the pairs up to the largest K, once, and answer each position in a moment.

    A step: a million numbers of the list, or all the answers.
    """
    refuse_beyond(f"K below {MOST_CELLS}", rows, rows[:, 2] < MOST_CELLS)
    most = int(rows[:, 2].max())
    partner, lowers = np.full(most + 1, -1, np.int64), np.full(most + 2, -1, np.int64)
    at, n = 0, 0
    while at <= most:
        if not work.clock.running():
            return
        begun = at
        at, n = _list_pairs(partner, lowers, at, n, 1_000_000)
        work.turn(at - begun)
    _answer(rows, partner, lowers, work.moves)
    work.done += len(rows)
    work.turn(len(rows))


@njit(cache=True, nogil=True)
def _list_pairs(
    partner: Integers, lowers: Integers, at: int, n: int, turn: int
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Go `turn` numbers on from `at`, which no pair has yet or one has; the next pair has the difference n.

    A pair whose upper number lies beyond the list is left out: no one can ask for it.
    """
    size = len(partner)
    end = min(size, at + turn)
    while at < end:
        if partner[at] < 0:
            lowers[n] = at
            if at + n < size:
                partner[at] = at + n
                partner[at + n] = at
            n += 1
        at += 1
    return at, n


@njit(cache=True, nogil=True)
def _answer(
    rows: Integers, partner: Integers, lowers: Integers, moves: Integers
) -> None:  # pragma: no cover - compiled
    """Answer every position by the list; `lowers` has -1 for differences whose pair lies beyond it."""
    for at in range(len(rows)):
        a, b, k = rows[at]
        r = a % (k + 1)
        s = b % (k + 1)
        x, y = move_to(r, s, partner[r], partner[s], lowers[abs(r - s)])
        moves[at, 0] = x
        moves[at, 1] = y

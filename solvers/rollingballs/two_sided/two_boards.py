"""Two live boards: `fore` is rolled forward from the start, `back` is un-rolled from the target, until both agree.

A ball is matched where both boards have the same colour on a cell. The final play is the rolls of `fore`, then the
un-rolls of `back` read backwards; if every ball is matched it ends exactly at the target.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.distances import make_buckets
from solvers.rollingballs.board.flat import FROM, TO, Board, Cells, Ints, Random, draw, undo_rolls
from solvers.rollingballs.board.paths import undo_backs

ROLLS, BACKS, MATCHED, DEAREST = range(4)
FORE, BACK = range(2)
SPARE = 200
ROOMS = 10


class TwoBoards(NamedTuple):
    """Flat arrays for the kernels; `now` holds ROLLS and BACKS made, balls MATCHED, and the DEAREST meeting allowed."""

    fore: Cells
    back: Cells
    steps: Ints
    rolls: Ints  # [most rolls + SPARE, 3] from, way, to
    backs: Ints  # the same for un-rolls: a ball stood at `to` and now stands at `from`
    now: Ints
    rooms: Ints  # [ROOMS, cells] distances, parents and ways of three searches, and a queue
    buckets: Ints
    locked: Cells  # [cells] helpers in place
    stack: Ints  # [10] cells to fill
    random: Random


def make_two_boards(board: Board, random: Random) -> TwoBoards:
    """Make room for two boards, with no rolls made."""
    rolls, backs = (np.zeros((board.most_rolls + SPARE, 3), np.int32) for _ in range(2))
    rooms = np.zeros((ROOMS, len(board.cells)), np.int32)
    two = TwoBoards(
        board.cells.copy(),
        board.target.copy(),
        board.steps,
        rolls,
        backs,
        np.zeros(4, np.int32),
        rooms,
        make_buckets(len(board.cells)),
        np.zeros(len(board.cells), np.int8),
        np.zeros(10, np.int32),
        random,
    )
    restart(two, board)
    return two


def restart(two: TwoBoards, board: Board) -> None:
    """Set both boards back to start and target."""
    two.fore[:], two.back[:] = board.cells, board.target
    two.now[:] = 0
    two.now[MATCHED] = int(((two.fore >= 0) & (two.fore == two.back)).sum())


@njit(cache=True, nogil=True)
def count_matched(two: TwoBoards) -> int:  # pragma: no cover - compiled
    """Count the balls on which both boards agree."""
    matched = 0
    for cell in range(len(two.fore)):
        matched += two.fore[cell] >= 0 and two.fore[cell] == two.back[cell]
    return matched


@njit(cache=True, nogil=True)
def undo_both(two: TwoBoards, rolls: int, backs: int, matched: int) -> None:  # pragma: no cover - compiled
    """Take back what was done since there were `rolls`, `backs` and `matched`."""
    undo_rolls(two.fore, two.rolls, two.now[ROLLS], rolls)
    undo_backs(two.back, two.backs, two.now[BACKS], backs)
    two.now[ROLLS], two.now[BACKS], two.now[MATCHED] = rolls, backs, matched


@njit(cache=True, nogil=True)
def choose_unmatched(two: TwoBoards, rolls: int, backs: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Choose a side and an unmatched ball there, mostly one that a move after `rolls` and `backs` left alone.

    The cell is -1 if all are matched.
    """
    random = two.random
    new_rolls, new_backs = two.now[ROLLS] - rolls, two.now[BACKS] - backs
    if new_rolls + new_backs > 0 and draw(random, 8) > 0:
        for _ in range(6):
            i = draw(random, new_rolls + new_backs)
            if i < new_rolls:
                cell = two.rolls[rolls + i, FROM if draw(random, 4) else TO]
            else:
                cell = two.backs[backs + i - new_rolls, TO if draw(random, 4) else FROM]
            if two.fore[cell] == two.back[cell]:
                continue
            if two.fore[cell] < 0:
                return BACK, cell
            return (FORE, cell) if two.back[cell] < 0 else (draw(random, 2), cell)
    side = draw(random, 2)
    own, other = (two.fore, two.back) if side == FORE else (two.back, two.fore)
    count, chosen = 0, -1
    for cell in range(len(own)):
        if own[cell] >= 0 and own[cell] != other[cell]:
            count += 1
            if draw(random, count) == 0:
                chosen = cell
    return side, chosen


@njit(cache=True, nogil=True)
def shake(two: TwoBoards, side: int, cell: int) -> bool:  # pragma: no cover - compiled
    """Move a ball at or next to `cell` by one random roll or un-roll."""
    random, steps = two.random, two.steps
    cells = two.fore if side == FORE else two.back
    step = steps[draw(random, 4)]
    seen = cell
    if draw(random, 3) > 0:
        seen = cell + step
        while cells[seen] == EMPTY:
            seen += step
        if cells[seen] < 0:
            seen = cell
    if cells[seen] < 0:
        return False
    way = draw(random, 4)
    if side == FORE:
        to = seen
        while cells[to + steps[way]] == EMPTY:
            to += steps[way]
        if to == seen:
            return False
        _note(two.rolls, two.now[ROLLS], seen, way, to)
        two.now[ROLLS] += 1
    else:
        if cells[seen + steps[way]] == EMPTY or cells[seen - steps[way]] != EMPTY:
            return False
        to, far = seen, 0
        while cells[to - steps[way]] == EMPTY:
            to -= steps[way]
            far += 1
        to = seen - steps[way] * (1 + draw(random, far))
        _note(two.backs, two.now[BACKS], to, way, seen)
        two.now[BACKS] += 1
    cells[to] = cells[seen]
    cells[seen] = EMPTY
    two.now[MATCHED] = count_matched(two)
    return True


@njit(cache=True, nogil=True)
def _note(moves: Ints, count: int, start: int, way: int, end: int) -> None:  # pragma: no cover - compiled
    moves[count, 0] = start
    moves[count, 1] = way
    moves[count, 2] = end

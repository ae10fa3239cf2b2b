"""From two boards to one true play: the rolls of `fore`, then the un-rolls of `back` reversed, mended where needed."""

from __future__ import annotations

import numpy as np
from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import FROM, TO, UNKNOWN, WAY, Board, Cells, Ints, make_roll, stop_of
from solvers.rollingballs.board.paths import play_forward
from solvers.rollingballs.board.shorten import shorten
from solvers.rollingballs.two_sided.meeting_moves import reach_forward
from solvers.rollingballs.two_sided.two_boards import BACKS, ROLLS, TwoBoards


def shorten_both(two: TwoBoards, board: Board) -> None:
    """Shorten the play of either board; the un-rolls are a play too, read backwards."""
    room, queue = two.rooms[0:3], two.rooms[9]
    scratch, spare = np.empty_like(two.fore), np.empty_like(two.rolls)
    rolls, backs = int(two.now[ROLLS]), int(two.now[BACKS])
    two.now[ROLLS] = shorten(board.cells.copy(), two.steps, two.rolls, rolls, scratch, room, queue, spare)
    reversed_backs = two.backs[:backs][::-1].copy()
    left = shorten(two.back.copy(), two.steps, reversed_backs, backs, scratch, room, queue, spare)
    two.backs[:left] = reversed_backs[:left][::-1]
    two.now[BACKS] = left


def shorten_rolls(board: Board, rolls: Ints) -> Ints:
    """Shorten a play from the start; it ends at the same board."""
    size, left = len(board.cells), rolls.copy()
    rooms = np.zeros((4, size), np.int32)
    scratch, spare = np.empty_like(board.cells), np.empty_like(rolls)
    count = shorten(board.cells.copy(), board.steps, left, len(left), scratch, rooms[0:3], rooms[3], spare)
    return left[:count].copy()


def land(two: TwoBoards, board: Board) -> tuple[Cells, Ints]:
    """Play both boards through; returns the true board at the end and its rolls, at most `board.most_rolls`."""
    cells, rolls = two.fore.copy(), np.zeros((board.most_rolls, 3), np.int32)
    count = min(int(two.now[ROLLS]), board.most_rolls)
    rolls[:count] = two.rolls[:count]
    where = pair_leftovers(two.fore, two.back)
    backs = two.backs[: two.now[BACKS]][::-1].copy()
    count = _land(cells, two.steps, backs, where, rolls, count, two.rooms[0:3], two.rooms[9])
    return cells, rolls[:count].copy()


def pair_leftovers(fore: Cells, back: Cells) -> Ints:
    """Give every ball of `back` one of `fore`: itself if matched, else an unmatched one of its colour; int32[cells]."""
    where = np.full(len(fore), -1, np.int32)
    matched = (fore >= 0) & (fore == back)
    where[matched] = np.flatnonzero(matched)
    for colour in range(10):
        goals = np.flatnonzero((back == colour) & ~matched)
        where[goals] = np.flatnonzero((fore == colour) & ~matched)[: len(goals)]
    return where


@njit(cache=True, nogil=True)
def _land(
    cells: Cells, steps: Ints, backs: Ints, where: Ints, rolls: Ints, count: int, room: Ints, queue: Ints
) -> int:  # pragma: no cover - compiled
    """Make every roll of `backs` with the ball meant, by another way if it stands or stops elsewhere."""
    for i in range(len(backs)):
        meant, to = backs[i, FROM], backs[i, TO]
        at = where[meant]
        where[meant] = -1
        if at == meant and stop_of(cells, at, steps[backs[i, WAY]]) == to:
            if count < len(rolls):
                at = make_roll(cells, steps, at, backs[i, WAY], rolls, count)
                count += 1
        elif at >= 0 and cells[to] == EMPTY:
            at, count = _catch_up(cells, steps, at, to, rolls, count, room, queue)
        where[to] = at
    for goal in range(len(where)):
        if where[goal] >= 0 and where[goal] != goal and cells[goal] == EMPTY:
            where[goal], count = _catch_up(cells, steps, where[goal], goal, rolls, count, room, queue)
    return count


@njit(cache=True, nogil=True)
def _catch_up(
    cells: Cells, steps: Ints, at: int, to: int, rolls: Ints, count: int, room: Ints, queue: Ints
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Roll the ball at `at` to `to` if it can go there alone; returns where it is and the number of rolls."""
    reach_forward(cells, steps, at, UNKNOWN, room, queue)
    if room[0, to] == UNKNOWN:
        return at, count
    made = play_forward(cells, at, to, room[1], room[2], rolls, count, queue)
    return (at, count) if made < 0 else (to, made)

"""Random restarts: eat with any legal jump as long as there is one, again and again, and keep the longest play."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.comesolo.moves import (
    DOWN,
    PAD,
    RIGHT,
    Jumps,
    Rows,
    Tables,
    Whole,
    draw,
    list_jumps,
    seeded,
    starts,
    toggle,
)
from solvers.comesolo.parts import Outcome, Split
from solvers.parts.clock import Clock

STATES_A_TURN = 20000
REACH = 3  # a jump that a changed cell takes part in starts at most so far from the middle of the change


def search_greedily(rows: Rows, tables: Tables, split: Split, *, seed: int, clock: Clock) -> Outcome:
    """Restart until the budget ends or a play has as many jumps as are proven possible. One step is one play."""
    bound = split.most
    best = np.empty(0, np.uint16)
    state = seeded(seed)
    states = 0
    plays = 1 if clock.steps is not None else max(1, STATES_A_TURN // max(bound, 1))
    while clock.running():
        play = play_at_random(rows, tables.inside, tables.size, state, plays)
        states += plays * bound
        best = max(best, play, key=len)
        clock.step(plays, best=len(best), states=states)
        if len(best) >= bound:
            break
    return Outcome(best, states, bound)


def play_at_random(rows: Rows, inside: Rows, size: int, state: NDArray[np.uint64], plays: int) -> Jumps:
    """Play `plays` times from a board and return the longest play."""
    return _playouts(rows, inside, size, state, plays)


@njit(cache=True, nogil=True)
def _playouts(
    first: Rows, inside: Rows, size: int, state: NDArray[np.uint64], plays: int
) -> Jumps:  # pragma: no cover - compiled
    """Play at random `plays` times. The list of jumps is kept: only what the last jump touched is looked at again."""
    room = size * size * 8
    legal = np.empty(room, np.uint16)
    place = np.empty(room, np.int32)
    play = np.empty(size * size, np.uint16)
    best = np.empty(size * size, np.uint16)
    longest = 0
    for _ in range(plays):
        rows = first.copy()
        place[:] = -1
        count = list_jumps(rows, inside, size, legal)
        for i in range(count):
            place[legal[i]] = i
        length = 0
        while count > 0:
            jump = np.int64(legal[draw(state, count)])
            toggle(rows, size, jump)
            play[length] = jump
            length += 1
            count = _refresh(rows, inside, size, jump, legal, place, count)
        if length > longest:
            longest = length
            best[:length] = play[:length]
    return best[:longest].copy()


@njit(cache=True, nogil=True)
def _refresh(
    rows: Rows, inside: Rows, size: int, jump: Whole, legal: Jumps, place: NDArray[np.int32], count: int
) -> int:  # pragma: no cover - compiled
    """Correct the list of jumps around a jump just played; return its new length."""
    cell = jump >> 3
    middle_row = cell // size + DOWN[jump & 7]
    middle_column = cell % size + RIGHT[jump & 7]
    low_row = max(0, middle_row - REACH)
    high_row = min(size, middle_row + REACH + 1)
    low_column = max(0, middle_column - REACH)
    high_column = min(size, middle_column + REACH + 1)
    for row in range(low_row, high_row):
        for direction in range(8):
            bits = starts(rows, inside, row + PAD, direction)
            for column in range(low_column, high_column):
                number = (row * size + column) * 8 + direction
                can = (bits >> np.uint64(column + PAD)) & np.uint64(1)
                if can and place[number] < 0:
                    place[number] = count
                    legal[count] = number
                    count += 1
                elif not can and place[number] >= 0:
                    count -= 1
                    last = legal[count]
                    legal[place[number]] = last
                    place[last] = place[number]
                    place[number] = -1
    return count

"""Helpers on two boards: another ball goes where a ball has to be stopped, and is matched anew afterwards."""

from __future__ import annotations

from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import UNKNOWN, draw, measure_ways
from solvers.rollingballs.board.paths import play_back, play_forward
from solvers.rollingballs.board.unroll import fetch
from solvers.rollingballs.two_sided.meeting_moves import reach_back, reach_forward
from solvers.rollingballs.two_sided.two_boards import BACKS, MATCHED, ROLLS, TwoBoards, count_matched

MATCHED_COST = 3


@njit(cache=True, nogil=True)
def help_back(two: TwoBoards, ball: int) -> bool:  # pragma: no cover - compiled
    """Put a ball of `back` where it lets `ball` un-roll by one more way; False, and nothing done, if none can."""
    back, steps, random = two.back, two.steps, two.random
    count = reach_back(back, steps, ball, 2, two.rooms[0:3], two.rooms[9])
    at = ball if draw(random, 2) == 0 else two.rooms[9, draw(random, count)]
    way = draw(random, 4)
    for _ in range(4):
        way = (way + 1) % 4
        if back[at + steps[way]] == EMPTY and (back[at - steps[way]] == EMPTY or at - steps[way] == ball):
            break
    else:
        return False
    first = two.now[BACKS]
    moved = play_back(back, ball, at, two.rooms[1], two.rooms[2], two.backs, first, two.rooms[9])
    if moved < 0:
        return False
    two.now[BACKS] = fetch(back, steps, at + steps[way], at, random, two.backs, moved, two.rooms)
    two.now[MATCHED] = count_matched(two)
    return bool(two.now[BACKS] > first)


@njit(cache=True, nogil=True)
def help_forward(two: TwoBoards, ball: int, goal: int) -> bool:  # pragma: no cover - compiled
    """Put a ball of `fore` where it stops `ball` on a cell that `goal` can un-roll to, and let these two meet there.

    False, and nothing done, if no ball can come there.
    """
    fore, back, steps = two.fore, two.back, two.steps
    mine, yours, queue = two.rooms[0:3], two.rooms[3:6], two.rooms[9]
    reach_back(back, steps, goal, UNKNOWN, yours, queue)
    spot, meeting = _choose_stop(two, ball, True)
    if spot < 0 or spot == ball:
        return False
    rolls = bring_forward(two, spot, ball)
    if rolls < 0:
        return False
    reach_forward(fore, steps, ball, UNKNOWN, mine, queue)
    two.now[ROLLS] = rolls
    if mine[0, meeting] < UNKNOWN:
        backs = -1
        rolls = play_forward(fore, ball, meeting, mine[1], mine[2], two.rolls, rolls, queue)
        if rolls >= 0:
            two.now[ROLLS] = rolls
            backs = play_back(back, goal, meeting, yours[1], yours[2], two.backs, two.now[BACKS], queue)
        if backs >= 0:
            two.now[BACKS] = backs
    two.now[MATCHED] = count_matched(two)
    return True


@njit(cache=True, nogil=True)
def free_forward(two: TwoBoards, ball: int) -> bool:  # pragma: no cover - compiled
    """Put a ball of `fore` where it stops `ball` on some cell that it could not stop on; False if none can come."""
    spot, _ = _choose_stop(two, ball, False)
    if spot < 0 or spot == ball:
        return False
    rolls = bring_forward(two, spot, ball)
    if rolls < 0:
        return False
    two.now[ROLLS] = rolls
    two.now[MATCHED] = count_matched(two)
    return True


@njit(cache=True, nogil=True)
def _choose_stop(two: TwoBoards, ball: int, meeting_only: bool) -> tuple[int, int]:  # pragma: no cover - compiled
    """Choose (where a helper must be, where `ball` stops then), the cheapest with noise; (-1, -1) if there is none.

    With `meeting_only` the stop must be a cell that the search back in rooms 3 to 5 has reached.
    """
    fore, steps, random = two.fore, two.steps, two.random
    mine, yours, queue = two.rooms[0:3], two.rooms[3:6], two.rooms[9]
    count = reach_forward(fore, steps, ball, UNKNOWN, mine, queue)
    best, spot, meeting = 1 << 30, -1, -1
    noise = 4 << draw(random, 3)
    colour = fore[ball]
    fore[ball] = EMPTY
    for i in range(count):
        cell = queue[i]
        for way in range(4):
            step = steps[way]
            to = cell
            while fore[to + step] == EMPTY:
                to += step
                if fore[to + step] != EMPTY:
                    break
                if meeting_only:
                    if yours[0, to] == UNKNOWN:
                        continue
                    rank = 2 * (mine[0, cell] + yours[0, to]) + draw(random, noise)
                else:
                    if mine[0, to] < UNKNOWN:
                        continue
                    rank = 2 * mine[0, cell] + draw(random, noise)
                if rank < best:
                    best, spot, meeting = rank, to + step, to
    fore[ball] = colour
    return spot, meeting


@njit(cache=True, nogil=True)
def bring_forward(two: TwoBoards, spot: int, keep: int) -> int:  # pragma: no cover - compiled
    """Roll some ball of `fore`, not the one at `keep`, to `spot`; returns the number of rolls, -1 if none can come."""
    fore, random = two.fore, two.random
    mine, queue = two.rooms[6:9], two.rooms[9]
    distance = mine[0]
    measure_ways(fore, two.steps, spot, distance, queue)
    helper, least = -1, 1 << 30
    for cell in range(len(fore)):
        if fore[cell] < 0 or cell == keep or distance[cell] == UNKNOWN:
            continue
        settled = MATCHED_COST if fore[cell] == two.back[cell] else 0
        rank = 2 * (distance[cell] + settled) + draw(random, 8)
        if rank < least:
            helper, least = cell, rank
    if helper < 0:
        return -1
    reach_forward(fore, two.steps, helper, UNKNOWN, mine, queue)
    if distance[spot] == UNKNOWN:
        return -1
    return int(play_forward(fore, helper, spot, mine[1], mine[2], two.rolls, two.now[ROLLS], queue))


@njit(cache=True, nogil=True)
def nearest_free(two: TwoBoards, ball: int) -> int:  # pragma: no cover - compiled
    """Choose a random unmatched cell of `back` with the colour of `ball`; -1 if there is none."""
    colour, count, chosen = two.fore[ball], 0, -1
    for cell in range(len(two.back)):
        if two.back[cell] == colour and two.fore[cell] != colour:
            count += 1
            if draw(two.random, count) == 0:
                chosen = cell
    return chosen

"""two-sided, the reference: one board rolled from the start, one un-rolled from the target, until they agree.

One loop does all (`loop.py`): it makes an operator, looks whether it likes the boards, and takes back what it does not
like. The operators are beams over a few balls (`crowd.py`), meetings (`meet.py`) and small disturbances. What
each is worth is told in docs/solvers/rollingballs.md.
"""

from __future__ import annotations

from checkers.rollingballs import Answer, Instance
from solvers.parts.clock import Clock
from solvers.rollingballs.board.arena import (
    BALLS_B,
    BEST_POINTS,
    ENDED,
    FROZEN,
    GENERATIONS,
    MOST_POINTS,
    PATIENCE,
    UNMATCHED,
    Arena,
    make_arena,
    read_best,
)
from solvers.rollingballs.board.flat import lay_out, seed_random
from solvers.rollingballs.bound.maximum import find_maximum

WORK_PER_STEP = 1_000_000
FORWARD_ONLY_ABOVE = 400
LAST_SHARE, FEWEST_TO_GO_ON = 0.8, 25
SHORT_PATIENCE, FEW_GENERATIONS = 40, 2
"""Turns and generations of a restart with fewer balls than FEWEST_TO_GO_ON: it soon has seen what it can reach."""


def solve_two_sided(instance: Instance, clock: Clock, seed: int) -> Answer:
    """Restart until the clock stops or the answer is as good as any can be; a step is some 10 ms of search.

    Every third restart goes forward only, and on boards of many balls each does.
    """
    arena = make_arena(instance.start, instance.target, instance.most_rolls, seed_random(seed))
    clock.most = find_maximum(lay_out(instance))
    arena.m[MOST_POINTS] = clock.most
    search(arena, clock, forward=instance.balls > FORWARD_ONLY_ABOVE)
    best = int(arena.m[BEST_POINTS])
    clock.report(best=best, note="optimal" if best == clock.most else "", final=True)
    return read_best(arena)


def search(arena: Arena, clock: Clock, *, forward: bool) -> None:
    """Improve the best landing until the clock stops or nothing can be better.

    In the last fifth of the time the best landing is taken up again, forward only: two balls that cannot be joined on
    two boards may be led on one, and points of wrong colours count there.
    """
    from solvers.rollingballs.two_sided.loop import go_on, take_landing  # compiles or loads the kernels

    m = arena.m
    restarts, last = 0, False
    begin(arena, forward=forward)
    while m[BEST_POINTS] < m[MOST_POINTS] and clock.step(best=int(m[BEST_POINTS]), note=_tell(arena)):
        if m[ENDED] or not m[UNMATCHED]:
            restarts += 1
            begin(arena, forward=forward or restarts % 3 == 2)
        if not last and clock.fraction >= LAST_SHARE:
            last = True
            if not m[FROZEN] and m[BALLS_B] >= FEWEST_TO_GO_ON:
                take_landing(m, arena.u)
        go_on(*arena, WORK_PER_STEP)


def begin(arena: Arena, *, forward: bool) -> None:
    """Begin a restart; one with few balls ends soon."""
    from solvers.rollingballs.two_sided.loop import restart  # as in `search`

    restart(arena.m, int(forward))
    if arena.m[BALLS_B] < FEWEST_TO_GO_ON:
        arena.m[PATIENCE], arena.m[GENERATIONS] = SHORT_PATIENCE, FEW_GENERATIONS


def _tell(arena: Arena) -> str:
    balls = int(arena.m[BALLS_B])
    return f"{balls - int(arena.m[UNMATCHED])} of {balls} matched"

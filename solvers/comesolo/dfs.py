"""Brute force: depth first, taking jumps back, until the budget ends or every play has been tried."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.comesolo.moves import Jumps, Rows, Tables, draw, list_jumps, seeded, toggle
from solvers.comesolo.parts import Outcome, Split
from solvers.parts.clock import Clock

STATES_A_TURN = 20000
DEPTH, BEST = 0, 1


@dataclass(frozen=True)
class Stack:
    """The state of a depth-first search: the board, the jumps not yet tried at each depth, and the play that led here.

    The lists of the depths lie behind each other in `untried`; that of depth d ends at `ends[d]`. `place` holds the
    depth and the length of the longest play, which is in `best`.
    """

    rows: Rows
    untried: Jumps
    ends: NDArray[np.int64]
    play: Jumps
    best: Jumps
    place: NDArray[np.int64]


def search_depth_first(rows: Rows, tables: Tables, split: Split, *, seed: int, clock: Clock) -> Outcome:
    """Search until the budget ends, all is tried or no longer play is possible. One step is one jump."""
    bound = split.most
    stack = new_stack(rows, tables)
    state = seeded(seed)
    states = 0
    while clock.running() and stack.place[BEST] < bound:
        turn = STATES_A_TURN if clock.steps is None else min(STATES_A_TURN, clock.steps - clock.taken)
        done = go_on(stack, tables, state, turn)
        states += done
        clock.step(done, best=int(stack.place[BEST]), states=states)
        if done < turn:
            bound = int(stack.place[BEST])
    return Outcome(stack.best[: stack.place[BEST]].copy(), states, bound)


def new_stack(rows: Rows, tables: Tables) -> Stack:
    """Stand at the root with nothing tried."""
    cells = tables.size**2
    untried = np.empty(4 * cells * cells + 8 * cells, np.uint16)  # 4 * cells lists jumps on any board
    play, best = np.empty(cells, np.uint16), np.empty(cells, np.uint16)
    return Stack(rows.copy(), untried, np.zeros(cells + 1, np.int64), play, best, np.array([-1, 0], np.int64))


def go_on(stack: Stack, tables: Tables, state: NDArray[np.uint64], turn: int) -> int:
    """Play up to `turn` jumps more; returns how many, fewer only if there is nothing left to try."""
    return _go_on(
        stack.rows,
        stack.untried,
        stack.ends,
        stack.play,
        stack.best,
        stack.place,
        tables.inside,
        tables.size,
        state,
        turn,
    )


@njit(cache=True, nogil=True)
def _go_on(
    rows: Rows,
    untried: Jumps,
    ends: NDArray[np.int64],
    play: Jumps,
    best: Jumps,
    place: NDArray[np.int64],
    inside: Rows,
    size: int,
    state: NDArray[np.uint64],
    turn: int,
) -> int:  # pragma: no cover - compiled
    """Go down by the last untried jump, or take the last jump back; a new depth's jumps are shuffled."""
    depth = place[DEPTH]
    longest = place[BEST]
    if depth < 0:
        depth = 0
        ends[0] = list_jumps(rows, inside, size, untried)
        _shuffle(untried, 0, ends[0], state)
    done = 0
    while done < turn:
        begin = ends[depth - 1] if depth > 0 else 0
        if ends[depth] == begin:
            if depth == 0:
                break
            depth -= 1
            toggle(rows, size, np.int64(play[depth]))
            continue
        ends[depth] -= 1
        jump = np.int64(untried[ends[depth]])
        toggle(rows, size, jump)
        play[depth] = jump
        done += 1
        depth += 1
        if depth > longest:
            longest = depth
            best[:depth] = play[:depth]
        first = ends[depth - 1]
        ends[depth] = first + list_jumps(rows, inside, size, untried[first:])
        _shuffle(untried, first, ends[depth], state)
    place[DEPTH] = depth
    place[BEST] = longest
    return done


@njit(cache=True, nogil=True)
def _shuffle(jumps: Jumps, first: int, end: int, state: NDArray[np.uint64]) -> None:  # pragma: no cover - compiled
    """Shuffle a stretch (Fisher and Yates)."""
    for i in range(end - 1, first, -1):
        other = first + draw(state, i + 1 - first)
        jumps[i], jumps[other] = jumps[other], jumps[i]

"""The reference: beams over compact boards, from narrow to wide, then good plays cut at a jump and grown again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from solvers.comesolo.costs import SETTINGS, Setting, View, costs_of, middle_of
from solvers.comesolo.levels import build, choose, first_level
from solvers.comesolo.moves import Jumps, Rows, Tables, board_of, play_on
from solvers.parts.clock import Clock

NARROWEST, WIDEST = 32, 2048
LAST_PIECES, LAST_FACTOR = 60, 20


@dataclass
class Search:
    """The state of one run: its board, its budget and the best play so far."""

    rows: Rows
    tables: Tables
    bound: int
    clock: Clock
    random: np.random.Generator
    best: Jumps = field(default_factory=lambda: np.empty(0, np.uint16))
    left: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))
    states: int = 0

    @property
    def going(self) -> bool:
        """True while a longer play is possible and there is budget left."""
        return len(self.best) < self.bound and self.clock.running()

    def offer(self, play: Jumps) -> None:
        """Keep a play that is not shorter than the best so far: among equals the search wanders."""
        if len(play) >= len(self.best):
            self.best = play
            self.left = np.argwhere(board_of(play_on(self.rows, play, self.tables.size), self.tables.size))


def search_beam(rows: Rows, tables: Tables, bound: int, *, seed: int, clock: Clock) -> tuple[Jumps, int]:
    """Search until the budget ends or a play reaches `bound`. One step is one board built. Returns play and states."""
    search = Search(rows, tables, bound, clock, np.random.Generator(np.random.PCG64(seed)))
    widen(search)
    while search.going:
        grow_again(search)
    return search.best, search.states


def widen(search: Search) -> None:
    """Run beams from the start, each twice as wide, through all settings; half the budget at most."""
    width, turn = NARROWEST, 0
    while search.going and search.clock.fraction < 0.5:
        centre = middle_of(board_of(search.rows, search.tables.size))
        if turn % 2 and len(search.left):
            centre = near_left_over(search)
        view = View(SETTINGS[turn % len(SETTINGS)], centre)
        search.offer(run(search, search.rows, view, width))
        turn += 1
        width = min(2 * width, WIDEST)


def grow_again(search: Search) -> None:
    """Cut the best play at a random jump, rather late than early, and run a beam from there with jittered tastes."""
    beginning = search.best[: int(len(search.best) * search.random.random() ** 0.5)]
    rows = play_on(search.rows, beginning, search.tables.size)
    setting = SETTINGS[int(search.random.integers(len(SETTINGS)))]
    jitter = search.random.uniform(0.8, 1.25, 3)
    setting = Setting(setting.power * jitter[0], setting.lonely * jitter[1], setting.pair * jitter[2])
    centre = near_left_over(search) if search.random.random() < 0.5 else middle_of(board_of(rows, search.tables.size))
    raised = [(int(r), int(c)) for r, c in search.left]
    view = View(setting, centre, raised, float(search.random.uniform(0, 1)))
    width = int(2 ** search.random.uniform(5, 9))
    search.offer(np.concatenate((beginning, run(search, rows, view, width))))


def near_left_over(search: Search) -> tuple[float, float]:
    """Draw a centre near a piece that the best play left over."""
    row, column = search.left[int(search.random.integers(len(search.left)))]
    middle = middle_of(board_of(search.rows, search.tables.size))
    share = search.random.uniform(0.2, 0.8)
    return (middle[0] + share * (row - middle[0]), middle[1] + share * (column - middle[1]))


def run(search: Search, rows: Rows, view: View, width: int) -> Jumps:
    """Run one beam from a board to its end; returns the play of the last level's cheapest board."""
    tables = search.tables
    costs = costs_of(view, tables.size)
    level = first_level(rows, tables, costs)
    pieces = int(board_of(rows, tables.size).sum())
    past = []
    while search.clock.running() or len(search.best) == 0:
        wide = width * LAST_FACTOR if pieces <= LAST_PIECES else width
        if not search.clock.running():
            wide = 1  # the budget ends within the first run: see that there is a whole play
        chosen = choose(level, tables, wide)
        if len(chosen.parents) == 0:
            break
        past.append((chosen.parents, chosen.jumps))
        level = build(level, chosen, tables, costs)
        pieces -= 1
        search.states += len(chosen.parents)
        search.clock.step(len(chosen.parents), best=len(search.best), states=search.states)
    return trace(past, int(np.argmin(level.costs)))


def trace(past: list[tuple[NDArray[np.int32], Jumps]], at: int) -> Jumps:
    """Follow the parents back from a board of the last level."""
    play = np.empty(len(past), np.uint16)
    for depth in range(len(past) - 1, -1, -1):
        parents, jumps = past[depth]
        play[depth] = jumps[at]
        at = int(parents[at])
    return play

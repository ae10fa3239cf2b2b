"""The reference: beams over compact boards; then the best play is cut near a piece that it left over, and grown again.

Parts of the board that never meet are searched in turn, each with a search of its own. Most of the effort grows plays
again; a part of it runs beams from the first board, each wider than the one before. Such a beam from which no board was
ever left out has tried everything, and proves its play longest.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from solvers.comesolo.cone import hold_back_near
from solvers.comesolo.costs import SETTINGS, Setting, View, costs_of, middle_of
from solvers.comesolo.levels import BARRED, build, choose, first_level
from solvers.comesolo.moves import Jumps, Rows, Tables, board_of, play_on
from solvers.comesolo.parts import Outcome, Part, Split, count_pieces
from solvers.comesolo.stuck import MOST_PIECES, leave_more
from solvers.parts.clock import Clock

NARROWEST, WIDEST = 16, 1 << 15
WHOLE_SHARE = 0.1  # of all boards built, in beams from the first board
BOARDS = 1000  # built to grow a play again; up to 64 times as many the longer nothing better comes
PATIENCE = 150  # plays grown again in vain, after which as many more boards again may be built
FEWEST_JUMPS, SHORTEST, LONGEST = 6, 12, 120
WANDER = 0.05  # share of cuts at a cell drawn anywhere


@dataclass
class Effort:
    """The budget and the random numbers that the searches of all parts share, and what they did."""

    tables: Tables
    clock: Clock
    random: np.random.Generator
    eaten: int = 0
    states: int = 0

    def count(self, boards: int) -> None:
        """Count boards built, and report."""
        self.states += boards
        self.clock.step(boards, best=self.eaten, states=self.states)

    def draw_log(self, low: float, high: float) -> float:
        """Draw a number whose logarithm is evenly spread."""
        return float(np.exp(self.random.uniform(np.log(low), np.log(high))))


@dataclass
class Search:
    """The search of one part: the proven maximum of its jumps, its best play so far, and the pieces that it leaves."""

    rows: Rows
    most: int
    effort: Effort
    best: Jumps = field(default_factory=lambda: np.empty(0, np.uint16))
    left: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))
    turn: int = 0
    built: int = 0
    built_whole: int = 0
    vain: int = 0

    @property
    def open(self) -> bool:
        """True while a longer play may be possible."""
        return len(self.best) < self.most

    def offer(self, play: Jumps) -> None:
        """Keep a play that is not shorter than the best so far: among equals the search wanders."""
        self.vain = 0 if len(play) > len(self.best) else self.vain + 1
        if len(play) >= len(self.best):
            size = self.effort.tables.size
            self.effort.eaten += len(play) - len(self.best)
            self.best = play
            self.left = np.argwhere(board_of(play_on(self.rows, play, size), size))


def search_beam(rows: Rows, tables: Tables, split: Split, *, seed: int, clock: Clock) -> Outcome:
    """Search until the budget ends or no longer play is possible. One step is one board built."""
    del rows  # the parts have all pieces that can move
    effort = Effort(tables, clock, np.random.Generator(np.random.PCG64(seed)))
    searches = [new_search(part, effort) for part in split.parts]
    for search in searches:
        if search.open:
            run_whole(search)
    while clock.running() and any(search.open for search in searches):
        for search in searches:
            if search.open and clock.running():
                go_on(search)
    jumps = np.concatenate([np.empty(0, np.uint16), *(search.best for search in searches)])
    return Outcome(jumps, effort.states, sum(search.most for search in searches))


def new_search(part: Part, effort: Effort) -> Search:
    """Begin the search of a part, with its longest play where that is known."""
    search = Search(part.rows, part.most, effort)
    if part.play is not None:
        search.offer(part.play)
    return search


def go_on(search: Search) -> None:
    """Grow the best play again, or run a wider beam from the first board where enough was done to pay for it."""
    if 2 * search.built_whole <= WHOLE_SHARE * search.built and NARROWEST << search.turn <= WIDEST:
        run_whole(search)
    else:
        grow_again(search)


def run_whole(search: Search) -> None:
    """Run a beam from the first board, each twice as wide as the one before; the settings take turns."""
    size = search.effort.tables.size
    view = View(SETTINGS[search.turn % len(SETTINGS)], middle_of(board_of(search.rows, size)))
    built = search.built
    play, whole = run(search, search.rows, view, NARROWEST << search.turn)
    search.built_whole = search.built - built
    search.turn += 1
    search.offer(play)
    if whole:
        search.most = len(search.best)


def grow_again(search: Search) -> None:
    """Hold back a bit of the best play and run a beam on what the rest of it leaves, with jittered tastes."""
    effort = search.effort
    later = draw_cut(search)
    beginning = search.best[~later]
    rows = play_on(search.rows, beginning, effort.tables.size)
    most_boards = BOARDS * 2 ** min(6.0, 1 + search.vain / PATIENCE)
    width = max(8, int(effort.draw_log(BOARDS, most_boards) / max(1, later.sum())))
    play, _ = run(search, rows, draw_view(search, rows), width)
    search.offer(np.concatenate((beginning, play)))


def draw_cut(search: Search) -> NDArray[np.bool_]:
    """Mark jumps of the best play to be held back: some of the last ones near a piece that is left over."""
    random, size = search.effort.random, search.effort.tables.size
    row, column = search.left[int(random.integers(len(search.left)))]
    if random.random() < WANDER:
        row, column = random.integers(size, size=2)
    most = int(search.effort.draw_log(SHORTEST, max(SHORTEST + 1, min(LONGEST, len(search.best)))))
    distance = np.maximum(*abs(np.mgrid[0:size, 0:size] - np.array([[[row]], [[column]]])))
    later = np.zeros(len(search.best), np.bool_)
    for reach in range(int(random.integers(1, 5)), size):
        later = hold_back_near(search.best, distance <= reach, most)
        if later.sum() >= FEWEST_JUMPS:
            break
    return later


def draw_view(search: Search, rows: Rows) -> View:
    """Draw a setting near one of those given, and a centre: the middle of the pieces, or between it and one of them."""
    random = search.effort.random
    setting = SETTINGS[int(random.integers(len(SETTINGS)))]
    jitter = random.uniform(0.8, 1.25, 3)
    setting = Setting(setting.power * jitter[0], setting.lonely * jitter[1], setting.pair * jitter[2])
    board = board_of(rows, search.effort.tables.size)
    centre = np.array(middle_of(board))
    if random.random() < 0.5:
        pieces = np.argwhere(board)
        centre += random.random() * (pieces[int(random.integers(len(pieces)))] - centre)
    raised = [(int(r), int(c)) for r, c in search.left]
    return View(setting, (float(centre[0]), float(centre[1])), raised, float(random.random()))


def run(search: Search, rows: Rows, view: View, width: int) -> tuple[Jumps, bool]:
    """Run one beam to its end; returns the play of the last level's cheapest board, and whether all was tried."""
    effort = search.effort
    tables = effort.tables
    costs = costs_of(view, tables.size)
    level = first_level(rows, tables, costs)
    past = []
    whole = True
    pieces = count_pieces(rows)
    allowed = count_pieces(search.rows) - len(search.best)  # as many as now: a play of the same length is welcome
    while effort.clock.running() or len(search.best) == 0:
        # if the budget ends within the first beam, see that there is a whole play
        chosen = choose(level, tables, width if effort.clock.running() else 1)
        if len(chosen.parents) == 0:
            break
        whole &= chosen.whole
        past.append((chosen.parents, chosen.jumps))
        level = build(level, chosen, tables, costs)
        pieces -= 1
        if pieces <= MOST_PIECES:
            level.costs[leave_more(level.rows, allowed)] = BARRED
        search.built += len(chosen.parents)
        effort.count(len(chosen.parents))
    else:
        whole = False
    return trace(past, int(np.argmin(level.costs))), whole


def trace(past: list[tuple[NDArray[np.int32], Jumps]], at: int) -> Jumps:
    """Follow the parents back from a board of the last level."""
    play = np.empty(len(past), np.uint16)
    for depth in range(len(past) - 1, -1, -1):
        parents, jumps = past[depth]
        play[depth] = jumps[at]
        at = int(parents[at])
    return play

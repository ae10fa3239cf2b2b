"""The reference: a plan first, then a proof that none is shorter, or a shorter one.

A beam from each end gives a plan of U steps. Then whole layers grow from both ends, always the smaller one, and every
state is dropped that cannot lie on a plan of U - 1 steps: its depth plus a bound to the far end is too much, or no
state of the other side's outermost layer is near enough. The first meeting is a shortest plan; where the depths come to
U - 1 without one, or a layer is empty, the beam's plan is the shortest. (Where both beams lose every way, U is more
than any shortest plan has.) Layers are kept, so that a plan is found again by looking in each for a state that is one
step away.

A state on a plan of U - 1 steps is met first at its least depth, and nothing drops it there, since all states on a
shortest way to it lie on such a plan, too. So a state that is dropped once lies on none, whichever end dropped it, and
its mark says so to both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.lazypiglets.beam import search_beam
from solvers.lazypiglets.bits import Ranks
from solvers.lazypiglets.bounds import Bounds, Lanes, Pairs, assignment, bounds_to, is_within
from solvers.lazypiglets.maps import Cells, Field, list_steps, rank_of, unrank, unrank_next
from solvers.lazypiglets.marks import (
    DEAD,
    FROM_GOAL,
    FROM_START,
    MARK,
    PAGE,
    UNMET,
    Marks,
    Words,
    marks_of,
    shift_of,
    word_of,
)
from solvers.lazypiglets.runs import Bits, count_runs
from solvers.lazypiglets.work import Work

NARROW, WIDE = 1000, 5000
STATES_BEFORE_WIDE = 1_000_000
STATES_A_TURN = 1 << 12

BLOCK = 256
"""How many states are expanded before the bounds of what they lead to are computed."""
CELL = np.int64(9)
ONE_CELL = np.int64((1 << 9) - 1)

Classes = NDArray[np.uint8]


@dataclass
class End:
    """The search from one end: all its layers, its mark, and the bounds to the far and to the near end.

    `classes[f, n]` is 1 where a state of the outermost layer has best assignments f to the far and n to the near end;
    no state has more than `len(classes) - 1`.
    """

    layers: list[Ranks]
    to_far: Bounds
    to_near: Bounds
    classes: Classes
    mark: np.uint64

    @property
    def depth(self) -> int:
        """The steps from this end to the outermost layer."""
        return len(self.layers) - 1

    @property
    def outermost(self) -> int:
        """The number of states in the outermost layer."""
        return len(self.layers[-1])

    @property
    def held(self) -> int:
        """Bytes held."""
        return sum(layer.nbytes for layer in self.layers)


def search_two_ended(map_: Field, work: Work) -> list[Cells]:
    """Find the states of a shortest plan, from piglets to haystacks, which must be reachable. Raises Unsolved."""
    bounds = bounds_to(map_.goal, map_), bounds_to(map_.start, map_)
    most = map_.pigs * map_.free  # a shortest plan needs fewer: it is as if no piglet walked more than free - 1 steps
    way = shorter_plan(map_, bounds, most, NARROW, work)
    limit = len(way) - 2 if way else most
    marks = marks_of(map_.states)
    ends = begin(map_, bounds, limit, marks)
    wide = False
    while ends[0].depth + ends[1].depth < limit and ends[0].outermost and ends[1].outermost:
        if not wide and work.states > STATES_BEFORE_WIDE:
            wide = True
            way = shorter_plan(map_, bounds, limit, WIDE, work) or way
            limit = len(way) - 2 if way else most
            continue
        near, far = sorted(ends, key=lambda end: end.outermost)
        met = grow(near, far, marks, map_, limit, work)
        if met is not None:
            way = [*trace(ends[0].layers[:-1], met, map_)[::-1], *trace(ends[1].layers[:-1], met, map_)[1:]]
            break
    return [cells_of(rank, map_) for rank in way]


def shorter_plan(map_: Field, bounds: tuple[Bounds, Bounds], limit: int, width: int, work: Work) -> list[int]:
    """Look from both ends for a plan of at most `limit` steps; returns its ranks from piglets to haystacks, or []."""
    start, goal = map_.rank(map_.start), map_.rank(map_.goal)
    plan: list[int] = []
    levels = search_beam(start, goal, map_, bounds[0], width=width, limit=limit, work=work)
    if levels:
        plan = trace(levels[:-1], goal, map_)[::-1]
        limit = len(plan) - 2
    levels = search_beam(goal, start, map_, bounds[1], width=width, limit=limit, work=work)
    return trace(levels[:-1], start, map_) if levels else plan


def begin(map_: Field, bounds: tuple[Bounds, Bounds], limit: int, marks: Marks) -> tuple[End, End]:
    """Begin at the piglets and at the haystacks, looking for plans of at most `limit` steps, one less than is known."""
    ends = []
    for four, far, near, mark in ((map_.start, *bounds, FROM_START), (map_.goal, *bounds[::-1], FROM_GOAL)):
        rank = map_.rank(four)
        end = End([np.array([rank], np.uint32)], far, near, np.zeros((limit + 2, limit + 2), np.uint8), mark)
        end.classes[assignment(four, far.leap, far.back), 0] = 1
        marks.put(rank, mark)
        ends.append(end)
    return ends[0], ends[1]


def grow(near: End, far: End, marks: Marks, map_: Field, limit: int, work: Work) -> int | None:
    """Add a layer to `near` of states on plans of at most `limit` steps; returns one that `far` has, if there is one.

    A meeting is in the outermost layer of `far`: an earlier one would have been noticed earlier. Layers are in the
    order of ranks, so that neighbours' marks lie near each other. Raises Unsolved.
    """
    depth = near.depth + 1
    allowed = widened(far.classes.T, limit - depth - far.depth)
    classes = np.zeros_like(near.classes)
    out = np.empty(STATES_A_TURN * 16, np.uint32)
    parts: list[Ranks] = []
    met = -1
    layer = near.layers[-1]
    to_far, to_near = near.to_far, near.to_near
    for first in range(0, len(layer), STATES_A_TURN):
        turn = layer[first : first + STATES_A_TURN]
        marks.make_room(len(out))
        count, marks.pages, met = _grow(
            turn, map_.offset, map_.choose, map_.beside, to_far.pairs, to_far.leap, to_far.back,
            to_far.runs.cells, to_far.runs.counts,
            to_near.leap, to_near.back, limit - depth, allowed,
            near.mark, marks.places, marks.words, marks.pages, classes, out,
        )  # fmt: skip
        parts.append(out[:count].copy())
        work.did(len(turn), f"at most {limit + 1} steps, at least {near.depth + far.depth + 1}")
        work.holds(marks.held + near.held + far.held + 2 * sum(part.nbytes for part in parts))
        if met >= 0:
            break
    near.layers.append(np.concatenate(parts))
    near.layers[-1].sort()
    near.classes = classes
    return met if met >= 0 else None


def widened(classes: Classes, slack: int) -> Classes:
    """Mark every class at most `slack` away from a marked one in both numbers."""
    for axis in (0, 1):
        size = classes.shape[axis]
        sums = np.concatenate([np.zeros((1, size), np.int64), np.cumsum(classes, axis=axis).swapaxes(0, axis)])
        low, high = np.arange(size) - slack, np.arange(size) + slack + 1
        classes = (sums[high.clip(0, size)] > sums[low.clip(0, size)]).swapaxes(0, axis).astype(np.uint8)
    return np.ascontiguousarray(classes)


def trace(layers: list[Ranks], rank: int, map_: Field) -> list[int]:
    """Go back from a state one step behind the last of `layers` to the first of them; both ends are in the list."""
    way = [rank]
    for layer in reversed(layers):
        way.append(int(layer[_beside(way[-1], layer, map_.offset, map_.choose, map_.beside)]))
    return way


def cells_of(rank: int, map_: Field) -> Cells:
    """Find the four sorted cells of a rank."""
    four = np.empty(4, np.int64)
    unrank(rank + map_.offset, map_.choose, four)
    return four


@njit(cache=True, nogil=True)
def _grow(
    layer: Ranks,
    offset: int,
    choose: NDArray[np.int64],
    beside: NDArray[np.int16],
    pairs: Pairs,
    far_leap: Lanes,
    far_back: Lanes,
    run_cells: Bits,
    run_counts: Bits,
    near_leap: Lanes,
    near_back: Lanes,
    room: int,
    allowed: Classes,
    mine: np.uint64,
    places: Ranks,
    words: Words,
    pages: int,
    classes: Classes,
    out: Ranks,
) -> tuple[int, int, int]:  # pragma: no cover - compiled
    """Put the ranks behind `layer` that no one has met and that may need at most `room` steps more into `out`.

    Returns how many, the number of pages, and a rank that the other end has met, or -1. Bounds are computed once for
    each state: whenever it is reached again, the way to it is no shorter.
    """
    four, after = np.zeros(4, np.int64), np.empty(4, np.int64)
    ranks, cells = np.empty(16 * BLOCK, np.uint64), np.empty(16 * BLOCK, np.int64)
    count = 0
    for first in range(0, len(layer), BLOCK):
        block = layer[first : first + BLOCK]
        unmet, pages = list_unmet(block, offset, choose, beside, mine, places, words, pages, four, ranks, cells)
        for k in range(unmet):
            rank = ranks[k]
            word, shift = word_of(rank, places), shift_of(rank)
            mark = words[word] >> shift & MARK
            if mark == UNMET:
                mark = DEAD
                put_in_order(cells[k], after)
                to_far = assignment(after, far_leap, far_back)
                if to_far + count_runs(after, run_cells, run_counts) <= room and is_within(after, room, pairs):
                    to_near = assignment(after, near_leap, near_back)
                    if allowed[to_far, to_near] != 0:
                        mark = mine
                        out[count] = rank
                        count += 1
                        classes[to_far, to_near] = 1
                words[word] |= mark << shift
            elif mark != mine and mark != DEAD:
                return count, pages, int(np.int64(rank))
    return count, pages, -1


@njit(cache=True, nogil=True)
def put_in_order(cells: int, four: Cells) -> None:  # pragma: no cover - compiled
    """Put four cells into order: a new one in the lowest bits, and above it three that are in order already."""
    to, p = cells & ONE_CELL, cells >> CELL & ONE_CELL
    q, r = cells >> 2 * CELL & ONE_CELL, cells >> 3 * CELL
    four[0], four[1], four[2], four[3] = min(p, to), min(q, max(p, to)), min(r, max(q, to)), max(r, to)


@njit(cache=True, nogil=True)
def list_unmet(
    block: Ranks,
    offset: int,
    choose: NDArray[np.int64],
    beside: NDArray[np.int16],
    mine: np.uint64,
    places: Ranks,
    words: Words,
    pages: int,
    four: Cells,
    ranks: NDArray[np.uint64],
    cells: NDArray[np.int64],
) -> tuple[int, int]:  # pragma: no cover - compiled
    """List the states one step behind `block` that are neither marked `mine` nor dead, some of them more than once.

    Returns how many, and the number of pages. No branch depends on a mark, so that the processor waits for many of them
    at a time. A jump that is not legal leads to where the piglet is, which is marked already.
    """
    sums = np.empty(4, np.int64)
    count = 0
    for number in block:
        unrank_next(np.int64(number) + offset, choose, four)
        for i in range(4):
            cell = four[i]
            p, q, r = four[1 - min(i, 1)], four[2 - min(i // 2, 1)], four[3 - i // 3]
            others = ((r << CELL | q) << CELL | p) << CELL
            sums[0] = choose[2, p] + choose[3, q] + choose[4, r] - offset
            sums[1] = p + choose[3, q] + choose[4, r] - offset
            sums[2] = p + choose[2, q] + choose[4, r] - offset
            sums[3] = p + choose[2, q] + choose[3, r] - offset
            for direction in range(4):
                to = np.int64(beside[cell, direction])
                if to < 0:
                    continue
                if (to == p) | (to == q) | (to == r):
                    to = np.int64(beside[to, direction])
                to = cell if (to < 0) | (to == p) | (to == q) | (to == r) else to
                place = np.int64(to > p) + np.int64(to > q) + np.int64(to > r)
                rank = np.uint64(sums[place] + choose[place + 1, to])
                if places[rank >> PAGE] == 0:
                    pages += 1
                    places[rank >> PAGE] = pages
                mark = words[word_of(rank, places)] >> shift_of(rank) & MARK
                ranks[count] = rank
                cells[count] = others | to
                count += int((mark != mine) & (mark != DEAD))
    return count, pages


@njit(cache=True, nogil=True)
def _beside(
    rank: int, layer: Ranks, offset: int, choose: NDArray[np.int64], beside: NDArray[np.int16]
) -> int:  # pragma: no cover - compiled
    """Find a state of `layer` that is one step away from a rank; returns its place."""
    four = np.empty(4, np.int64)
    after = np.empty((16, 4), np.int64)
    unrank(np.int64(rank) + offset, choose, four)
    ranks = np.empty(16, np.uint32)
    count = list_steps(four, beside, after)
    for k in range(count):
        ranks[k] = rank_of(after[k], choose) - offset
    for place in range(len(layer)):
        for k in range(count):
            if layer[place] == ranks[k]:
                return place
    return -1

"""The reference: a plan first, then a proof that none is shorter, or a shorter one.

A beam from each end gives a plan of U steps. Then whole layers grow from both ends, always the smaller one, and every
state is dropped that cannot lie on a plan of U - 1 steps: its depth plus a bound to the far end is too much, or no
state of the other side's outermost layer is near enough. The first meeting is a shortest plan; where the depths come to
U - 1 without one, or a layer is empty, the beam's plan is the shortest. (Where both beams lose every way, U is more
than any shortest plan has.) Layers are kept, so that a plan is found again by looking in each for a state that is one
step away.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.lazypiglets.beam import search_beam
from solvers.lazypiglets.bits import Ranks
from solvers.lazypiglets.bounds import Bounds, Lanes, assignment, bounds_to, is_within
from solvers.lazypiglets.maps import Cells, Field, list_steps, rank_of, unrank
from solvers.lazypiglets.seen import Seen, Slots, contains, put
from solvers.lazypiglets.work import Work

NARROW, WIDE = 1000, 5000
STATES_BEFORE_WIDE = 300_000
STATES_A_TURN = 1 << 12

Classes = NDArray[np.uint8]


@dataclass
class End:
    """The search from one end: all its layers, what it has seen, and the bounds to the far and to the near end.

    `classes[f, n]` is 1 where a state of the outermost layer has best assignments f to the far and n to the near end;
    no state has more than `len(classes) - 1`.
    """

    layers: list[Ranks]
    to_far: Bounds
    to_near: Bounds
    classes: Classes
    seen: Seen = field(default_factory=Seen)

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
        return self.seen.slots.nbytes + sum(layer.nbytes for layer in self.layers)


def search_two_ended(map_: Field, work: Work) -> list[Cells]:
    """Find the states of a shortest plan, from piglets to haystacks, which must be reachable. Raises Unsolved."""
    bounds = bounds_to(map_.goal, map_), bounds_to(map_.start, map_)
    most = map_.pigs * map_.free  # a shortest plan needs fewer: it is as if no piglet walked more than free - 1 steps
    way = shorter_plan(map_, bounds, most, NARROW, work)
    limit = len(way) - 2 if way else most
    ends = begin(map_, bounds, limit)
    wide = False
    while ends[0].depth + ends[1].depth < limit and ends[0].outermost and ends[1].outermost:
        if not wide and work.states > STATES_BEFORE_WIDE:
            wide = True
            way = shorter_plan(map_, bounds, limit, WIDE, work) or way
            limit = len(way) - 2 if way else most
            continue
        near, far = sorted(ends, key=lambda end: end.outermost)
        met = grow(near, far, map_, limit, work)
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


def begin(map_: Field, bounds: tuple[Bounds, Bounds], limit: int) -> tuple[End, End]:
    """Begin at the piglets and at the haystacks, looking for plans of at most `limit` steps, one less than is known."""
    ends = []
    for four, far, near in ((map_.start, *bounds), (map_.goal, *bounds[::-1])):
        rank = map_.rank(four)
        end = End([np.array([rank], np.uint32)], far, near, np.zeros((limit + 2, limit + 2), np.uint8))
        end.classes[assignment(four, far.leap, far.back), 0] = 1
        end.seen.added(put(end.seen.slots, rank))
        ends.append(end)
    return ends[0], ends[1]


def grow(near: End, far: End, map_: Field, limit: int, work: Work) -> int | None:
    """Add a layer to `near` of states on plans of at most `limit` steps; returns one that `far` has, if there is one.

    A meeting is in the outermost layer of `far`: an earlier one would have been noticed earlier. Raises Unsolved.
    """
    depth = near.depth + 1
    allowed = widened(far.classes.T, limit - depth - far.depth)
    classes = np.zeros_like(near.classes)
    out = np.empty(STATES_A_TURN * 16, np.uint32)
    parts: list[Ranks] = []
    met = -1
    layer = near.layers[-1]
    to_far, to_near = near.to_far.tables, near.to_near.tables[:2]
    for first in range(0, len(layer), STATES_A_TURN):
        turn = layer[first : first + STATES_A_TURN]
        near.seen.make_room(len(out))
        count, met = _grow(turn, map_.offset, map_.choose, map_.beside, *to_far, *to_near, limit - depth, allowed,
                           near.seen.slots, far.seen.slots, classes, out)  # fmt: skip
        near.seen.added(count)
        parts.append(out[:count].copy())
        work.did(len(turn), f"at most {limit + 1} steps, at least {near.depth + far.depth + 1}")
        work.holds(near.held + far.held + 2 * sum(part.nbytes for part in parts))
        if met >= 0:
            break
    near.layers.append(np.concatenate(parts))
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
    far_leap: Lanes,
    far_back: Lanes,
    far_first: Lanes,
    near_leap: Lanes,
    near_back: Lanes,
    room: int,
    allowed: Classes,
    mine: Slots,
    others: Slots,
    classes: Classes,
    out: Ranks,
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Put the new ranks behind `layer` that may need at most `room` steps more into `out`.

    Returns how many, and a rank that `others` has, or -1. The bounds come before the sets, which memory is slow for.
    """
    four = np.empty(4, np.int64)
    after = np.empty((16, 4), np.int64)
    count = 0
    for rank in layer:
        unrank(np.int64(rank) + offset, choose, four)
        for k in range(list_steps(four, beside, after)):
            if not is_within(after[k], room, far_back, far_first):
                continue
            to_far = assignment(after[k], far_leap, far_back)
            to_near = assignment(after[k], near_leap, near_back)
            if allowed[to_far, to_near] == 0:
                continue
            child = rank_of(after[k], choose) - offset
            if not put(mine, child):
                continue
            out[count] = child
            count += 1
            classes[to_far, to_near] = 1
            if contains(others, child):
                return count, int(child)
    return count, -1


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

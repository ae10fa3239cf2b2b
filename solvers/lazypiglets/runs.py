"""Straight runs of a map that someone must cross on foot: a bound that counts turns, on top of the best assignment.

A run is a line of free cells with no free cell beyond its ends. Let the *rails* be every second one of its cells. The
run counts if no rail has a free neighbour beside the line, no piglet stands and no haystack lies on a rail, and one of
the rails parts the map so that its two sides need piglets from each other. Then some piglet crosses that rail: it
stands on it or jumps over another one that does. A piglet that stands on a rail came to the rails by a walk along the
run, and leaves them by another one; with j jumps between, it gets no farther than by j + 1 leaps. So it needs one step
more than leaps do. Steps along one run are no steps along another: each run that counts adds 1 to the best assignment.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.lazypiglets.maps import Cells, Field

WORD_BITS = 64
WORDS = 2
Bits = NDArray[np.uint64]

ONES, TWOS, FOURS, BELOW, TOPS = range(5)


@dataclass(frozen=True)
class Runs:
    """A bit for each rail that parts the map, those of a run side by side; what does not fit is left out.

    cells   cells x 2 x WORDS: the rails of which a cell is on the counted side; the highest bits of the runs on whose
            rails it is
    counts  5 x WORDS: the number of targets on each rail's counted side, in binary (ONES, TWOS, FOURS); the bits of
            each run but its highest (BELOW), and its highest (TOPS)
    """

    cells: Bits
    counts: Bits


def runs_to(targets: Cells, field: Field) -> Runs:
    """Find the runs of a map that count for four target cells."""
    cells, counts = np.zeros((len(field.beside), 2, WORDS), np.uint64), np.zeros((5, WORDS), np.uint64)
    bit = 0
    for rails in list_rails(field):
        sides = [side for rail in rails if len(side := side_of(rail, field))]
        if not sides or set(rails) & set(targets.tolist()):
            continue
        if bit % WORD_BITS + len(sides) > WORD_BITS:
            bit += WORD_BITS - bit % WORD_BITS
        if bit + len(sides) > WORDS * WORD_BITS:
            break
        word = bit // WORD_BITS
        for side in sides:
            one = np.uint64(1 << bit % WORD_BITS)
            cells[side, 0, word] |= one
            number = int(np.isin(targets, side).sum())
            for kind in (ONES, TWOS, FOURS):
                counts[kind, word] |= one if number >> kind & 1 else np.uint64(0)
            counts[BELOW, word] |= one
            bit += 1
        counts[BELOW, word] ^= one
        counts[TOPS, word] |= one
        cells[rails, 1, word] |= one
    return Runs(cells, counts)


def list_rails(field: Field) -> list[list[int]]:
    """List every second cell of each line of free cells, where none of them has a free neighbour beside the line."""
    beside = field.beside
    listed = []
    for cell, back in product(range(field.free), (0, 3)):
        ahead, across = (back + 2) % 4, [(back + 1) % 4, (back + 3) % 4]
        if beside[cell, back] >= 0:
            continue
        line = [cell]
        while (to := int(beside[line[-1], ahead])) >= 0:
            line.append(to)
        for rails in (line[::2], line[1::2]):
            if len(line) > 2 and (beside[np.ix_(rails, across)] < 0).all():
                listed.append(rails)
    return listed


def side_of(rail: int, field: Field) -> NDArray[np.int64]:
    """List the cells that hang together on one side of a rail; none where it does not part its neighbours."""
    neighbours = [int(to) for to in field.beside[rail] if to >= 0]
    if len(neighbours) < 2:
        return np.zeros(0, np.int64)
    side = neighbours[:1]
    known = {rail, *side}
    for cell in side:
        for to in field.beside[cell].tolist():
            if to >= 0 and to not in known:
                known.add(to)
                side.append(to)
    return np.array([] if neighbours[1] in known else side, np.int64)


@njit(cache=True, nogil=True)
def count_runs(four: Cells, cells: Bits, counts: Bits) -> int:  # pragma: no cover - compiled
    """Count the runs that someone must cross on foot."""
    total = np.uint64(0)
    a, b, c, d = four[0], four[1], four[2], four[3]
    for word in range(WORDS):
        at_a, at_b, at_c, at_d = cells[a, 0, word], cells[b, 0, word], cells[c, 0, word], cells[d, 0, word]
        ones = at_a ^ at_b ^ at_c ^ at_d
        twos = (at_a & at_b) ^ (at_c & at_d) ^ ((at_a ^ at_b) & (at_c ^ at_d))
        fours = at_a & at_b & at_c & at_d
        odd = (ones ^ counts[ONES, word]) | (twos ^ counts[TWOS, word]) | (fours ^ counts[FOURS, word])
        below = counts[BELOW, word]
        runs = (((odd & below) + below) | odd) & counts[TOPS, word]
        runs &= ~(cells[a, 1, word] | cells[b, 1, word] | cells[c, 1, word] | cells[d, 1, word])
        runs -= runs >> np.uint64(1) & np.uint64(0x5555555555555555)
        runs = (runs & np.uint64(0x3333333333333333)) + (runs >> np.uint64(2) & np.uint64(0x3333333333333333))
        runs = (runs + (runs >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += runs * np.uint64(0x0101010101010101) >> np.uint64(56)
    return int(total)

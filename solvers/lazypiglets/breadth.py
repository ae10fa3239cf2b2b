"""Breadth-first search over ordered states: every piglet has its own name. The first rung.

A state is a number of P digits to the base of the free cells; `seen` has a byte for each. Nothing is known about the
haystacks until a state stands on them: all orders of the haystacks are goals.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.lazypiglets.maps import PIGS, Field
from solvers.lazypiglets.work import STATES_A_TURN, Work


def search_ordered(field: Field, work: Work) -> int:
    """Count the steps to the nearest goal. The haystacks must be reachable. Raises Unsolved."""
    work.holds(field.free**field.pigs)
    seen = np.zeros(field.free**field.pigs, np.uint8)
    goals = [_code(order, field.free) for order in permutations(field.goal[: field.pigs].tolist())]
    layer = np.array([_code(field.start[: field.pigs].tolist(), field.free)], np.uint32)
    seen[layer] = 1
    out = np.empty(STATES_A_TURN * 4 * PIGS, np.uint32)
    steps = 0
    while not seen[goals].any():
        parts = []
        for first in range(0, len(layer), STATES_A_TURN):
            turn = layer[first : first + STATES_A_TURN]
            parts.append(out[: _grow(turn, field.free, field.pigs, field.beside, seen, out)].copy())
            work.did(len(turn), f"at {steps} steps")
        work.holds(len(seen) + layer.nbytes + 2 * sum(part.nbytes for part in parts))
        layer = np.concatenate(parts)
        steps += 1
    return steps


def _code(cells: list[int] | tuple[int, ...], base: int) -> int:
    return sum(cell * base**place for place, cell in enumerate(cells))


@njit(cache=True, nogil=True)
def _grow(
    layer: NDArray[np.uint32],
    base: int,
    pigs: int,
    beside: NDArray[np.int16],
    seen: NDArray[np.uint8],
    out: NDArray[np.uint32],
) -> int:  # pragma: no cover - compiled
    """Put the states one step behind `layer` that were not seen into `out`; returns how many."""
    cells = np.empty(4, np.int64)
    count = 0
    for code in layer:
        rest = np.int64(code)
        for i in range(pigs):
            cells[i] = rest % base
            rest //= base
        weight = np.int64(1)
        for i in range(pigs):
            for direction in range(4):
                to = np.int64(beside[cells[i], direction])
                for other in range(pigs):
                    if to == cells[other]:
                        to = np.int64(beside[to, direction])
                        for blocker in range(pigs):
                            if to == cells[blocker]:
                                to = np.int64(-1)
                        break
                if to < 0:
                    continue
                after = np.int64(code) + (to - cells[i]) * weight
                if seen[after] == 0:
                    seen[after] = 1
                    out[count] = after
                    count += 1
            weight *= base
    return count

"""The longest trails inside a layer, without a search, for boards on which steps instead of cells may not repeat.

Every step inside a layer has its way back, so that a group of joined cells has a round trip over all of its steps. The
longest trail from i to j leaves out a shortest way from j to i and nothing else: what it leaves out leads from j to i,
and what remains is still in one piece, because the ways back of the steps left out remain.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from solvers.optimiza.board import Numbers

Steps = list[list[int]]


def longest_trails(neighbours: Steps) -> Numbers:
    """Count the steps of the longest trail from each cell of a layer to each other one; -1 if there is none."""
    count = len(neighbours)
    lengths = np.full((count, count), -1, np.int32)
    for end in range(count):
        away = _distances(neighbours, end)
        steps = sum(len(neighbours[cell]) for cell in away)
        for start, distance in away.items():
            lengths[start, end] = steps - distance
    return lengths


def longest_trail(neighbours: Steps, start: int, end: int) -> list[int]:
    """Give the cells of a longest trail, from its start on: Hierholzer's way over all steps but a shortest way back."""
    left = [list(others) for others in neighbours]
    for cell, other in _way(neighbours, end, start):
        left[cell].remove(other)
    trail, stack = [], [start]
    while stack:
        if left[stack[-1]]:
            stack.append(left[stack[-1]].pop())
        else:
            trail.append(stack.pop())
    return trail[::-1]


def _distances(neighbours: Steps, start: int) -> dict[int, int]:
    """Count the steps from a cell to every cell that it reaches."""
    away = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for other in neighbours[cell]:
            if other not in away:
                away[other] = away[cell] + 1
                queue.append(other)
    return away


def _way(neighbours: Steps, start: int, end: int) -> list[tuple[int, int]]:
    """Give the steps of a shortest way."""
    away = _distances(neighbours, end)  # every step has its way back
    steps, cell = [], start
    while cell != end:
        other = next(other for other in neighbours[cell] if away[other] == away[cell] - 1)
        steps.append((cell, other))
        cell = other
    return steps

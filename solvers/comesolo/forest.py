"""The boards that a best-first search has met: each knows its parent and its jump and lies in its score's bucket."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.comesolo.moves import Jumps, Rows, Tables, toggle

MOST_NODES = 1 << 23
GROWTH = 1.45
COUNT, DEEPEST, TOP = 0, 1, 2


@dataclass(frozen=True)
class Forest:
    """The nodes met. Node i came from `parents[i]` by `jumps[i]`; `below[i]` is the next node in its bucket.

    `heads[k]` is the node to take out of the bucket of score k, or -1, and `tails[k]` the last of its queue. `seen` is
    an open table of hashes, 0 where free. `place` holds the number of nodes, the node with the longest play, and its
    length.
    """

    parents: NDArray[np.int32]
    jumps: Jumps
    below: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    heads: NDArray[np.int32]
    tails: NDArray[np.int32]
    seen: NDArray[np.uint64]
    place: NDArray[np.int64]

    @property
    def nodes(self) -> int:
        """The number of boards met."""
        return int(self.place[COUNT])


def plant(tables: Tables) -> Forest:
    """Begin with the first board alone in its bucket."""
    cells = tables.size**2
    forest = Forest(
        parents=np.empty(MOST_NODES, np.int32),
        jumps=np.empty(MOST_NODES, np.uint16),
        below=np.empty(MOST_NODES, np.int32),
        hashes=np.empty(MOST_NODES, np.uint64),
        heads=np.full(cells + 1, -1, np.int32),
        tails=np.full(cells + 1, -1, np.int32),
        seen=np.zeros(2 * MOST_NODES, np.uint64),
        place=np.array([1, 0, 0], np.int64),
    )
    forest.parents[0] = forest.below[0] = -1
    forest.hashes[0] = 0
    forest.heads[0] = forest.tails[0] = 0
    return forest


def path_to(forest: Forest) -> Jumps:
    """Collect the jumps that lead to the node with the longest play."""
    node = int(forest.place[DEEPEST])
    play = []
    while node > 0:
        play.append(int(forest.jumps[node]))
        node = int(forest.parents[node])
    return np.array(play[::-1], np.uint16)


@njit(cache=True, nogil=True)
def replay(
    node: int, parents: NDArray[np.int32], jumps: Jumps, rows: Rows, size: int, board: Rows
) -> None:  # pragma: no cover - compiled
    """Make the board of a node from the first one: the order of its jumps does not matter."""
    board[:] = rows
    while node > 0:
        toggle(board, size, np.int64(jumps[node]))
        node = parents[node]

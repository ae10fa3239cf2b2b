"""A beam search over the moves of a few balls of one side while all others stand still.

A node is the cells of its balls; they are put on the board to expand it and taken off again, which costs less than
replaying its way. A node is worth the number of its balls that stand right, then the sum of their walking distances to
one goal, so that the whole crowd drifts to it and the next beam finds stoppers there. The best node of all is played
even where nothing is gained: whether to like the board is the loop's business.

Balls of side 0 roll, and those of side 1 un-roll to any cell of the ray behind them. The first ball also stands right
on all cells that carry the number `MARK_NOW`.
"""

from __future__ import annotations

import numpy as np

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.arena import (
    BEAM_BEST,
    BEAM_NOW,
    BEAM_SCORE,
    BEST_KEY,
    CELLS,
    CHILD_CELL,
    CHILD_HASH,
    CHILD_KEY,
    CHILD_MOVE,
    CHILD_PARENT,
    CHILD_SCORE,
    COL,
    DEEPEST,
    HUE,
    ID,
    MARK,
    MARK_NOW,
    MOST_CHILDREN,
    MOST_MOVERS,
    MOVER_HUE,
    MOVERS,
    NODE,
    NODE_DIST,
    NODE_HASH,
    NODE_NAME,
    NODE_SCORE,
    PATH,
    POS,
    SEEN,
    SEEN_BITS,
    SIDE,
    SORTED,
    STEPS,
    TREE_CELL,
    TREE_MOVE,
    TREE_PARENT,
    WIDEST,
    WORK,
    ZOBRIST,
    Floats,
    Ints,
    Words,
)
from solvers.rollingballs.board.kernels import kernel
from solvers.rollingballs.board.moves import act

WORK_PER_NODE = 25
RIGHT = 1e7
"""What a ball that stands right is worth in steps of distance."""
TABOO = 100_000
"""Steps that a ball of another colour on the goal counts for."""
NOISE = 0.01
_UNIT = 1.0 / 2**31
_NO_KEY = -1e300
_TAGS = 1 << 16


@kernel
def _find_threshold(f: Floats, n: int, width: int) -> float:  # pragma: no cover - compiled
    """Return the `width`-th greatest of the first `n` child keys (quickselect, Hoare 1961)."""
    for i in range(n):
        f[SORTED + i] = f[CHILD_KEY + i]
    low, high = SORTED, SORTED + n - 1
    rank = SORTED + width - 1
    while low < high:
        pivot = f[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while f[i] > pivot:
                i += 1
            while f[j] < pivot:
                j -= 1
            if i <= j:
                f[i], f[j] = f[j], f[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return float(f[rank])


@kernel
def _begin(
    m: Ints, u: Words, f: Floats, k: int, x: int, n: int, walk: int, bits: int
) -> None:  # pragma: no cover - compiled
    """Take the movers off the board and make where they stand the root; what earlier beams have seen is forgotten."""
    goals, goal_hue = HUE + (1 - k) * SIDE, m[HUE + (1 - k) * SIDE + x]
    tag = m[BEAM_NOW] + 1
    if tag == _TAGS:
        tag = 1
        for i in range(1 << SEEN_BITS):
            u[SEEN + i] = np.uint64(0)
    m[BEAM_NOW] = tag
    score, distance, name = 0, 0.0, np.uint64(0)
    for j in range(n):
        ball = m[MOVERS + j]
        z, hue = m[POS + k * SIDE + ball], m[COL + k * SIDE + ball]
        m[MOVER_HUE + j] = hue
        m[NODE + j] = z
        m[ID + k * SIDE + z] = EMPTY
        score += 1 if m[goals + z] == hue or (j == 0 and m[MARK + z] == m[MARK_NOW]) else 0
        distance += TABOO if z == x and hue != goal_hue else m[walk + z]
        name ^= u[ZOBRIST + hue * CELLS + z]
    m[NODE_SCORE] = score
    f[NODE_DIST] = distance
    u[NODE_HASH] = name
    m[NODE_NAME] = 0
    low_bits = np.uint64(_TAGS - 1)
    u[SEEN + np.int64(name >> np.uint64(64 - bits))] = (name & ~low_bits) | np.uint64(tag)


@kernel
def _expand(
    m: Ints, u: Words, f: Floats, k: int, x: int, n: int, walk: int, bits: int, now: int, living: int
) -> int:  # pragma: no cover - compiled
    """Make all children of a level's `living` nodes that this beam has not seen; return how many they are."""
    board, goals, goal_hue = ID + k * SIDE, HUE + (1 - k) * SIDE, m[HUE + (1 - k) * SIDE + x]
    shift, slots, mark = np.uint64(64 - bits), (1 << bits) - 1, np.uint64(m[BEAM_NOW])
    low_bits, aim = np.uint64(_TAGS - 1), m[MARK_NOW]
    children = 0
    for b in range(living):
        node = NODE + (now * WIDEST + b) * MOST_MOVERS
        for j in range(n):
            m[board + m[node + j]] = 0
        node_score = m[NODE_SCORE + now * WIDEST + b]
        node_distance = f[NODE_DIST + now * WIDEST + b]
        node_hash = u[NODE_HASH + now * WIDEST + b]
        for j in range(n):
            z, hue = m[node + j], m[MOVER_HUE + j]
            other = hue != goal_hue
            was_right = m[goals + z] == hue or (j == 0 and m[MARK + z] == aim)
            left_score = node_score - (1 if was_right else 0)
            left_distance = node_distance - (TABOO if z == x and other else m[walk + z])
            left_hash = node_hash ^ u[ZOBRIST + hue * CELLS + z]
            for way in range(4):
                step = STEPS[way]
                if k == 0:
                    to = z + step
                    if m[board + to] != EMPTY:
                        continue
                    while m[board + to + step] == EMPTY:
                        to += step
                else:
                    if m[board + z + step] == EMPTY:
                        continue
                    step = -step
                    to = z + step
                while m[board + to] == EMPTY and children < MOST_CHILDREN:
                    cell = to
                    to += step
                    name = left_hash ^ u[ZOBRIST + hue * CELLS + cell]
                    entry = (name & ~low_bits) | mark
                    slot = np.int64(name >> shift)
                    seen = u[SEEN + slot]
                    while seen & low_bits == mark and seen != entry:
                        slot = (slot + 1) & slots
                        seen = u[SEEN + slot]
                    if seen == entry:
                        continue
                    u[SEEN + slot] = entry
                    noise = u[0]
                    noise ^= noise << np.uint64(13)
                    noise ^= noise >> np.uint64(7)
                    noise ^= noise << np.uint64(17)
                    u[0] = noise
                    is_right = m[goals + cell] == hue or (j == 0 and m[MARK + cell] == aim)
                    score = left_score + (1 if is_right else 0)
                    distance = left_distance + (TABOO if cell == x and other else m[walk + cell])
                    distance += NOISE * _UNIT * np.int64(noise >> np.uint64(33))
                    f[CHILD_KEY + children] = RIGHT * score - distance
                    m[CHILD_PARENT + children] = b
                    m[CHILD_MOVE + children] = 4 * j + way
                    m[CHILD_CELL + children] = cell
                    m[CHILD_SCORE + children] = score
                    u[CHILD_HASH + children] = name
                    children += 1
        for j in range(n):
            m[board + m[node + j]] = EMPTY
    return children


@kernel
def _choose(
    m: Ints, u: Words, f: Floats, n: int, width: int, now: int, children: int, names: int
) -> int:  # pragma: no cover - compiled
    """Make nodes of the best `width` children, named from `names` on, and remember the best of all; return how many."""
    threshold = _find_threshold(f, children, width) if children > width else _NO_KEY
    then, living = 1 - now, 0
    for i in range(children):
        key = f[CHILD_KEY + i]
        if key < threshold or living == width:
            continue
        parent = now * WIDEST + m[CHILD_PARENT + i]
        own = then * WIDEST + living
        for j in range(n):
            m[NODE + own * MOST_MOVERS + j] = m[NODE + parent * MOST_MOVERS + j]
        m[NODE + own * MOST_MOVERS + (m[CHILD_MOVE + i] >> 2)] = m[CHILD_CELL + i]
        m[NODE_SCORE + own] = m[CHILD_SCORE + i]
        f[NODE_DIST + own] = RIGHT * m[CHILD_SCORE + i] - key
        u[NODE_HASH + own] = u[CHILD_HASH + i]
        name = names + living
        m[NODE_NAME + own] = name
        m[TREE_PARENT + name] = m[NODE_NAME + parent]
        m[TREE_MOVE + name] = m[CHILD_MOVE + i]
        m[TREE_CELL + name] = m[CHILD_CELL + i]
        if key > f[BEST_KEY]:
            f[BEST_KEY] = key
            m[BEAM_BEST], m[BEAM_SCORE] = name, m[CHILD_SCORE + i]
        living += 1
    return living


@kernel
def _play(m: Ints, k: int) -> None:  # pragma: no cover - compiled
    """Make the moves that lead to the best node."""
    name, length = m[BEAM_BEST], 0
    while name != 0:
        m[PATH + length] = name
        name = m[TREE_PARENT + name]
        length += 1
    for i in range(length - 1, -1, -1):
        name = m[PATH + i]
        act(m, k, m[MOVERS + (m[TREE_MOVE + name] >> 2)], m[TREE_CELL + name], m[TREE_MOVE + name] & 3)


@kernel
def beam(
    m: Ints, u: Words, f: Floats, k: int, x: int, n: int, width: int, walk: int
) -> int:  # pragma: no cover - compiled
    """Search over the first `n` of `MOVERS` of side k for the goal at `x` and play the best node.

    `walk` is the offset of the distances to the goal. Returns the nodes made.
    """
    bits = 10
    while bits < SEEN_BITS and (k == 1 or (1 << bits) <= 4 * DEEPEST * n * width + 1):
        bits += 1
    _begin(m, u, f, k, x, n, walk, bits)
    m[BEAM_BEST], m[BEAM_SCORE], f[BEST_KEY] = 0, 0, _NO_KEY
    now, living, names, made = 0, 1, 1, 0
    for _ in range(DEEPEST):
        children = _expand(m, u, f, k, x, n, walk, bits, now, living)
        if children == 0:
            break
        made += children
        living = _choose(m, u, f, n, width, now, children, names)
        names += living
        now = 1 - now
        if m[BEAM_SCORE] == n:
            break
    for j in range(n):
        ball = m[MOVERS + j]
        m[ID + k * SIDE + m[POS + k * SIDE + ball]] = ball
    _play(m, k)
    m[WORK] += WORK_PER_NODE * made
    return made

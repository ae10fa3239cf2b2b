"""A beam search over the rolls of a few balls of side 0 while all others stand still, and which balls to take.

A node is the cells of its balls; they are put on the board to expand it and taken off again, which costs less than
replaying its way. A node is worth the number of its balls that stand right, then the sum of their walking distances to
one goal, so that the whole crowd drifts to it and the next beam finds stoppers there. The best node of all is played
even where nothing is gained: whether to like the board is the loop's business.
"""

from __future__ import annotations

import numpy as np

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.arena import (
    BALLS,
    BALLS_B,
    BEAM_NOW,
    CELLS,
    CHILD_CELL,
    CHILD_HASH,
    CHILD_KEY,
    CHILD_MOVE,
    CHILD_PARENT,
    CHILD_SCORE,
    COL,
    DEEPEST,
    FAR,
    FIRST,
    HUE,
    ID,
    INIT,
    MOST_MOVERS,
    MOVER_HUE,
    MOVERS,
    NEAR,
    NODE,
    NODE_DIST,
    NODE_HASH,
    NODE_NAME,
    NODE_SCORE,
    PATH,
    POS,
    QUEUE,
    SEEN,
    SEEN_BITS,
    SIDE,
    SORTED,
    STEPS,
    STRIDE,
    TREE_MOVE,
    TREE_PARENT,
    UNMATCHED,
    WALK,
    WALK_OWNER,
    WALK_SLOTS,
    WIDEST,
    WORK,
    ZOBRIST,
    Floats,
    Ints,
    Words,
)
from solvers.rollingballs.board.kernels import kernel
from solvers.rollingballs.board.moves import act, draw, stop

WORK_PER_NODE = 25
RIGHT = 1e7
"""What a ball that stands right is worth in steps of distance."""
TABOO = 100_000
"""Steps that a ball of another colour on the goal counts for."""
NOISE = 0.01
WIDTHS = np.array([250, 120, 60, 30], np.int64)
_UNIT = 1.0 / 2**31


@kernel
def is_early(m: Ints) -> bool:  # pragma: no cover - compiled
    """True while many goals are unmatched."""
    return bool(m[UNMATCHED] > 3 and 20 * m[UNMATCHED] > m[BALLS_B])


@kernel
def measure_walk(m: Ints, x: int) -> int:  # pragma: no cover - compiled
    """Return the offset of the walking distances to `x`, made if they are not at hand."""
    slot = x % WALK_SLOTS
    walk = WALK + slot * CELLS
    if m[WALK_OWNER + slot] == x:
        return walk
    m[WALK_OWNER + slot] = x
    for z in range(CELLS):
        m[walk + z] = FAR
    m[walk + x] = 0
    m[QUEUE] = x
    head, tail = 0, 1
    while head < tail:
        z = m[QUEUE + head]
        head += 1
        for way in range(4):
            to = z + STEPS[way]
            if m[INIT + to] >= EMPTY and m[walk + to] == FAR:
                m[walk + to] = m[walk + z] + 1
                m[QUEUE + tail] = to
                tail += 1
    m[WORK] += 2 * tail
    return walk


@kernel
def insert_nearest(m: Ints, n: int, room: int, ball: int, distance: int) -> int:  # pragma: no cover - compiled
    """Put a ball among the nearest `room`, of which there are `n`; return how many there are now."""
    if n == room:
        if room == 0 or m[NEAR + MOST_MOVERS + n - 1] <= distance:
            return n
        n -= 1
    i = n
    while i > 0 and m[NEAR + MOST_MOVERS + i - 1] > distance:
        m[NEAR + i] = m[NEAR + i - 1]
        m[NEAR + MOST_MOVERS + i] = m[NEAR + MOST_MOVERS + i - 1]
        i -= 1
    m[NEAR + i] = ball
    m[NEAR + MOST_MOVERS + i] = distance
    return n + 1


@kernel
def choose_movers(m: Ints, u: Words, x: int, n: int, walk: int) -> int:  # pragma: no cover - compiled
    """Fill `MOVERS` with up to `n` balls for a beam to the goal at `x`; return their number, 0 if none can come.

    The first has the goal's colour and is unmatched (one time in four it may be matched), half the time the nearest of
    those, else one of the nearest five; the others are the nearest to it or, as often, to the goal.
    """
    hue = m[HUE + SIDE + x]
    also_matched = draw(u, 4) == 0
    count = 0
    for ball in range(m[FIRST + hue], m[FIRST + hue + 1]):
        z = m[POS + ball]
        if m[walk + z] < FAR and (also_matched or m[HUE + SIDE + z] != hue):
            count = insert_nearest(m, count, 5, ball, 16 * m[walk + z] + draw(u, 16))
    if count == 0:
        return 0
    main = m[NEAR + (0 if draw(u, 2) == 0 else draw(u, count))]
    m[MOVERS] = main
    row, column = m[POS + main] // STRIDE, m[POS + main] % STRIDE
    by_walk = draw(u, 2) == 0
    count = 0
    for ball in range(m[BALLS]):
        if ball == main:
            continue
        z = m[POS + ball]
        distance = m[walk + z] if by_walk else abs(z // STRIDE - row) + abs(z % STRIDE - column)
        count = insert_nearest(m, count, n - 1, ball, 16 * distance + draw(u, 16))
    for i in range(count):
        m[MOVERS + 1 + i] = m[NEAR + i]
    return count + 1


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
def beam(m: Ints, u: Words, f: Floats, x: int, n: int, width: int, walk: int) -> int:  # pragma: no cover - compiled
    """Search over the first `n` of `MOVERS` for the goal at `x` and play the best node; return the nodes made."""
    goal_hue, goals = m[HUE + SIDE + x], HUE + SIDE
    tag = m[BEAM_NOW] + 1
    if tag == 1 << 16:
        tag = 1
        for i in range(1 << SEEN_BITS):
            u[SEEN + i] = np.uint64(0)
    m[BEAM_NOW] = tag
    bits = 10
    while bits < SEEN_BITS and (1 << bits) <= 80 * n * width + 1:
        bits += 1
    shift, mask, mark = np.uint64(64 - bits), (1 << bits) - 1, np.uint64(tag)
    low_bits = np.uint64(0xFFFF)
    score, distance, name = 0, 0.0, np.uint64(0)
    for j in range(n):
        ball = m[MOVERS + j]
        z, hue = m[POS + ball], m[COL + ball]
        m[MOVER_HUE + j] = hue
        m[NODE + j] = z
        m[ID + z] = EMPTY
        score += 1 if m[goals + z] == hue else 0
        distance += TABOO if z == x and hue != goal_hue else m[walk + z]
        name ^= u[ZOBRIST + hue * CELLS + z]
    m[NODE_SCORE] = score
    f[NODE_DIST] = distance
    u[NODE_HASH] = name
    m[NODE_NAME] = 0
    u[SEEN + np.int64(name >> shift)] = (name & ~low_bits) | mark
    now, living, names, made = 0, 1, 1, 0
    best_key, best_name, best_score = -1e300, 0, 0
    for _ in range(DEEPEST):
        children = 0
        for b in range(living):
            node = NODE + (now * WIDEST + b) * MOST_MOVERS
            for j in range(n):
                m[ID + m[node + j]] = 0
            node_score = m[NODE_SCORE + now * WIDEST + b]
            node_distance = f[NODE_DIST + now * WIDEST + b]
            node_hash = u[NODE_HASH + now * WIDEST + b]
            for j in range(n):
                z, hue = m[node + j], m[MOVER_HUE + j]
                other = hue != goal_hue
                left_score = node_score - (1 if m[goals + z] == hue else 0)
                left_distance = node_distance - (TABOO if z == x and other else m[walk + z])
                left_hash = node_hash ^ u[ZOBRIST + hue * CELLS + z]
                for way in range(4):
                    step = STEPS[way]
                    to = z + step
                    if m[ID + to] != EMPTY:
                        continue
                    while m[ID + to + step] == EMPTY:
                        to += step
                    name = left_hash ^ u[ZOBRIST + hue * CELLS + to]
                    entry = (name & ~low_bits) | mark
                    slot = np.int64(name >> shift)
                    seen = u[SEEN + slot]
                    while seen & low_bits == mark and seen != entry:
                        slot = (slot + 1) & mask
                        seen = u[SEEN + slot]
                    if seen == entry:
                        continue
                    u[SEEN + slot] = entry
                    noise = u[0]
                    noise ^= noise << np.uint64(13)
                    noise ^= noise >> np.uint64(7)
                    noise ^= noise << np.uint64(17)
                    u[0] = noise
                    score = left_score + (1 if m[goals + to] == hue else 0)
                    distance = left_distance + (TABOO if to == x and other else m[walk + to])
                    distance += NOISE * _UNIT * np.int64(noise >> np.uint64(33))
                    f[CHILD_KEY + children] = RIGHT * score - distance
                    m[CHILD_PARENT + children] = b
                    m[CHILD_MOVE + children] = 4 * j + way
                    m[CHILD_CELL + children] = to
                    m[CHILD_SCORE + children] = score
                    u[CHILD_HASH + children] = name
                    children += 1
            for j in range(n):
                m[ID + m[node + j]] = EMPTY
        if children == 0:
            break
        made += children
        threshold = _find_threshold(f, children, width) if children > width else -1e300
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
            m[NODE_NAME + own] = names
            m[TREE_PARENT + names] = m[NODE_NAME + parent]
            m[TREE_MOVE + names] = m[CHILD_MOVE + i]
            if key > best_key:
                best_key, best_name, best_score = key, names, m[CHILD_SCORE + i]
            names += 1
            living += 1
        now = then
        if best_score == n:
            break
    for j in range(n):
        m[ID + m[POS + m[MOVERS + j]]] = m[MOVERS + j]
    length = 0
    while best_name != 0:
        m[PATH + length] = m[TREE_MOVE + best_name]
        best_name = m[TREE_PARENT + best_name]
        length += 1
    for i in range(length - 1, -1, -1):
        ball, way = m[MOVERS + (m[PATH + i] >> 2)], m[PATH + i] & 3
        act(m, 0, ball, stop(m, ID, m[POS + ball], STEPS[way]), way)
    m[WORK] += WORK_PER_NODE * made
    return made


@kernel
def beam_step(m: Ints, u: Words, f: Floats, x: int) -> bool:  # pragma: no cover - compiled
    """Make a beam of a random size to the goal at `x`, a cell of B; False if no ball can come."""
    if is_early(m):
        n = 1 + (draw(u, 5) if draw(u, 2) == 0 else draw(u, 10))
        width = WIDTHS[draw(u, 2)]
    else:
        n = 1 + draw(u, 10)
        width = WIDTHS[draw(u, 4)]
    walk = measure_walk(m, x)
    n = choose_movers(m, u, x, n, walk)
    if n == 0:
        return False
    beam(m, u, f, x, n, width, walk)
    return True

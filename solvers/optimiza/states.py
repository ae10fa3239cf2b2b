"""States of a frontier of open walks, and the decisions that lead from one to others.

A state has 4 bits for each of 13 places of the frontier: the place at the other end of the walk that ends here (its own
where no join is chosen), or DONE (two joins chosen), or START or END where that walk's other end is fixed already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.optimiza.board import Masks, Numbers

PLACES = 13
DONE, START, END = 13, 14, 15
JOIN, LEAVE = 0, 1
KIND, FIRST, SECOND, CELL, ACTIVE, UNSEEN, OTHER = range(7)
AT, COUNT, USED, LIMIT, PARENT, FOUND_AT = range(6)
STATES_A_STEP = 1 << 17
EMPTY_KEY = sum(place << 4 * place for place in range(PLACES))
IMPOSSIBLE, CLOSED = np.uint64(1 << 63), np.uint64(1 << 62)  # no states: those have 52 bits
Places = NDArray[np.int64]


class Costs(NamedTuple):
    """The costs of a walk: `start` and `end` by its first and its last cell, `left_out` for each cell not visited."""

    start: Numbers
    end: Numbers
    left_out: int


class Rows(NamedTuple):
    """Two rows of states, those of decision number AT in row AT % 2, and a hash table of the row that is being made.

    An id is a state's number where walks are traced, and what it was made from while its row is being made.
    """

    keys: Masks
    costs: Numbers
    ids: Numbers
    table: Numbers


@njit(cache=True, nogil=True)
def decide(
    deeds: Numbers, walk_costs: Costs, place: Places, rows: Rows, trace: Numbers
) -> None:  # pragma: no cover - compiled; its slow twin is in the tests
    """Take decisions until room or time to look at the clock ends.

    An entry of `trace` is twice its parent's number, plus one where the join was chosen; it may be left empty. The
    cheapest walk found lowers LIMIT.
    """
    keys, costs, ids, table = rows  # once: each look into the tuple would count references
    start_costs, end_costs, left_out = walk_costs
    begun = place[USED]
    while place[AT] < len(deeds) and place[COUNT] > 0:
        count = place[COUNT]
        if 2 * count > keys.shape[1] or place[USED] - begun > STATES_A_STEP:
            return
        if len(trace) > 0 and place[USED] + 2 * count > len(trace):
            return
        now, made, deed = place[AT] & 1, 0, deeds[place[AT]]
        then, size = 1 - now, _clear(table, count)
        a, b, cell = np.uint64(deed[FIRST]), np.uint64(deed[SECOND]), deed[CELL]
        for state in range(count):
            key, cost, origin = keys[now, state], costs[now, state], 2 * ids[now, state]
            if cost >= place[LIMIT]:
                continue
            if deed[KIND] == JOIN:
                made = _add(key, cost, origin, then, made, keys, costs, ids, table, size)
                joined = _join(key, a, b)
                if joined == CLOSED:
                    _finish(deed, key, cost, left_out, ids[now, state], place)
                elif joined != IMPOSSIBLE:
                    made = _add(joined, cost, origin + 1, then, made, keys, costs, ids, table, size)
                continue
            code, rest = _code(key, a), _put(key, a, np.int64(a))
            as_start, as_end = cost + start_costs[cell], cost + end_costs[cell]
            if code == DONE:
                made = _add(rest, cost, origin, then, made, keys, costs, ids, table, size)
            elif code == np.int64(a):
                if cost + left_out < place[LIMIT]:
                    made = _add(rest, cost + left_out, origin, then, made, keys, costs, ids, table, size)
            elif code >= START:
                _finish(deed, key, as_end if code == START else as_start, left_out, ids[now, state], place)
            else:
                has_start, has_end = _fixed(key)
                if not has_start and as_start < place[LIMIT]:
                    fixed = _put(rest, np.uint64(code), START)
                    made = _add(fixed, as_start, origin, then, made, keys, costs, ids, table, size)
                if not has_end and as_end < place[LIMIT]:
                    fixed = _put(rest, np.uint64(code), END)
                    made = _add(fixed, as_end, origin, then, made, keys, costs, ids, table, size)
        if len(trace) > 0:
            _number(ids[then, :made], place[USED], trace)
        place[USED] += made
        place[COUNT] = made
        place[AT] += 1


@njit(cache=True, nogil=True)
def _clear(table: Numbers, count: int) -> int:  # pragma: no cover - compiled
    """Empty as much of the hash table as the successors of `count` states take; returns its size."""
    size = 16
    while size < 4 * count:
        size *= 2
    table[:size] = -1
    return size


@njit(cache=True, nogil=True)
def _join(key: np.uint64, a: np.uint64, b: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """Choose the join of two places; CLOSED where it makes one whole walk, IMPOSSIBLE where a walk has no end there."""
    code_a, code_b = _code(key, a), _code(key, b)
    if code_a == DONE or code_b == DONE or code_a == np.int64(b):
        return IMPOSSIBLE
    if code_a >= START and code_b >= START:
        return CLOSED
    joined = key
    if code_a < DONE:
        joined = _put(joined, np.uint64(code_a), code_b)
    if code_b < DONE:
        joined = _put(joined, np.uint64(code_b), code_a)
    if code_a != np.int64(a):
        joined = _put(joined, a, DONE)
    if code_b != np.int64(b):
        joined = _put(joined, b, DONE)
    return joined


@njit(cache=True, nogil=True)
def _number(ids: Numbers, used: int, trace: Numbers) -> None:  # pragma: no cover - compiled
    """Give the new states their numbers, behind what they were made from."""
    for state in range(len(ids)):
        trace[used + state] = ids[state]
        ids[state] = used + state


@njit(cache=True, nogil=True)
def _code(key: np.uint64, at: np.uint64) -> np.int64:  # pragma: no cover - compiled
    """Read one place of a state; signed, so that numba compares it with numbers as integers."""
    return np.int64((key >> (at * np.uint64(4))) & np.uint64(15))


@njit(cache=True, nogil=True)
def _put(key: np.uint64, at: np.uint64, code: int) -> np.uint64:  # pragma: no cover - compiled
    shift = at * np.uint64(4)
    return (key & ~(np.uint64(15) << shift)) | (np.uint64(code) << shift)


@njit(cache=True, nogil=True)
def _fixed(key: np.uint64) -> tuple[bool, bool]:  # pragma: no cover - compiled
    """Say whether a state's walk has its start and its end."""
    has_start = has_end = False
    for at in range(PLACES):
        code = (key >> np.uint64(4 * at)) & np.uint64(15)
        has_start |= code == np.uint64(START)
        has_end |= code == np.uint64(END)
    return has_start, has_end


@njit(cache=True, nogil=True)
def _finish(
    deed: Numbers, key: np.uint64, cost: int, left_out: int, parent: int, place: Places
) -> None:  # pragma: no cover - compiled
    """Close a walk: nothing else may be open, and every cell without a join is left out; note it if it is cheapest."""
    alone = deed[UNSEEN]
    for at in range(PLACES):
        code = np.int64((key >> np.uint64(4 * at)) & np.uint64(15))
        if at == deed[FIRST] or (at == deed[SECOND] and deed[KIND] == JOIN):
            continue
        if code == at:
            alone += (deed[ACTIVE] >> at) & 1
        elif code != DONE:
            return
    total = cost + alone * left_out
    if total < place[LIMIT]:
        place[LIMIT] = total
        place[PARENT] = parent
        place[FOUND_AT] = place[AT]


@njit(cache=True, nogil=True)
def _add(
    key: np.uint64,
    cost: int,
    origin: int,
    row: int,
    made: int,
    keys: Masks,
    costs: Numbers,
    ids: Numbers,
    table: Numbers,
    size: int,
) -> int:  # pragma: no cover - compiled
    """Put a state into a row, or better the one it equals; returns how many there are."""
    slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (size - 1)
    while table[slot] >= 0:
        equal = table[slot]
        if keys[row, equal] == key:
            if cost < costs[row, equal]:
                costs[row, equal] = cost
                ids[row, equal] = origin
            return made
        slot = (slot + 1) & (size - 1)
    table[slot] = made
    keys[row, made] = key
    costs[row, made] = cost
    ids[row, made] = origin
    return made + 1

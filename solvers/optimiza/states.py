"""States of a frontier of open walks, and the decisions that lead from one to others.

A state has 4 bits for each of 13 places of the frontier: the place at the other end of the walk that ends here (its own
where no join is chosen), or DONE (two joins chosen), or START or END where that walk's other end is fixed already.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.optimiza.board import Masks, Numbers

PLACES = 13
DONE, START, END = 13, 14, 15
JOIN, LEAVE = 0, 1
KIND, FIRST, SECOND, CELL, ACTIVE, UNSEEN, OTHER = range(7)
AT, COUNT, USED, LIMIT, PARENT, FOUND_AT = range(6)
STATES_A_STEP = 1 << 17
EMPTY_KEY = sum(place << 4 * place for place in range(PLACES))
Places = NDArray[np.int64]


@njit(cache=True, nogil=True)
def decide(
    deeds: Numbers,
    start_costs: Numbers,
    end_costs: Numbers,
    left_out: int,
    place: Places,
    keys: Masks,
    costs: Numbers,
    ids: Numbers,
    table: Numbers,
    trace: Numbers,
) -> None:  # pragma: no cover - compiled; its slow twin is in the tests
    """Take decisions until room or time to look at the clock ends.

    The states of decision number AT lie in row AT % 2 of `keys`, `costs` and `ids`. An entry of `trace` is twice its
    parent's number, plus one where the join was chosen; it may be left empty. The cheapest walk found lowers LIMIT.
    """
    begun = place[USED]
    while place[AT] < len(deeds) and place[COUNT] > 0:
        count = place[COUNT]
        if 2 * count > keys.shape[1] or place[USED] - begun > STATES_A_STEP:
            return
        if len(trace) > 0 and place[USED] + 2 * count > len(trace):
            return
        now = place[AT] & 1
        size = 16
        while size < 4 * count:
            size *= 2
        table[:size] = -1
        made = 0
        deed = deeds[place[AT]]
        a = np.uint64(deed[FIRST])
        for state in range(count):
            key = keys[now, state]
            cost = costs[now, state]
            if cost >= place[LIMIT]:
                continue
            code_a = np.int64((key >> (a * np.uint64(4))) & np.uint64(15))
            if deed[KIND] == JOIN:
                made = _add(key, cost, 2 * ids[now, state], 1 - now, made, keys, costs, ids, table, size)
                b = np.uint64(deed[SECOND])
                code_b = np.int64((key >> (b * np.uint64(4))) & np.uint64(15))
                if code_a == DONE or code_b == DONE or code_a == np.int64(b):
                    continue
                if code_a >= START and code_b >= START:
                    _finish(deed, key, cost, left_out, ids[now, state], place)
                    continue
                joined = key
                if code_a < DONE:
                    joined = _put(joined, np.uint64(code_a), code_b)
                if code_b < DONE:
                    joined = _put(joined, np.uint64(code_b), code_a)
                if code_a != np.int64(a):
                    joined = _put(joined, a, DONE)
                if code_b != np.int64(b):
                    joined = _put(joined, b, DONE)
                made = _add(joined, cost, 2 * ids[now, state] + 1, 1 - now, made, keys, costs, ids, table, size)
                continue
            rest = _put(key, a, np.int64(a))
            cell = deed[CELL]
            if code_a == DONE:
                made = _add(rest, cost, 2 * ids[now, state], 1 - now, made, keys, costs, ids, table, size)
            elif code_a == np.int64(a):
                if cost + left_out < place[LIMIT]:
                    made = _add(
                        rest, cost + left_out, 2 * ids[now, state], 1 - now, made, keys, costs, ids, table, size
                    )
            elif code_a == START:
                _finish(deed, key, cost + end_costs[cell], left_out, ids[now, state], place)
            elif code_a == END:
                _finish(deed, key, cost + start_costs[cell], left_out, ids[now, state], place)
            else:
                has_start, has_end = _fixed(key)
                other = np.uint64(code_a)
                if not has_start and cost + start_costs[cell] < place[LIMIT]:
                    fixed = _put(rest, other, START)
                    made = _add(
                        fixed,
                        cost + start_costs[cell],
                        2 * ids[now, state],
                        1 - now,
                        made,
                        keys,
                        costs,
                        ids,
                        table,
                        size,
                    )
                if not has_end and cost + end_costs[cell] < place[LIMIT]:
                    fixed = _put(rest, other, END)
                    made = _add(
                        fixed, cost + end_costs[cell], 2 * ids[now, state], 1 - now, made, keys, costs, ids, table, size
                    )
        for state in range(
            made if len(trace) > 0 else 0
        ):  # the numbers of the new states, behind what they were made from
            trace[place[USED] + state] = ids[1 - now, state]
            ids[1 - now, state] = place[USED] + state
        place[USED] += made
        place[COUNT] = made
        place[AT] += 1


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
        found = table[slot]
        if keys[row, found] == key:
            if cost < costs[row, found]:
                costs[row, found] = cost
                ids[row, found] = origin
            return made
        slot = (slot + 1) & (size - 1)
    table[slot] = made
    keys[row, made] = key
    costs[row, made] = cost
    ids[row, made] = origin
    return made + 1

"""The reference: layer by layer from the highest down, each group of joined cells solved exactly.

A walk inside a group loses something against all cells and the best end: the value for each cell left out, and what its
end is worth less. Good walks are found by going deep and by turning what was found; then one search for all starts
together proves or betters them. In that search a start costs what its walk loses less than the greatest loss, so that
only a walk that betters its own start stays below the limit. The limit grows by the value, because a small limit makes
a small search.
"""

from __future__ import annotations

import numpy as np

from solvers.optimiza.board import Board, Numbers
from solvers.optimiza.frontier import NEVER, Frontier
from solvers.optimiza.layers import Group, Inside, climb
from solvers.optimiza.outcome import Outcome
from solvers.optimiza.rotations import turn_ends
from solvers.optimiza.search import Flags, go_deep, highest, offer, turn_fronts
from solvers.optimiza.states import Costs
from solvers.parts.clock import Clock

FEW_VISITS = 200
TURNS = 500


def climb_layers(board: Board, clock: Clock) -> Outcome:
    """Solve all layers; when the budget ends, the layers left get good walks without a proof."""
    return climb(board, clock, solve_group)


def solve_group(group: Group, clock: Clock) -> Inside:
    """Find good walks fast and then prove or better them. One step is a group, or 131,072 states of its frontier."""
    count = len(group.near)
    gains = np.zeros(count, np.int32)
    walks = np.full((count, count), -1, np.int32)
    proved = np.zeros(count, np.bool_)
    states = go_deep(group.near, group.worth, group.value, FEW_VISITS, gains, walks, proved)
    turn_fronts(group.near, group.value, gains, walks)
    turn_ends(group.near, group.worth, group.value, TURNS, gains, walks, proved)
    if not proved.all() and clock.step():
        states += prove(group, gains, walks, proved, clock)
    cells = [[cell for cell in walk if cell >= 0] for walk in walks.tolist()]
    return Inside(gains.tolist(), cells, bool(proved.all()), states)


def prove(group: Group, gains: Numbers, walks: Numbers, proved: Flags, clock: Clock) -> int:
    """Prove or better the walk of every start, with a limit on the loss that grows; returns the states looked at."""
    most = np.array([highest(group.worth, group.value, cell) for cell in range(len(group.near))])
    proved |= gains == most
    if proved.all():
        return 0
    frontier = Frontier(group.near)
    if not frontier.fits:
        return 0
    top = len(group.near) * group.value + int(group.worth.max())
    limit = int((top - gains)[~proved].min())
    while True:
        losses = np.minimum(top - gains, limit)
        widest = int(losses[~proved].max())
        starts = np.where(proved, NEVER, widest - losses).astype(np.int32)
        costs = Costs(starts, (group.worth.max() - group.worth).astype(np.int32), group.value)
        ended, walk = frontier.cheapest(costs, widest, clock)
        if not ended:
            return frontier.states
        if walk:
            offer(group.near, group.worth, group.value, np.array(walk, np.int32), gains, walks)
        else:
            proved |= top - gains <= limit
            limit += group.value
        proved |= gains == most
        if proved.all():
            return frontier.states

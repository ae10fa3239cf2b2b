"""The reference: layer by layer from the highest down, each group of joined cells solved exactly."""

from __future__ import annotations

import numpy as np

from solvers.optimiza.board import Board
from solvers.optimiza.layers import Group, Inside, climb
from solvers.optimiza.outcome import Outcome
from solvers.optimiza.search import go_deep, turn_fronts
from solvers.parts.clock import Clock

FEW_VISITS = 200
VISITS_A_STEP = 20_000


def climb_layers(board: Board, clock: Clock) -> Outcome:
    """Solve all layers; when the budget ends, the layers left get good walks without a proof."""
    return climb(board, clock, solve_group)


def solve_group(group: Group, clock: Clock) -> Inside:
    """Find good walks fast and then prove or better them."""
    count = len(group.near)
    gains = np.zeros(count, np.int32)
    walks = np.full((count, count), -1, np.int32)
    proved = np.zeros(count, np.bool_)
    go_deep(group.near, group.worth, group.value, FEW_VISITS, gains, walks, proved)
    turn_fronts(group.near, group.value, gains, walks)
    visits = FEW_VISITS
    while not proved.all() and clock.running():
        visits *= 10
        made = go_deep(group.near, group.worth, group.value, visits, gains, walks, proved)
        clock.step(1 + made // VISITS_A_STEP, states=clock.taken)
    return Inside(gains.tolist(), [[cell for cell in walk if cell >= 0] for walk in walks.tolist()], bool(proved.all()))

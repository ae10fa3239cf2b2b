"""two-sided, the reference: two boards until they agree, played as one, and mended forward while time is left.

A restart (what each part is worth is told in docs/solvers/rollingballs.md):

- agree (`agree.py`): beams on the board that is rolled from the start, until they find no more; then that board and the
  one un-rolled from the target meet ball by ball, with helpers, stolen partners and beams on either board;
- give up (`give_up.py`): each goal whose ball is still left over is taken out of the target, so that all others land
  exactly; as many as possible are taken up again one by one;
- land (`landing.py`): the un-rolls are played reversed after the rolls;
- mend (`mend.py`): beams and excursions on the landed play, forward only.

Rolls are as scarce as time, so `shorten.py` wins some back after every few steps.
"""

from __future__ import annotations

from checkers.rollingballs import Answer, Instance
from solvers.parts.clock import Clock
from solvers.rollingballs.board.flat import lay_out, seed_random, to_answer
from solvers.rollingballs.bound.maximum import find_maximum
from solvers.rollingballs.forward.repair import make_mending, mend
from solvers.rollingballs.two_sided.best import Best
from solvers.rollingballs.two_sided.match_boards import Pair, agree, improve, make_pair, settle


def solve_two_sided(instance: Instance, clock: Clock, seed: int) -> Answer:
    """Restart until the clock stops or the answer is as good as any can be; a step is some 10 ms of search."""
    board = lay_out(instance)
    random = seed_random(seed)
    best = Best(board, find_maximum(board))
    clock.most = best.most
    pair, mending = make_pair(board, random), make_mending(board, random)
    while clock.running() and not best.proven:
        landed = Best(board, best.most)
        _restart(pair, clock, landed, best)
        if clock.running() and not best.proven:
            mend(mending, board, clock, landed, best)
    clock.report(best=best.points, note="optimal" if best.proven else "", final=True)
    return to_answer(board, best.rolls)


def _restart(pair: Pair, clock: Clock, landed: Best, best: Best) -> None:
    """Bring both boards to agree, as far as it goes, and land what came of it."""
    agree(pair, clock, best.points)
    landed.offer_landing(pair.two)
    if settle(pair, clock, landed, best.points):
        landed.offer_landing(pair.two)
        improve(pair, clock, landed, best.points)
    best.offer(landed.cells, landed.rolls)

"""Optimiza: walk over a board of numbers, each cell saying how far the next move goes, and collect much.

Methods
    greedy-x    backwards from the cell with the greatest value, always to the greatest cell left
    greedy-y    the same from all other cells, the best is kept
    greedy-wary the same from all cells, of equal cells to the one with the fewest ways on
    brute       all walks, for as long as the budget lasts
    mask-dp     layer by layer, a table over sets of cells inside each group of joined cells
    layered     layer by layer, each group by deep search and a frontier of open walks
Instance, Answer
    those of checkers/optimiza.py
Raw score
    the sum of the values of the cells visited, to be maximised
Source
    Optimiza, by Chuso, published by Carlos Luna in 2010, and its comments. docs/solvers/optimiza.md tells the story.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from checkers.optimiza import Answer, read_instance
from checkers.rules.optimiza import Instance
from solvers.doors import Method, Progress
from solvers.optimiza.board import Board, answer_of, board_of
from solvers.optimiza.brute import walk_everywhere
from solvers.optimiza.greedy import walk_to_greatest, walk_to_others
from solvers.optimiza.layered import climb_layers
from solvers.optimiza.mask_dp import fill_masks
from solvers.optimiza.outcome import Outcome
from solvers.optimiza.wary import walk_warily
from solvers.parts.clock import Clock

Search = Callable[[Board, Clock], Outcome]
METHODS: Mapping[str, Method[Search]] = MappingProxyType(
    {
        "greedy-x": Method("backwards from the greatest value, always to the greatest cell left", walk_to_greatest),
        "greedy-y": Method("the same greedy walk from all other cells, the best is kept", walk_to_others),
        "greedy-wary": Method("from all cells, of equal cells to the one with the fewest ways on", walk_warily),
        "brute": Method("all walks, depth first", walk_everywhere, anytime=True),
        "mask-dp": Method("a table over sets of cells inside each layer, up to 22 joined cells", fill_masks),
        "layered": Method("layer by layer, with a proof for each group of joined cells", climb_layers),
    }
)
REFERENCE = "layered"


def solve(
    instance: Instance,
    *,
    method: str,
    seed: int,
    seconds: float,
    steps: int | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Find a walk that collects much. No method draws at random: `seed` changes nothing.

    The last report's note is "optimal" where that is proved. Compiling does not count as time. Raises Unsolved.
    """
    warm_up(method)
    board = board_of(instance)
    clock = Clock(seconds, steps, progress)
    outcome = METHODS[method].search(board, clock)
    note = "optimal" if outcome.proved else ""
    clock.report(best=board.sum_of(outcome.walk), states=outcome.states, note=note, final=True)
    return answer_of(board, outcome.walk)


def write_reference(instance: Instance, answer: Answer, *, seed: int) -> str:
    """Render the anchors: `x` and `y`, what the two greedy walks collect, and `best`, what the answer does."""
    board, clock = board_of(instance), Clock(60.0, len(instance.values) + 1)
    x, y = (board.sum_of(walk(board, clock).walk) for walk in (walk_to_greatest, walk_to_others))
    return f"x {x}\ny {y}\nbest {answer.total}\n"


@cache
def warm_up(method: str) -> None:
    """Run a method on a small board, so that its kernels are compiled or loaded before a clock starts; once."""
    METHODS[method].search(board_of(read_instance(SMALL)), Clock(60.0, 1 if method == "brute" else 1000))


SMALL = b"""8
7 5 3 6 5 6 8 5
7 7 3 4 3 1 3 7
7 7 4 6 1 6 7 7
7 5 1 1 5 4 2 5
1 1 1 6 1 6 3 6
2 1 2 4 2 3 2 4
3 5 4 6 5 6 4 5
2 4 2 3 2 4 2 3
"""  # one of its layers cannot be proved without the frontier

"""Solvers of RollingBalls, from a first try to the reference: see `METHODS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checkers.rollingballs import Answer, Instance, write_answer
from solvers.doors import Method, Progress
from solvers.parts.clock import Clock
from solvers.rollingballs.forward.greedy import solve_greedy
from solvers.rollingballs.forward.printed_beam import solve_printed_beam
from solvers.rollingballs.two_sided.solve import solve_two_sided
from solvers.rollingballs.warm import warm_up

Search = Callable[[Instance, Clock, int], Answer]
METHODS: Mapping[str, Method[Search]] = {
    "greedy": Method(
        "nearest free ball to each cell, one ball at a time, with restarts", solve_greedy, anytime=True, seconds=1.0
    ),
    "beam-local": Method(
        "the match's second-placed program: a beam over 1 to 10 balls near one unfinished cell",
        solve_printed_beam,
        anytime=True,
        seconds=9.5,
    ),
    "two-sided": Method(
        "rolls from the start and un-rolls from the target until both boards agree",
        solve_two_sided,
        anytime=True,
        seconds=9.5,
    ),
}
REFERENCE = "two-sided"


def solve(
    instance: Instance,
    *,
    method: str,
    seed: int,
    seconds: float,
    steps: int | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Find rolls with one of `METHODS`; all of them keep their best answer and stop early at a perfect one.

    Compiling does not count as time.
    """
    warm_up(method)
    return METHODS[method].search(instance, Clock(seconds, steps, progress), seed)


def write_reference(instance: Instance, answer: Answer, *, seed: int) -> str:
    """Render the `.ans` file: the reference answer itself, whose score is the one to compare with."""
    return write_answer(answer)

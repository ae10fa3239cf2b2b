"""Divisor: the largest divisor of a number below the number itself.

Methods
    one    says 1
    trial  divides by 2, 3, 4, ... until one fits
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checkers.divisor import Answer, Instance, write_answer
from solvers.doors import Method, Progress, Report


def say_one(_number: int) -> int:
    """Give the divisor of every number."""
    return 1


def divide(number: int) -> int:
    """Divide by every number in turn until one fits."""
    return number // next(d for d in range(2, number + 1) if number % d == 0)


Search = Callable[[int], int]
METHODS: Mapping[str, Method[Search]] = {
    "one": Method("says 1", say_one),
    "trial": Method("trial division", divide),
}
REFERENCE = "trial"


def solve(
    instance: Instance,
    *,
    method: str,
    seed: int,
    seconds: float,
    steps: int | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Find a divisor; both methods end at once."""
    divisor = METHODS[method].search(instance.n)
    if progress is not None:
        progress(Report(1.0, divisor, 1, "optimal" if method == REFERENCE else "", 1))
    return Answer(divisor)


def write_reference(instance: Instance, answer: Answer, *, seed: int) -> str:
    """Render the `.ans` file."""
    return write_answer(answer)

"""Lasttreat: find winning moves in a game with two piles, at most K from one of them or from both.

Methods
    tree         tries every play, remembers nothing
    memo         looks at every position once and tries its moves: O(ABK)
    sieve        every lost position crosses out those that reach it: O(AB)
    period       the sieve on the square of side K + 1, as the lost positions repeat: O(K^2)
    linear       the lost positions of that square as Wythoff's pairs, listed: O(K)
    closed-form  the pairs by a formula in whole numbers: O(1)
Instance, Answer
    those of checkers/lasttreat.py. There is no half answer: a method that does not finish raises Unsolved
Raw score
    1, if every position is right
Source
    Posledná dobrota, Slovak Olympiad in Informatics, A-III-5. docs/solvers/lasttreat.md has what was measured.

A step is one turn of a kernel: about a million moves looked at, or 65536 positions of `closed-form`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np

from checkers.lasttreat import Answer, Instance, write_answer
from checkers.numbers import Integers
from solvers.doors import Method, Progress
from solvers.lasttreat.closed_form import fill_by_formula
from solvers.lasttreat.linear import fill_by_pairs
from solvers.lasttreat.progress import Work
from solvers.lasttreat.tables import fill_by_memo, fill_by_period, fill_by_sieve
from solvers.lasttreat.tree import fill_by_tree
from solvers.parts.clock import Clock

Fill = Callable[[Integers, Work], None]
METHODS: Mapping[str, Method[Fill]] = MappingProxyType(
    {
        "tree": Method("every play is tried, nothing remembered", fill_by_tree),
        "memo": Method("every position once, by its moves: O(ABK)", fill_by_memo),
        "sieve": Method("lost positions cross out those that reach them: O(AB)", fill_by_sieve),
        "period": Method("the sieve on the square that repeats: O(K^2)", fill_by_period),
        "linear": Method("the pairs of that square, listed: O(K)", fill_by_pairs),
        "closed-form": Method("the pairs by a formula in whole numbers: O(1)", fill_by_formula),
    }
)
REFERENCE = "closed-form"


def solve(
    instance: Instance,
    *,
    method: str,
    seed: int,
    seconds: float,
    steps: int | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Find a move for each position. Nothing is drawn, so that `seed` changes nothing; compiling takes no time.

    Raises Unsolved where the method does not finish all of them.
    """
    warm_up(method)
    work = Work(Clock(seconds, steps, progress), np.zeros((instance.count, 2), np.int64))
    METHODS[method].search(instance.rows, work)
    work.finish()
    return Answer(work.moves)


def write_reference(instance: Instance, answer: Answer, *, seed: int) -> str:
    """Render the `.ans` file: the answer itself; the checker takes every other winning move as well."""
    return write_answer(answer)


@cache
def warm_up(method: str) -> None:
    """Run a method on two small positions, so that its kernels are compiled or loaded before a clock starts; once."""
    rows = np.array([[1, 2, 3], [2, 2, 1]], np.int64)
    METHODS[method].search(rows, Work(Clock(60.0, 16), np.zeros((2, 2), np.int64)))

"""The doors every solver opens.

A solver is a module or folder `solvers/<slug>` that satisfies :class:`Solver`: `METHODS`, the first word of a ladder to
its last, and `solve`. It borrows `Instance` and `Answer` from its own checker and knows nothing of the service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar, cast

from checkers.doors import Exact

I_contra = TypeVar("I_contra", contravariant=True)
A = TypeVar("A")
S = TypeVar("S")


class Unsolved(Exception):
    """A method has no answer: its time or memory ended first, or the instance is beyond it. The text says which.

    Raised by `solve` where there is no answer to give; a method that has a legal answer gives its best so far.
    """


@dataclass(frozen=True, slots=True)
class Report:
    """The progress of a search: `fraction` of its budget 0..1, its best raw score so far, and the states looked at.

    `steps` are those taken so far, so that a run by the clock tells how many steps would repeat it. `most` is the best
    raw score that the search has proven possible, if any.
    """

    fraction: float
    best: Exact | None = None
    states: int = 0
    note: str = ""
    steps: int = 0
    most: Exact | None = None


Progress = Callable[[Report], bool | None]
"""Called now and then with a report; returning False asks the search to stop and give its best so far."""


@dataclass(frozen=True, slots=True)
class Method(Generic[S]):
    """A way to solve a problem: a rung of its ladder.

    summary   one sentence, shown by `jurado methods`
    search    the solver's own function behind it, called by its `solve`
    anytime   uses all the seconds it is given and improves; otherwise it ends when it is done
    seconds   the default time limit
    """

    summary: str
    search: S
    anytime: bool = False
    seconds: float = 10.0


class Solver(Protocol[I_contra, A]):
    """A module that finds answers for one problem. The method named `REFERENCE` makes the expected answers."""

    METHODS: Mapping[str, Method[Any]]
    REFERENCE: str

    def solve(
        self,
        instance: I_contra,
        *,
        method: str,
        seed: int,
        seconds: float,
        steps: int | None = None,
        progress: Progress | None = None,
    ) -> A:
        """Find an answer. With `steps` the clock is ignored: the same seed and steps give the same answer.

        Raises Unsolved where the method has none.
        """
        ...

    def write_reference(self, instance: I_contra, answer: A, *, seed: int) -> str:
        """Render the case's `.ans` file from the reference answer (with the anchors that points need)."""
        ...


def open_solver(slug: str) -> Solver[Any, Any]:
    """Open the solver of a problem; `slug` comes from the catalogue, never from a request."""
    return cast(Solver[Any, Any], import_module(f"solvers.{slug}"))

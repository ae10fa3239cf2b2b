"""Lazy Piglets: the fewest steps that bring up to four piglets onto as many haystacks.

Methods
    bfs            breadth-first search over ordered states
    bfs-sorted     the same over sorted states, a bit for each
    bidirectional  from both ends, the smaller layer first
    astar          least estimate first, by the best assignment of piglets to haystacks
    reference      a plan by beam search, then layers from both ends under its length; always with a plan
Instance, Answer
    those of checkers/lazypiglets.py
Raw score
    1: the answer is the least number of steps, or -1. A method whose time or memory ends before it is sure has none.
Source
    'O lenivých prasiatkach', Slovak olympiad in informatics, A-III-4. docs/solvers/lazypiglets.md tells the story.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from checkers.lazypiglets import UNREACHABLE, Answer, Instance, read_instance
from solvers.doors import Method, Progress
from solvers.lazypiglets.astar import search_best_estimate
from solvers.lazypiglets.bits import search_both, search_sorted
from solvers.lazypiglets.breadth import search_ordered
from solvers.lazypiglets.maps import Field, answer_of, field_of
from solvers.lazypiglets.two_ended import search_two_ended
from solvers.lazypiglets.work import Work
from solvers.parts.clock import Clock

TINY = b"3\n...\n.#.\n...\n2\n1 1\n1 2\n3 3\n3 1\n"


def search_planning(field: Field, work: Work) -> Answer:
    """Search with the reference method; the answer has a plan."""
    return answer_of(search_two_ended(field, work), field)


Search = Callable[[Field, Work], int | Answer]
METHODS: Mapping[str, Method[Search]] = MappingProxyType(
    {
        "bfs": Method("breadth-first search over ordered states", search_ordered),
        "bfs-sorted": Method("breadth-first search, piglets interchangeable", search_sorted),
        "bidirectional": Method("breadth-first search from both ends", search_both),
        "astar": Method(
            "best estimate first: the best assignment by walking and jumping", search_best_estimate, seconds=60.0
        ),
        "reference": Method("beam search, then pruned layers from both ends; gives a plan", search_planning),
    }
)
REFERENCE = "reference"


def solve(
    instance: Instance,
    *,
    method: str,
    seed: int,
    seconds: float,
    steps: int | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Find the least number of steps. Nothing is drawn, so `seed` plays no part; compiling does not count as time.

    Raises Unsolved, see :class:`Work`.
    """
    warm_up(method)
    clock = Clock(seconds, steps, progress)
    work = Work(clock)
    answer = search(instance, method, work)
    note = "the haystacks cannot be reached" if answer.steps == UNREACHABLE else f"{answer.steps} steps"
    clock.report(best=1, states=work.states, note=f"optimal: {note}", final=True)
    return answer


def search(instance: Instance, method: str, work: Work) -> Answer:
    """Answer an instance: -1 at once where it cannot be done, otherwise what the method finds."""
    field = field_of(instance)
    if not field.is_reachable():
        return Answer(UNREACHABLE)
    answer = METHODS[method].search(field, work)
    return answer if isinstance(answer, Answer) else Answer(answer)


def write_reference(instance: Instance, answer: Answer, *, seed: int) -> str:
    """Render the expected answer: the number alone, so that it gives nothing more away than it must."""
    return f"{answer.steps}\n"


@cache
def warm_up(method: str) -> None:
    """Solve a tiny map, so that the method's kernels are compiled or loaded before a clock starts; once.

    Its clock counts steps: however long a busy machine compiles, the map is solved.
    """
    search(read_instance(TINY), method, Work(Clock(60.0, steps=1000)))

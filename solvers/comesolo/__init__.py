"""Comesolo: eat as many pieces as possible with jumps in eight directions on a square board.

Methods
    greedy      random plays, the longest is kept
    dfs         depth-first search with taking back, as deep as the time allows
    best-first  a queue of boards for each score, drawn mostly from the top, as printed
    beam        level by level, the most compact boards are kept; then good plays are cut and grown again
Instance, Answer
    those of checkers/comesolo.py
Raw score
    jumps played, to be maximised
Source
    lhchavez, solution of Comesolo, omegaUp 2013 (best-first); the rest is ours. docs/solvers/comesolo.md has the story.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from checkers.comesolo import Answer, Instance, read_instance
from solvers.comesolo.beam import search_beam
from solvers.comesolo.best_first import search_queues
from solvers.comesolo.bound import most_eaten
from solvers.comesolo.dfs import search_depth_first
from solvers.comesolo.greedy import search_greedily
from solvers.comesolo.moves import Jumps, answer_of, rows_of, tables_of
from solvers.doors import Method, Progress
from solvers.parts.clock import Clock

Search = Callable[..., tuple[Jumps, int]]
METHODS: Mapping[str, Method[Search]] = MappingProxyType(
    {
        "greedy": Method("random plays, the longest is kept", search_greedily, anytime=True),
        "dfs": Method("depth-first search with taking back", search_depth_first, anytime=True),
        "best-first": Method("queues of boards by score, drawn mostly from the top", search_queues, anytime=True),
        "beam": Method("beam search over compact boards, then cut and grow again", search_beam, anytime=True),
    }
)
REFERENCE = "beam"
PAR_PLAYS = 1


def solve(
    instance: Instance,
    *,
    method: str,
    seed: int,
    seconds: float,
    steps: int | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Find a long play. Ends early at a play that is proved to be longest; compiling does not count as time."""
    search = METHODS[method].search
    bound = most_eaten(instance)
    warm_up(method)
    clock = Clock(seconds, steps, progress)
    jumps, states = search(rows_of(instance), tables_of(instance.size), bound, seed=seed, clock=clock)
    note = "optimal" if len(jumps) == bound else ""
    clock.report(best=len(jumps), states=states, note=note, final=True)
    return answer_of(jumps, instance.size)


def write_reference(instance: Instance, answer: Answer, *, seed: int) -> str:
    """Render the anchors: `par`, the jumps of a seeded greedy, and `best`, the jumps of the answer."""
    par = solve(instance, method="greedy", seed=seed, seconds=1.0, steps=PAR_PLAYS)
    return f"par {par.count}\nbest {answer.count}\n"


@cache
def warm_up(method: str) -> None:
    """Run a method on a tiny board, so that its kernels are compiled or loaded before a clock starts; once."""
    tiny = read_instance(b"3\nooo\no..\n...\n")
    METHODS[method].search(rows_of(tiny), tables_of(3), 9, seed=1, clock=Clock(1.0, 8))

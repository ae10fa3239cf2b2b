"""Comesolo: eat as many pieces as possible with jumps in eight directions on a square board.

Methods
    greedy      random plays, the longest is kept
    dfs         depth-first search with taking back, as deep as the time allows
    best-first  a queue of boards for each score, drawn mostly from the top, as printed
    beam        level by level, the most compact boards are kept; then cut near what was left over and grown again
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
from solvers.comesolo.dfs import search_depth_first
from solvers.comesolo.greedy import search_greedily
from solvers.comesolo.moves import answer_of, rows_of, tables_of
from solvers.comesolo.parts import Outcome, Part, Split, find_parts
from solvers.doors import Method, Progress
from solvers.parts.clock import Clock

Search = Callable[..., Outcome]
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
    warm_up(method)
    clock = Clock(seconds, steps, progress)
    rows, tables = rows_of(instance), tables_of(instance.size)
    split = find_parts(rows, tables)
    clock.most = split.most
    outcome = METHODS[method].search(rows, tables, split, seed=seed, clock=clock)
    clock.most = outcome.most
    note = "optimal" if len(outcome.jumps) == outcome.most else ""
    clock.report(best=len(outcome.jumps), states=outcome.states, note=note, final=True)
    return answer_of(outcome.jumps, instance.size)


def write_reference(instance: Instance, answer: Answer, *, seed: int) -> str:
    """Render the anchors: `par`, the jumps of a seeded greedy, and `best`, the jumps of the answer."""
    par = solve(instance, method="greedy", seed=seed, seconds=1.0, steps=PAR_PLAYS)
    return f"par {par.count}\nbest {answer.count}\n"


@cache
def warm_up(method: str) -> None:
    """Run a method on a small board, so that its kernels are compiled or loaded before a clock starts; once."""
    small = read_instance(b"5\nooooo\nooooo\noo.oo\nooooo\nooooo\n")
    rows, tables = rows_of(small), tables_of(5)
    find_parts(rows_of(read_instance(b"5\noo.oo\n.....\n.....\n.....\n.....\n")), tables)
    split = Split((Part(rows, small.pieces, None),))  # one more than possible: the search continues to its last kernel
    METHODS[method].search(rows, tables, split, seed=1, clock=Clock(1.0, 1000))

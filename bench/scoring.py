"""Scoring: one new best on one of 100 cases, and everything from scratch, for 10,000 teams."""

from __future__ import annotations

import statistics
import time
from datetime import timedelta
from fractions import Fraction

import numpy as np

from app.domain.contests import Case, CaseKind, Counting, Direction, Group, Kind, ScoredProblem, ScoringRule, Team
from app.domain.counting import Attempt, CaseVerdict, RawScore, by_place
from app.domain.incremental_scoreboard import LiveBoard

CASES = 100
UPDATES = 30
LIVE_TEAMS = 10_000
LIVE_MS = 10.0


def main() -> int:
    """Print the tables; 1 if a goal is missed."""
    title = f"verdict in, board out: {LIVE_TEAMS:,} teams"
    print(f"{title}\n{'':24}{'load s':>14}{'new best ms':>13}{'slowest ms':>12}{'CPU ms':>10}")
    live = [of_live_board(kind, counting) for kind, counting in RULES]
    print(f"goal: one new best {LIVE_MS:g} ms")
    return 0 if max(live) < LIVE_MS else 1


RULES = (
    (Kind.RELATIVE, Counting.LAST),
    (Kind.RELATIVE, Counting.BEST_CASE),
    (Kind.ABSOLUTE, Counting.BEST_CASE),
    (Kind.RELATIVE, Counting.BEST),
    (Kind.RANK, Counting.LAST),
)


def problem(kind: Kind, counting: Counting = Counting.LAST) -> ScoredProblem:
    """Make one group of 100 cases of a point each."""
    rule = ScoringRule(kind, Direction.MAXIMISE, counting)
    cases = tuple(Case(f"{at:03}", "secret", Fraction(1)) for at in range(CASES))
    return ScoredProblem("p", rule, (Group("secret", CaseKind.PROVISIONAL, Fraction(CASES)),), cases)


def raw(value: int) -> RawScore:
    """Make an accepted answer."""
    return RawScore(CaseVerdict.ACCEPTED, value, Fraction(min(value, 10**6), 10**6))


def of_live_board(kind: Kind, counting: Counting) -> float:
    """Time the way of a new best, from a verdict to a board of 10,000 teams; returns the median CPU time in ms."""
    draw = np.random.default_rng(1)
    teams = [Team(f"t{at}", f"Team {at}") for at in range(LIVE_TEAMS)]
    scored = problem(kind, counting)
    values = draw.integers(1, 10**6, (LIVE_TEAMS, CASES)).tolist()
    attempts = [
        Attempt(at, team.id, "p", timedelta(seconds=at), {f"{c:03}": raw(v) for c, v in enumerate(values[at])})
        for at, team in enumerate(teams)
    ]
    began = time.perf_counter()
    live, cells = LiveBoard([scored]), by_place(attempts)
    live.board(teams, cells)
    loaded = time.perf_counter() - began
    walls, works = [], []
    for at in range(UPDATES):
        team = teams[int(draw.integers(LIVE_TEAMS))]
        news = {f"{at % CASES:03}": raw(10**6 + at)}
        began, worked = time.perf_counter(), time.process_time()
        sent = Attempt(LIVE_TEAMS + at, team.id, "p", timedelta(hours=3, seconds=at), news)
        cells[sent.place] = [*cells[sent.place], sent]
        live.board(teams, cells, changed=[sent.place])
        walls.append((time.perf_counter() - began) * 1000)
        works.append((time.process_time() - worked) * 1000)
    name = f"{kind}, {counting}"
    print(f"{name:24}{loaded:14.1f}{statistics.median(walls):13.2f}{max(walls):12.2f}{statistics.median(works):10.2f}")
    return statistics.median(works)

"""Relative scoring: one new best on one of 100 cases, and everything from scratch, for 1,000 to 100,000 teams."""

from __future__ import annotations

import gc
import statistics
import time
from datetime import timedelta
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from app.domain.board_arrays import shared_ranks
from app.domain.contests import Case, CaseKind, Counting, Direction, Group, Kind, ScoredProblem, ScoringRule, Team
from app.domain.counting import Attempt, Counted, RawScore
from app.domain.incremental_scoreboard import LiveBoard
from app.domain.incremental_scoring import NEVER, Columns
from app.domain.scoring import PROVISIONAL
from app.domain.verdicts import CaseVerdict

CASES = 100
TEAMS = (1_000, 10_000, 100_000)
UPDATES = 30
LIVE_TEAMS = 10_000
LIVE_MS = 10.0
SCRATCH_SECONDS = 1.0


def main() -> int:
    """Print the tables; 1 if a goal is missed."""
    scratch = of_columns(Kind.RELATIVE)
    of_columns(Kind.RANK)
    title = f"verdict in, board out: {LIVE_TEAMS:,} teams"
    print(f"{title}\n{'':24}{'load s':>14}{'new best ms':>13}{'slowest ms':>12}{'CPU ms':>10}")
    live = [of_live_board(kind, counting) for kind, counting in RULES]
    print(f"goals: from scratch {SCRATCH_SECONDS:g} s, one new best {LIVE_MS:g} ms")
    return 0 if scratch < SCRATCH_SECONDS and max(live) < LIVE_MS else 1


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


def of_columns(kind: Kind) -> float:
    """Time the way from columns of raw scores to points and ranks; returns the seconds from scratch with most teams."""
    head = f"{'scratch s':>11}{'CPU s':>8}{'new best ms':>13}{'slowest ms':>12}{'MiB':>8}"
    print(f"{kind}: columns of {CASES} cases{'':8}{head}")
    spent = []
    for teams in TEAMS:
        draw = np.random.default_rng(1)
        scores = draw.integers(1, 10**6, (CASES, teams)).astype(np.float64)
        times = draw.integers(0, 10**10, (CASES, teams))
        gc.collect()
        began, worked = time.perf_counter(), time.process_time()
        columns = Columns(problem(kind), PROVISIONAL, rows=teams)
        columns.set_teams(teams)
        columns.load(scores, times)
        rank(columns, teams)
        wall = time.perf_counter() - began
        spent.append(time.process_time() - worked)
        updates = [new_best(columns, teams, at, int(draw.integers(teams))) for at in range(UPDATES)]
        middle, slowest = statistics.median(updates) * 1000, max(updates) * 1000
        figures = f"{wall:11.3f}{spent[-1]:8.3f}{middle:13.2f}{slowest:12.2f}{columns.nbytes() / 2**20:8.0f}"
        print(f"{teams:>10,} teams{'':17}{figures}")
    print(f"growth from scratch: teams to the power {growth(spent):.2f}; memory: linear, 24 bytes a team and case")
    return spent[-1]


def rank(columns: Columns, teams: int) -> Any:
    """Bring points up to date, and put everybody in order."""
    columns.refresh()
    points, latest = columns.points[:teams], columns.latest[:teams]
    order = np.lexsort((np.arange(teams), np.where(latest == NEVER, np.iinfo(np.int64).max, latest), -points))
    return shared_ranks(points[order], latest[order])


def new_best(columns: Columns, teams: int, at: int, team: int) -> float:
    """Time one new best until all ranks are known, in seconds."""
    began = time.perf_counter()
    columns.change(team, {f"{at % CASES:03}": Counted(raw(10**6 + at), at, timedelta(hours=3))})
    rank(columns, teams)
    return time.perf_counter() - began


def growth(seconds: list[float]) -> float:
    """Give the exponent with which time grows with teams."""
    return log(seconds[-1] / seconds[0]) / log(TEAMS[-1] / TEAMS[0])


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
    live = LiveBoard([scored], teams, attempts)
    live.board()
    loaded = time.perf_counter() - began
    walls, works = [], []
    for at in range(UPDATES):
        team = teams[int(draw.integers(LIVE_TEAMS))]
        news = {f"{at % CASES:03}": raw(10**6 + at)}
        began, worked = time.perf_counter(), time.process_time()
        live.put([Attempt(LIVE_TEAMS + at, team.id, "p", timedelta(hours=3, seconds=at), news)])
        live.board()
        walls.append((time.perf_counter() - began) * 1000)
        works.append((time.process_time() - worked) * 1000)
    name = f"{kind}, {counting}"
    print(f"{name:24}{loaded:14.1f}{statistics.median(walls):13.2f}{max(walls):12.2f}{statistics.median(works):10.2f}")
    return statistics.median(works)

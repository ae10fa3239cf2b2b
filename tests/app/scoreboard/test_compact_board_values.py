"""The compact form of a board is small whatever its figures are, and never says more points than there are."""

from __future__ import annotations

import gzip
import json
import random

import numpy as np
import pytest

from app.domain.board import Board
from app.domain.contests import PROVISIONAL, ScoredProblem, ScoringRule, Team
from app.scoreboard.service.pages import compact_json, hundredths

SECONDS = 3600


def test_a_thousand_teams_and_ten_problems_take_less_than_40_kb_zipped() -> None:
    """Whatever the figures are: each cell has points and a time of its own, from a contest of five hours."""
    draw = random.Random(7)
    shape = (10, 1000)
    scores = np.array([[draw.random() * 100 for _ in range(shape[1])] for _ in range(shape[0])])
    improved = np.array([[draw.randrange(5 * SECONDS * 10**6) for _ in range(shape[1])] for _ in range(shape[0])])
    totals = scores.sum(axis=0)
    arrays = Board(
        [ScoredProblem(f"problem{at}", ScoringRule(), (), ()) for at in range(shape[0])],
        PROVISIONAL,
        [Team(f"team{at}", f"Team {at}") for at in range(shape[1])],
        np.argsort(-totals),
        np.arange(1, shape[1] + 1),
        totals,
        improved.max(axis=0),
        scores,
        scores,
        improved,
        np.ones(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        [],
        {},
    )
    whole = compact_json({}, arrays)
    assert len(gzip.compress(whole, 9)) < 40_000
    assert len(json.loads(whole)["team_ids"]) == 1000


@pytest.mark.parametrize(("points", "cut"), [(99.996, 9999), (100.0, 10000), (0.29, 29), (1.15, 115), (0.0, 0)])
def test_points_are_cut_and_never_rounded_up_but_for_what_floats_lose(points: float, cut: int) -> None:
    assert hundredths(np.array([points])) == [cut]

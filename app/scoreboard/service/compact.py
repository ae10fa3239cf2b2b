"""The compact form of a board: a property of all teams or cells is one array, and each id is written once.

Points are cut to hundredths and times to seconds, and cells have no times, so that 1,000 teams and 10 problems take
less than 40 KB zipped whatever their figures are. The whole form has the exact figures.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from app.domain.board_arrays import BoardArrays
from app.domain.incremental_scoring import NEVER
from app.domain.rounded_arrays import all_cut
from app.domain.score_columns import Floats, Whole
from app.scoreboard.service.row_renderer import dump

MICROSECONDS = 1_000_000


def compact_json(head: Mapping[str, object], arrays: BoardArrays, places: NDArray[np.int64] | None = None) -> bytes:
    """The rows of a board at some places, from the top; of all where none are named."""
    shown = slice(None) if places is None else places
    teams = arrays.order[shown]
    return dump(
        {
            **head,
            "team_ids": [arrays.teams[team].id for team in teams.tolist()],
            "ranks": arrays.ranks[shown].tolist(),
            "scores": hundredths(arrays.totals[teams]),
            "times": _seconds(arrays.times[teams]),
            "problems": [
                {
                    "problem_id": problem.id,
                    "num_judged": arrays.judged[at, teams].tolist(),
                    "num_pending": arrays.pending[at, teams].tolist(),
                    "scores": hundredths(arrays.scores[at, teams]),
                }
                for at, problem in enumerate(arrays.problems)
            ],
        }
    )


def hundredths(points: Floats) -> list[int]:
    """Points in whole hundredths, cut: 99.996 is 9999."""
    units: list[int] = all_cut(points, 2).tolist()
    return units


def _seconds(times: Whole) -> list[int | None]:
    """Times of the columns in whole seconds, cut; None where there is none."""
    return [None if time == NEVER else time // MICROSECONDS for time in times.tolist()]

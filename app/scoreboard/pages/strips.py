"""Strips in the heads of the board's columns: all teams' points at a problem, on one line from none to all of them.

A strip has a hundred units in width and twelve in height, and one mark for all teams at the same unit. It shows teams
with a judged answer, as the board shows them: frozen where it is.
"""

from __future__ import annotations

import numpy as np

from app.domain.board_arrays import BoardArrays
from app.domain.score_columns import Whole

FIRST, WIDTH = 2, 96
"""The unit of no points, and the units from there to that of all points."""


def strips(arrays: BoardArrays) -> tuple[str, ...]:
    """The marks of all teams at each problem as a path of SVG; empty while nothing is judged."""
    return tuple(_strip(arrays, problem) for problem in range(len(arrays.problems)))


def own_units(arrays: BoardArrays, team: int) -> tuple[int | None, ...]:
    """The unit of a team's mark at each problem; None without a judged answer."""
    judged, scores = arrays.judged[:, team].tolist(), arrays.scores[:, team].tolist()
    most = [float(each.rule.max_points) or 1.0 for each in arrays.problems]
    units = [FIRST + int(WIDTH * min(1.0, max(0.0, a / b))) for a, b in zip(scores, most, strict=True)]
    return tuple(unit if count else None for unit, count in zip(units, judged, strict=True))


def _strip(arrays: BoardArrays, problem: int) -> str:
    units = np.unique(_units(arrays, problem)[arrays.judged[problem] > 0])
    return "".join(f"M{unit} 3V10" for unit in units.tolist())


def _units(arrays: BoardArrays, problem: int) -> Whole:
    most = float(arrays.problems[problem].rule.max_points) or 1.0
    units: Whole = np.floor(WIDTH * np.clip(arrays.scores[problem] / most, 0, 1)).astype(np.int64)
    return FIRST + units

"""The costs of a beam's boards: pieces cost more the farther out and the lonelier they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from solvers.comesolo.moves import PAD

LINE = 64  # cells of a padded row in the flat tables, so that row * LINE + bit is a cell
LARGEST_COST = 3e7  # of one cell: a jump changes some 25 cells, and its change must fit into an int32

Costs = NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """A taste: the power of the distance, and the shares added for a piece with no and with exactly one neighbour."""

    power: float
    lonely: float
    pair: float


SETTINGS = (
    Setting(3, 0.8, 0.3),
    Setting(5, 0.7, 0.3),
    Setting(4, 0.8, 0.25),
    Setting(6, 1.0, 0.3),
    Setting(2.5, 0.6, 0.3),
)


@dataclass(frozen=True)
class View:
    """A setting applied to a board: its centre, and cells whose cost is raised because pieces were left near them."""

    setting: Setting
    centre: tuple[float, float]
    raised: Sequence[tuple[int, int]] = field(default=())
    raise_by: float = 0.0


def costs_of(view: View, size: int) -> Costs:
    """Tabulate a view: 3 x (rows * LINE) integers: what a piece costs, and what it costs more if lonely or in a pair.

    Integers, because the same board must cost the same on every way that leads to it.
    """
    row, column = np.mgrid[0:size, 0:size]
    distance = np.hypot(row - view.centre[0], column - view.centre[1])
    cost = distance**view.setting.power
    for r, c in view.raised:
        cost *= 1 + view.raise_by * (np.maximum(abs(row - r), abs(column - c)) <= 1)
    cost *= LARGEST_COST / max(cost.max(), 1e-9)
    table = np.zeros((3, size + 2 * PAD, LINE), np.int64)
    for share, layer in zip((1.0, view.setting.lonely, view.setting.pair), table, strict=True):
        layer[PAD : PAD + size, PAD : PAD + size] = np.rint(cost * share)
    return table.reshape(3, -1)


def middle_of(board: NDArray[np.uint8]) -> tuple[float, float]:
    """Find the mean row and column of a board's pieces; `board` is size x size."""
    rows, columns = np.nonzero(board)
    return float(rows.mean()), float(columns.mean())

"""The reveal of a frozen board: the next places, from the bottom up, as in the ceremonies of the ICPC."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from app.domain.scoreboard import Board, Row

Place = tuple[str, str]
"""A team at a problem."""


class Step(StrEnum):
    """How much is opened at once: one cell, all that is left of the lowest team that has something, or everything."""

    CELL = "cell"
    ROW = "row"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Pending:
    """The hidden problems of one team, in order."""

    team_id: str
    problem_ids: tuple[str, ...]


def pending(board: Board, hidden: Collection[Place]) -> list[Pending]:
    """The teams with `hidden` places, from the bottom of the board to its top."""
    rows = [(row, _hidden(row, hidden)) for row in reversed(board.rows)]
    return [Pending(row.team.id, problems) for row, problems in rows if problems]


def _hidden(row: Row, hidden: Collection[Place]) -> tuple[str, ...]:
    return tuple(cell.problem_id for cell in row.cells if (row.team.id, cell.problem_id) in hidden)


def opened(waiting: list[Pending], step: Step) -> list[Place]:
    """The places that a step opens of the `pending` ones."""
    if step is Step.ALL:
        return [(each.team_id, problem_id) for each in waiting for problem_id in each.problem_ids]
    if not waiting:
        return []
    lowest = waiting[0]
    problems = lowest.problem_ids if step is Step.ROW else lowest.problem_ids[:1]
    return [(lowest.team_id, problem_id) for problem_id in problems]

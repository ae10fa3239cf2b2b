"""Rows of the board's page: numbers as cells with their classes, each row written once while it stays the same.

- Strips in the heads of the board's columns: all teams' points at a problem, on one line from none to all of them.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from markupsafe import Markup

from app.core.pages import frames, pages
from app.core.pages.languages import decimal, language
from app.core.pages.wording import heat, points, shown_time, width
from app.domain.board import Board, moment
from app.domain.contests import Clock
from app.domain.score_columns import Whole
from app.scoreboard.service.pages import row_bytes

# The unit of no points, and the units from there to that of all points.
FIRST, WIDTH = 2, 96


def _strip(arrays: Board, problem: int) -> str:
    units = np.unique(_units(arrays, problem)[arrays.judged[problem] > 0])
    return "".join(f"M{unit} 3V10" for unit in units.tolist())


def _units(arrays: Board, problem: int) -> Whole:
    most = float(arrays.problems[problem].rule.max_points) or 1.0
    units: Whole = np.floor(WIDTH * np.clip(arrays.scores[problem] / most, 0, 1)).astype(np.int64)
    return FIRST + units


ROWS_KEPT = 16_384
# Rows before and after their ranks, which a new version of a board has in common with the last ones (guarantee 6:
# 1,000 readers fetch 200 pages a second of 100 rows, and each row takes 0.15 ms to write). Full, it starts again.
ROWS: dict[Hashable, tuple[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Cell:
    """One team at one problem: its text, its classes, the width of its bar, and what waits."""

    text: str
    kind: str
    bar: int
    pending: int
    is_best: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One team's row; `moved`: places up from the provisional board, negative ones down."""

    rank: int
    moved: int
    team_id: str
    name: str
    groups: str
    is_own: bool
    total: str
    cells: tuple[Cell, ...]
    gained: str


class BoardRows:
    """Makes rows of the numbers of a board: as values, and as HTML below an address of the contest.

    waiting  the number of submissions of which the board shows that they wait
    before   the board whose ranks the rows are compared with
    """

    def __init__(
        self,
        arrays: Board,
        columns: Sequence[frames.Column],
        groups: Mapping[str, str],
        clock: Clock,
        address: str = "",
        before: Board | None = None,
    ) -> None:
        self._arrays, self._columns, self._groups, self._clock = arrays, columns, groups, clock
        self._before = dict(zip((before or arrays).order.tolist(), (before or arrays).ranks.tolist(), strict=True))
        self.address = address
        self._tops = [float(scores.max()) if len(scores) else 0.0 for scores in arrays.scores]
        self._holders = [int(np.sum(s == top)) for s, top in zip(arrays.scores, self._tops, strict=True)]
        self._order: list[int] = arrays.order.tolist()
        self._places = {arrays.teams[at].id: place for place, at in enumerate(self._order)}
        self.waiting = int(np.sum(arrays.pending))

    @property
    def count(self) -> int:
        """The number of teams."""
        return len(self._order)

    def places(self, find: str) -> Sequence[int]:
        """The places, from the top, of the teams whose names hold a text."""
        wanted = find.casefold().strip()
        if not wanted:
            return range(len(self._order))
        teams = self._arrays.teams
        return [place for place, at in enumerate(self._order) if wanted in teams[at].name.casefold()]

    def place_of(self, team_id: str | None) -> int | None:
        """The place of a team, from the top; None where it is not on the board."""
        return None if team_id is None else self._places.get(team_id)

    def html(self, places: Sequence[int], own: int | None) -> Markup:
        """The rows of some places, and at the end that of the viewer's team (`own`) where it is not among them."""
        every = [*places] if own is None or own in places else [*places, own]
        return Markup("".join(self._row(place, is_own=place == own) for place in every))  # rows of a template

    def _row(self, place: int, *, is_own: bool = False) -> str:
        """A row as a table's; all but its rank is written again only where the team's own numbers have changed."""
        at, rank = self._order[place], str(int(self._arrays.ranks[place]))
        moved = self._before[at] - int(rank)
        key = (self._numbers[at], self._arrays.teams[at], self._kind, self._groups_of(at), is_own, moved, language())
        if (parts := ROWS.get(key)) is None:
            before, _, after = _row_around_rank(self.line(place, is_own=is_own), self.address)
            if len(ROWS) >= ROWS_KEPT:
                ROWS.clear()
            parts = ROWS[key] = before, after
        return f"{parts[0]}{rank}{parts[1]}"

    @cached_property
    def _kind(self) -> Hashable:
        """What the rows of a board have in common."""
        return self.address, self._clock.start, tuple(column.most for column in self._columns), self.count > 1

    @cached_property
    def _numbers(self) -> list[bytes]:
        """All numbers of each team's row but its rank, as bytes."""
        arrays = self._arrays
        tops, holders = np.array(self._tops)[:, None], np.array(self._holders)[:, None]
        is_best = (arrays.scores == tops) & (holders == 1)
        whole = arrays.pending, arrays.judged > 0, is_best, arrays.times
        return row_bytes(len(arrays.teams), arrays.scores, arrays.totals, *whole)

    def _groups_of(self, at: int) -> str:
        return ", ".join(self._groups[each] for each in self._arrays.teams[at].group_ids if each in self._groups)

    @cached_property
    def strips(self) -> Sequence[str]:
        """The marks of all teams at each problem as a path of SVG; empty while nothing is judged."""
        return [_strip(self._arrays, problem) for problem in range(len(self._arrays.problems))]

    def own_units(self, place: int) -> Sequence[int | None]:
        """The unit of a team's mark at each problem; None without a judged answer."""
        arrays, team = self._arrays, self._order[place]
        judged = (arrays.judged[:, team] > 0).tolist()
        return [int(_units(arrays, at)[team]) if has_any else None for at, has_any in enumerate(judged)]

    def line(self, place: int, *, is_own: bool = False) -> Line:
        """The row of a place."""
        at = self._order[place]
        team = self._arrays.teams[at]
        gained = moment(int(self._arrays.times[at]))
        return Line(
            rank := int(self._arrays.ranks[place]),
            self._before[at] - rank,
            team.id,
            team.name,
            self._groups_of(at),
            is_own,
            points(float(self._arrays.totals[at])),
            tuple(self._cell(problem, at) for problem in range(len(self._columns))),
            "" if gained is None else shown_time(self._clock, gained),
        )

    def standing(self, place: int) -> dict[str, object]:
        """The standing of a place for a sentence: rank, points, and what is missing to the next and to the first."""
        totals = self._arrays.totals[self._arrays.order]
        mine = float(totals[place])
        above = totals[: int(np.searchsorted(-totals, -mine))]
        gaps = [
            column.most - float(self._arrays.scores[n, self._order[place]]) for n, column in enumerate(self._columns)
        ]
        widest = max(range(len(gaps)), key=gaps.__getitem__) if gaps and max(gaps) > 0 else None
        return {
            "rank": int(self._arrays.ranks[place]),
            "points": points(mine),
            "behind": points(float(above[-1]) - mine) if len(above) else None,
            "behind_first": points(float(totals[0]) - mine) if len(above) and above[0] > above[-1] else None,
            "widest": None if widest is None else self._columns[widest],
        }

    def _cell(self, problem: int, at: int) -> Cell:
        arrays = self._arrays
        score, pending = float(arrays.scores[problem, at]), int(arrays.pending[problem, at])
        if score == 0:
            judged = int(arrays.judged[problem, at])
            return Cell(decimal("0.0") if judged else "·", "zero" if judged else "none", 0, pending, is_best=False)
        share = score / (self._columns[problem].most or score)
        is_best = score == self._tops[problem] and self._holders[problem] == 1 and len(arrays.teams) > 1
        return Cell(points(score), f"h{heat(share)}", width(share), pending, is_best)


def _row_around_rank(line: Line, address: str) -> tuple[str, str, str]:
    """A row as HTML: what is before its rank, the rank, and what is after it."""
    html = pages.ENVIRONMENT.get_template("board_row.html").render(line=line, address=address)
    before, cell, after = html.partition('<td class="rk">')
    rank, end, rest = after.partition("</td>")
    return before + cell, rank, end + rest

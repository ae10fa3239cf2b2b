"""Rows of the board's page: numbers as cells with their classes, each row written once while it stays the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Literal

import numpy as np
from markupsafe import Markup

from app.domain.board_arrays import BoardArrays, moment
from app.web.heat import heat, width
from app.web.languages import decimal, language, speaking
from app.web.names import Column
from app.web.pages import ENVIRONMENT
from app.web.pieces import Piece, shared
from app.web.strips import own_units, strips
from app.web.wording import plain, points, seconds

Shows = Literal["points", "raw", "place"]
ROWS_KEPT = 16_384
ROWS_A_PIECE = 20
"""Of 100 rows zipped apart, pieces of 20 take 5 per cent more than one of 100, and the own one is zipped for each."""


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
    """One team's row."""

    rank: int
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
    """

    def __init__(
        self,
        arrays: BoardArrays,
        columns: Sequence[Column],
        groups: Mapping[str, str],
        shows: Shows = "points",
        address: str = "",
    ) -> None:
        self._arrays, self._columns, self._groups = arrays, columns, groups
        self._shows, self._address = shows, address
        self._tops = [float(scores.max()) if len(scores) else 0.0 for scores in arrays.scores]
        self._holders = [int(np.sum(s == top)) for s, top in zip(arrays.scores, self._tops, strict=True)]
        self._order: list[int] = arrays.order.tolist()
        self._places = {arrays.teams[at].id: place for place, at in enumerate(self._order)}
        self._written: list[Markup | None] = [None] * len(self._order)
        self._pieces: dict[int, Piece] = {}
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

    def pieces(self, places: Sequence[int], own: int | None) -> list[Piece]:
        """The rows of some places, and at the end that of the viewer's team (`own`) where it is not among them.

        Rows of neighbours are one piece, which all pages share but those of the teams in it.
        """
        parts = [list(some) for _, some in groupby(places, lambda place: place // ROWS_A_PIECE)]
        pieces = [self._piece(some, own) for some in parts]
        return pieces if own is None or own in places else [*pieces, Piece.of(self._row(own, is_own=True))]

    def _piece(self, places: list[int], own: int | None) -> Piece:
        """Rows of neighbours; those that stand at the same places on every page are written once."""
        if own in places:
            return Piece.of("".join(self._row(place, is_own=place == own) for place in places))
        first = places[0]
        is_usual = first % ROWS_A_PIECE == 0 and places == list(range(first, min(first + ROWS_A_PIECE, self.count)))
        piece = self._pieces.get(first) if is_usual else None
        if piece is None:
            piece = shared("".join(map(self._row, places)))
            if is_usual:
                self._pieces[first] = piece
        return piece

    def is_written(self, places: Sequence[int]) -> bool:
        """Whether the rows of some places have been written."""
        return all(self._written[place] is not None for place in places)

    def _row(self, place: int, *, is_own: bool = False) -> Markup:
        """A row as a table's, which is kept where it is not the viewer's own."""
        if is_own:
            return row_html(self.line(place, is_own=True), self._address, language())
        row = self._written[place]
        if row is None:
            row = self._written[place] = row_html(self.line(place), self._address, language())
        return row

    @cached_property
    def strips(self) -> Piece:
        """All teams' points at each problem, drawn once for all readers; the heads of columns refer to them."""
        return shared(ENVIRONMENT.get_template("board_strips.html").render(strips=strips(self._arrays)))

    def own_marks(self, own: int | None) -> Sequence[int | None]:
        """Where the viewer's team (at a place, if it is on the board) stands on each strip."""
        return [None] * len(self._columns) if own is None else own_units(self._arrays, self._order[own])

    def line(self, place: int, *, is_own: bool = False) -> Line:
        """The row of a place."""
        at = self._order[place]
        team = self._arrays.teams[at]
        gained = moment(int(self._arrays.times[at]))
        return Line(
            int(self._arrays.ranks[place]),
            team.id,
            team.name,
            ", ".join(self._groups[each] for each in team.group_ids if each in self._groups),
            is_own,
            points(float(self._arrays.totals[at])),
            tuple(self._cell(problem, at) for problem in range(len(self._columns))),
            "" if gained is None else seconds(gained),
        )

    def standing(self, place: int) -> dict[str, object]:
        """The standing of a place for a sentence: rank, points, and what is missing to the next and to the first."""
        totals = self._arrays.totals[self._arrays.order]
        mine = float(totals[place])
        above = totals[:place][totals[:place] > mine]
        gaps = [
            column.most - float(self._arrays.scores[n, self._order[place]]) for n, column in enumerate(self._columns)
        ]
        widest = max(range(len(gaps)), key=gaps.__getitem__) if gaps and max(gaps) > 0 else None
        return {
            "rank": int(self._arrays.ranks[place]),
            "points": points(mine),
            "behind": points(float(above[-1]) - mine) if len(above) else None,
            "behind_first": points(float(totals[0]) - mine) if len(set(above.tolist())) > 1 else None,
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
        text = points(score)
        if self._shows == "place":
            text = str(1 + int(np.sum(arrays.scores[problem] > score)))
        elif self._shows == "raw":
            text = plain(raw_sum(arrays, problem, at))
        return Cell(text, f"h{heat(share)}", width(share), pending, is_best)


def raw_sum(arrays: BoardArrays, problem: int, at: int) -> float | None:
    """The raw scores of a team's accepted answers for the cases that give points now, added up; None without any."""
    rule = arrays.problems[problem]
    kinds = rule.counting(arrays.phase)
    groups = {group.name for group in rule.groups if group.kind in kinds}
    answers = arrays.cell(at, problem).answers
    scores = [answers[case.name].score for case in rule.cases if case.group in groups and case.name in answers]
    raws = [score.raw for score in scores if score.accepted and score.raw is not None]
    return float(sum(raws)) if raws else None


@lru_cache(maxsize=ROWS_KEPT)
def row_html(line: Line, address: str, spoken: str) -> Markup:
    """A row as HTML; the rows that a new version of a board has in common with the last ones are not written again."""
    with speaking(spoken):
        return Markup(ENVIRONMENT.get_template("board_row.html").render(line=line, address=address))

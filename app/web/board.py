"""The scoreboard's page: the numbers of the API's board as rows of cells, a hundred teams a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode

import numpy as np
from fastapi import Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.domain.board_arrays import BoardArrays, moment
from app.domain.contests import Team
from app.grading.contest_snapshot import ContestSnapshot
from app.services.errors import BadRequest
from app.services.scoreboard.row_renderer import arrays_of
from app.services.viewer import Viewer
from app.storage import contests, directory, pins
from app.web.frames import frame
from app.web.heat import LIMITS, heat, width
from app.web.pages import page
from app.web.visitor import Reading, TheSnapshot, Visitor
from app.web.wording import points, seconds

PER_PAGE = 100
Shows = Literal["points", "place"]


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
    cells: Sequence[Cell]
    gained: str


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a problem's column."""

    id: str
    label: str
    name: str
    most: float


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to look at the board: its address and its name."""

    query: str
    text: str
    is_current: bool


def scoreboard(
    request: Request,
    viewer: Visitor,
    snapshot: TheSnapshot,
    session: Reading,
    cells: Shows = "points",
    group: Annotated[str | None, Query(max_length=36)] = None,
    find: Annotated[str, Query(max_length=100)] = "",
    start: Annotated[int, Query(ge=1, le=10**6)] = 1,
) -> HTMLResponse:
    """The board as the viewer may see it; `start` is the place of the first row of the page."""
    groups = groups_of(session, viewer, snapshot)
    if group is not None and group not in groups:
        raise BadRequest(f"group: expected the id of a group of this board, found {group!r}")
    arrays = arrays_of(snapshot, group)
    columns = columns_of(session, snapshot, arrays)
    board = BoardRows(arrays, columns, groups, viewer, cells)
    places = board.places(find)
    first = min(start, max(1, (len(places) - 1) // PER_PAGE * PER_PAGE + 1)) - 1
    own = board.place_of(viewer.team_id)
    return page(
        "scoreboard.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "scoreboard"),
        columns=columns,
        most=sum(column.most for column in columns),
        lines=[board.line(place) for place in places[first : first + PER_PAGE]],
        own=None if own is None or own in places[first : first + PER_PAGE] else board.line(own),
        standing=None if own is None else board.standing(own),
        shows=[Choice(_query(each, group, find), each.capitalize(), each == cells) for each in ("points", "place")],
        groups=[
            Choice(_query(cells, each, find), name, each == group)
            for each, name in ((None, "All groups"), *sorted(groups.items(), key=lambda pair: pair[1]))
        ],
        find=find,
        count=len(places),
        teams=len(arrays.teams),
        first=first + 1,
        last=min(first + PER_PAGE, len(places)),
        earlier=_query(cells, group, find, max(1, first + 1 - PER_PAGE)) if first else None,
        later=_query(cells, group, find, first + 1 + PER_PAGE) if first + PER_PAGE < len(places) else None,
        limits=LIMITS,
        waiting=int(np.sum(arrays.pending)),
        standing_at=seconds(snapshot.contest.clock.contest_time(snapshot.moment)),
        freeze_at=_freeze_time(snapshot),
    )


class BoardRows:
    """Makes rows of the numbers of a board."""

    def __init__(
        self, arrays: BoardArrays, columns: Sequence[Column], groups: dict[str, str], viewer: Viewer, shows: Shows
    ) -> None:
        self._arrays, self._columns, self._groups = arrays, columns, groups
        self._viewer, self._shows = viewer, shows
        self._tops = [float(scores.max()) if len(scores) else 0.0 for scores in arrays.scores]
        self._holders = [int(np.sum(s == top)) for s, top in zip(arrays.scores, self._tops, strict=True)]
        self._order: list[int] = arrays.order.tolist()

    def places(self, find: str) -> list[int]:
        """The places, from the top, of the teams whose names hold a text."""
        wanted = find.casefold().strip()
        teams = self._arrays.teams
        return [place for place, at in enumerate(self._order) if wanted in teams[at].name.casefold()]

    def place_of(self, team_id: str | None) -> int | None:
        """The place of a team, from the top; None where it is not on the board."""
        teams = self._arrays.teams
        return next((place for place, at in enumerate(self._order) if teams[at].id == team_id), None)

    def line(self, place: int) -> Line:
        """The row of a place."""
        at = self._order[place]
        team = self._arrays.teams[at]
        gained = moment(int(self._arrays.times[at]))
        return Line(
            int(self._arrays.ranks[place]),
            team.id,
            team.name,
            self._group_names(team),
            team.id == self._viewer.team_id,
            points(float(self._arrays.totals[at])),
            [self._cell(problem, at) for problem in range(len(self._columns))],
            "" if gained is None else seconds(gained),
        )

    def standing(self, place: int) -> dict[str, object]:
        """The viewer's standing for a sentence: rank, points, and what is missing to the next and to the first."""
        totals = [float(self._arrays.totals[at]) for at in self._order]
        mine = totals[place]
        above = [total for total in totals[:place] if total > mine]
        gaps = [
            column.most - float(self._arrays.scores[n, self._order[place]]) for n, column in enumerate(self._columns)
        ]
        widest = max(range(len(gaps)), key=gaps.__getitem__) if gaps and max(gaps) > 0 else None
        return {
            "rank": int(self._arrays.ranks[place]),
            "points": points(mine),
            "behind": points(above[-1] - mine) if above else None,
            "behind_first": points(totals[0] - mine) if len(set(above)) > 1 else None,
            "widest": None if widest is None else self._columns[widest],
        }

    def _cell(self, problem: int, at: int) -> Cell:
        arrays = self._arrays
        score, pending = float(arrays.scores[problem, at]), int(arrays.pending[problem, at])
        if score == 0:
            judged = int(arrays.judged[problem, at])
            return Cell("0.0" if judged else "·", "zero" if judged else "none", 0, pending, is_best=False)
        share = score / (self._columns[problem].most or score)
        is_best = score == self._tops[problem] and self._holders[problem] == 1 and len(arrays.teams) > 1
        text = points(score)
        if self._shows == "place":
            text = str(1 + int(np.sum(arrays.scores[problem] > score)))
        return Cell(text, f"h{heat(share)}", width(share), pending, is_best)

    def _group_names(self, team: Team) -> str:
        return ", ".join(self._groups[each] for each in team.group_ids if each in self._groups)


def columns_of(session: Session, snapshot: ContestSnapshot, arrays: BoardArrays) -> list[Column]:
    """The heads of a board's columns, in order."""
    labels = snapshot.contest.labels
    rows = {each.id: pins.row(session, snapshot.contest.id, each.id) for each in arrays.problems}
    names = {key: row.names for key, row in rows.items() if row is not None}
    return [
        Column(
            each.id,
            labels.get(each.id, each.id),
            names.get(each.id, {}).get("en") or next(iter(names.get(each.id, {each.id: each.id}).values())),
            float(each.rule.max_points),
        )
        for each in arrays.problems
    ]


def groups_of(session: Session, viewer: Viewer, snapshot: ContestSnapshot) -> dict[str, str]:
    """The names of the groups that have a team the viewer may know of."""
    row = contests.get(session, snapshot.contest.id)
    shown = set(_known_groups(viewer, snapshot))
    return {} if row is None else {each.id: each.name for each in directory.groups(session, row) if each.id in shown}


def _known_groups(viewer: Viewer, snapshot: ContestSnapshot) -> Iterator[str]:
    for team in snapshot.contest.teams:
        if not team.hidden or viewer.sees_all or team.id == viewer.team_id:
            yield from team.group_ids


def _freeze_time(snapshot: ContestSnapshot) -> str | None:
    time = snapshot.contest.clock.freeze_time
    return None if time is None else seconds(time)


def _query(cells: Shows | str, group: str | None, find: str, start: int = 1) -> str:
    values = {"cells": cells, "group": group, "find": find, "start": start}
    defaults = {"cells": "points", "group": None, "find": "", "start": 1}
    return urlencode({name: value for name, value in values.items() if value != defaults[name]})

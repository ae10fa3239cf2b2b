"""The scoreboard's page: the numbers of the API's board as rows of cells, a hundred teams a page.

The rows are written once a snapshot for all who may see it; the viewer's own row and the frame are added for each
request.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Annotated, NamedTuple, cast
from urllib.parse import parse_qsl, urlencode

from cachetools import LRUCache
from fastapi import Query, Request, Response
from markupsafe import Markup, escape

from app.accounts.service.viewer import Viewer
from app.core.errors import BadRequest
from app.core.load import SharedWork
from app.core.messages import N_
from app.core.pages.frames import Names, frame_of, groups_shown, names_soon
from app.core.pages.languages import _, language, speaking
from app.core.pages.pages import Piece, closed, html_of, page_of_pieces, reader_values
from app.core.pages.visitor import TheSnapshot, Visitor
from app.core.pages.wording import LIMITS, seconds
from app.core.service import Service
from app.scoreboard.pages.board_rows import BoardRows, Shows
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, once_a_snapshot
from app.scoreboard.service.bodies import last_minute
from app.scoreboard.service.pages import BoardPages, page_at_hand, shows_raw
from app.scoreboard.service.row_renderer import arrays_of

PER_PAGE = 100
PAGES_KEPT = 64
# Stand for parts that have pieces of their own in the rest of the page: texts of people have no `<` there.
READER, STANDING, STRIPS, ROWS = (Markup(f"<!-- {name} -->") for name in ("reader", "standing", "strips", "rows"))
PART = re.compile("(<!-- (?:reader|standing|strips|rows) -->)")


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to look at the board: its address and its name."""

    query: str
    text: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """The part of a board that is asked for; `start` is the place of the first row, from 1, `at` a minute or now."""

    cells: Shows = "points"
    group: str | None = None
    find: str = ""
    start: int = 1
    at: int | None = None

    def query(self, **changes: object) -> str:
        """The address of another part of the same board, without what is usual."""
        values = {"cells": self.cells, "group": self.group, "find": self.find, "at": self.at, **changes}
        usual = {"cells": "points", "group": None, "find": "", "at": None, "start": 1}
        return urlencode({name: value for name, value in values.items() if value != usual[name]})


async def scoreboard(
    request: Request,
    viewer: Visitor,
    snapshot: TheSnapshot,
    cells: Shows = "points",
    group: Annotated[str | None, Query(max_length=36)] = None,
    find: Annotated[str, Query(max_length=100)] = "",
    start: Annotated[int, Query(ge=1, le=10**6)] = 1,
    at: Annotated[int | None, Query(ge=0, le=10**6)] = None,
) -> Response:
    """The board as the viewer may see it, now or `at` a minute; `start` is the rank of the first row of the page.

    The rows are the same for all; the rest is the viewer's.
    """
    asked = Asked(cells, group, find, start, at)
    names = await names_soon(cast(Service, request.app.state.service), viewer, snapshot)
    groups = groups_shown(viewer, snapshot, names)
    if asked.group is not None and asked.group not in groups:
        raise BadRequest(
            N_("expected the id of a group of this board, found %(found)r"), where="group", found=asked.group
        )
    if asked.cells == "raw" and not shows_raw(snapshot):
        raise BadRequest(
            N_("expected points or place: this contest does not show the raw scores of other teams"), where="cells"
        )
    last = last_minute(snapshot)
    shown = snapshot
    if asked.at is not None:
        minute = min(asked.at, last)
        asked = replace(asked, at=minute)
        shown = await cast(BoardPages, request.app.state.pages).past_soon(snapshot, minute)
    part = await _part_soon(request, shown, names, asked)
    frame = _frame(request, viewer, snapshot, names, groups, asked, part, last)
    own = part.rows.place_of(viewer.team_id)
    pieces: list[Piece] = []
    for each in frame:
        if isinstance(each, Piece):
            pieces.append(each)
        elif each == READER:
            pieces.append(Piece.of(escape(closed(names.reader(viewer) or ""))))
        elif each == STANDING:
            pieces.append(part.rows.standing_piece(own))
        else:
            pieces += [part.rows.strips] if each == STRIPS else part.rows.pieces(part.shown, own)
    return page_of_pieces(request, pieces)


def _frame(
    request: Request,
    viewer: Viewer,
    snapshot: ContestSnapshot,
    names: Names,
    groups: Mapping[str, str],
    asked: Asked,
    part: Part,
    last: int,
) -> Sequence[Piece | str]:
    """The page without what is one reader's or all readers' of the rows: marks stand for these.

    Readers of a kind who ask within a second have it in common. The key holds all that the snapshot does not say.
    """
    frame = frame_of(names, viewer, snapshot, "scoreboard")
    frame = replace(frame, reader=None if frame.reader is None else READER)
    written, own = page_at_hand(snapshot), part.rows.place_of(viewer.team_id)
    version = None if written is None else written.version
    kind = viewer.logged_in, viewer.sees_all, viewer.judges_all or viewer.grants.any, own is None
    key = (frame, version, kind, tuple(groups.items()), asked, last, tuple(reader_values(request).items()))
    is_usual = not asked.find and asked.at is None
    made: Sequence[Piece | str] | None = _frames(snapshot).get(key) if is_usual else None
    if made is None:
        values = _values(viewer, snapshot, names, groups, asked, part)
        html = html_of("scoreboard.html", request, **values, frame=frame, version=version, last_minute=last)
        made = tuple(each if at % 2 else Piece.of(each) for at, each in enumerate(PART.split(html)))
        if is_usual:
            _frames(snapshot)[key] = made
    return made


@once_a_snapshot
def _frames(_snapshot: ContestSnapshot) -> LRUCache[Hashable, Sequence[Piece | str]]:
    """The last pages of a snapshot without what is each reader's own."""
    return LRUCache(PAGES_KEPT)


class Part(NamedTuple):
    """The rows of a page, which have been written: of a whole board, the places whose teams are looked for."""

    rows: BoardRows
    places: Sequence[int]
    first: int

    @property
    def shown(self) -> Sequence[int]:
        """The places on the page."""
        return self.places[self.first : self.first + PER_PAGE]


async def _part_soon(request: Request, snapshot: ContestSnapshot, names: Names, asked: Asked) -> Part:
    """The part of a board that is asked for; all who wait for the same one share one thread."""
    address = f"{request.scope.get('root_path', '')}/c/{snapshot.contest.id}"
    rows = _held(snapshot).get((asked.group, asked.cells, address, language()))
    if rows is not None and not asked.find:
        part = _part(rows, asked)
        if rows.is_written(part.shown):
            return part
    work = cast(SharedWork, request.app.state.page_work)
    key = (
        "board",
        id(snapshot),
        asked,
        address,
        language(),
    )  # the work holds the snapshot: its id stays its
    return await work.soon(key, partial(_write, snapshot, names, asked, address, language()))


def _write(snapshot: ContestSnapshot, names: Names, asked: Asked, address: str, spoken: str) -> Part:
    """Write the rows of a part."""
    held, key = _held(snapshot), (asked.group, asked.cells, address, spoken)
    if key not in held:
        held[key] = BoardRows(arrays_of(snapshot, asked.group), names.columns, names.groups, asked.cells, address)
    part = _part(held[key], asked)
    with speaking(spoken):
        part.rows.pieces(part.shown, None)
    return part


def _part(rows: BoardRows, asked: Asked) -> Part:
    places = rows.places(asked.find)
    last_page = max(1, (len(places) - 1) // PER_PAGE * PER_PAGE + 1)
    return Part(rows, places, min(asked.start, last_page) - 1)


@once_a_snapshot
def _held(_snapshot: ContestSnapshot) -> dict[tuple[str | None, Shows, str, str], BoardRows]:
    """The boards of a snapshot whose rows are written, by group, kind of cells, address and language."""
    return {}


def _values(
    viewer: Viewer, snapshot: ContestSnapshot, names: Names, groups: Mapping[str, str], asked: Asked, part: Part
) -> dict[str, object]:
    """The values of the page."""
    rows, first = part.rows, part.first
    own = rows.place_of(viewer.team_id)
    count, clock = len(part.places), snapshot.contest.clock
    everybody = sorted(groups.items(), key=lambda pair: pair[1])
    return {
        "viewer": viewer,
        "columns": names.columns,
        "most": sum(column.most for column in names.columns),
        "strips": STRIPS,
        "has_own": own is not None,
        "rows": ROWS if part.shown or own is not None else None,
        "standing": STANDING,
        "shows": [
            Choice(asked.query(cells=cells), text, asked.cells == cells)
            for cells, text in (("points", _("Points")), ("raw", _("Raw")), ("place", _("Place")))
            if cells != "raw" or shows_raw(snapshot)
        ],
        "shows_raw": asked.cells == "raw",
        "groups": [
            Choice(asked.query(group=each), name, each == asked.group)
            for each, name in ((None, _("All groups")), *everybody)
        ],
        "find": asked.find,
        "count": count,
        "teams": rows.count,
        "first": first + 1,
        "last": min(first + PER_PAGE, count),
        "earlier": asked.query(start=max(1, first + 1 - PER_PAGE)) if first else None,
        "later": asked.query(start=first + 1 + PER_PAGE) if first + PER_PAGE < count else None,
        "limits": LIMITS,
        "waiting": rows.waiting,
        "standing_at": seconds(clock.contest_time(snapshot.moment)),
        "freeze_at": None if clock.freeze_time is None else seconds(clock.freeze_time),
        "at": asked.at,
        "past": None if asked.at is None else seconds(timedelta(minutes=asked.at)),
        "to_now": asked.query(at=None),
        "kept": parse_qsl(asked.query(at=None, find="")),
        "whole": clock.duration.total_seconds(),
        "gone": min(clock.contest_time(snapshot.moment), clock.duration).total_seconds(),
    }

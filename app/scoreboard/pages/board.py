"""The scoreboard's page: the numbers of the API's board as rows of cells, a hundred teams a page.

- The page of a team: its rank, its points in each problem, and how they grew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, cast
from urllib.parse import parse_qsl, urlencode

from anyio.to_thread import run_sync
from fastapi import Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.accounts.service.viewer import Viewer
from app.core.messages import N_, BadRequest
from app.core.pages.frames import Names, frame_of, groups_shown, names_soon
from app.core.pages.languages import _
from app.core.pages.pages import page
from app.core.pages.visitor import TheSnapshot, Visitor
from app.core.pages.visits import ContestLook
from app.core.pages.wording import LIMITS, is_endless, points, seconds, shown_time
from app.core.service import Service
from app.domain.contests import PROVISIONAL
from app.domain.history import Past
from app.scoreboard.pages.board_rows import BoardRows
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, in_phase, once_a_snapshot
from app.scoreboard.service.history import WrittenHistory, history_steps
from app.scoreboard.service.pages import BoardPages, arrays_of, page_at_hand
from app.tables import OrganizationRow
from app.teams.service.teams import visible_team

PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to look at the board: its address and its name."""

    query: str
    text: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """The part of a board that is asked for; `start` is the place of the first row, from 1."""

    group: str | None = None
    find: str = ""
    start: int = 1

    def query(self, **changes: object) -> str:
        """The address of another part of the same board, without what is usual."""
        values = {"group": self.group, "find": self.find, **changes}
        usual = {"group": None, "find": "", "start": 1}
        return urlencode({name: value for name, value in values.items() if value != usual[name]})


async def scoreboard(
    request: Request,
    viewer: Visitor,
    snapshot: TheSnapshot,
    group: Annotated[str | None, Query(max_length=36)] = None,
    find: Annotated[str, Query(max_length=100)] = "",
    start: Annotated[int, Query(ge=1, le=10**6)] = 1,
) -> Response:
    """The board as the viewer may see it; `start` is the rank of the first row of the page.

    The rows are the same for all; the rest is the viewer's.
    """
    asked = Asked(group, find, start)
    names = await names_soon(cast(Service, request.app.state.service), viewer, snapshot)
    groups = groups_shown(viewer, snapshot, names)
    if asked.group is not None and asked.group not in groups:
        raise BadRequest(
            N_("expected the id of a group of this board, found %(found)r"), where="group", found=asked.group
        )
    # In a thread: a page whose rows are all new takes 15 ms.
    return await run_sync(_page, request, viewer, snapshot, names, groups, asked)


def _page(
    request: Request,
    viewer: Viewer,
    snapshot: ContestSnapshot,
    names: Names,
    groups: Mapping[str, str],
    asked: Asked,
) -> Response:
    """Write the page of a part of the board."""
    address = f"{request.scope.get('root_path', '')}/c/{snapshot.contest.id}"
    key, held = (asked.group, address), _held(snapshot)
    if (rows := held.get(key)) is None:
        arrays = arrays_of(snapshot, asked.group)
        before = arrays_of(in_phase(snapshot, PROVISIONAL), asked.group)
        rows = held[key] = BoardRows(arrays, names.columns, names.groups, snapshot.contest.clock, address, before)
    written = page_at_hand(snapshot)
    return page(
        "scoreboard.html",
        request,
        200,
        **_values(viewer, snapshot, names, groups, asked, rows),
        frame=frame_of(names, viewer, snapshot, "scoreboard"),
        version=None if written is None else written.version,
    )


@once_a_snapshot
def _held(_snapshot: ContestSnapshot) -> dict[tuple[str | None, str], BoardRows]:
    """The boards of a snapshot whose rows were asked for, by group and address (guarantee 6)."""
    return {}


def _values(
    viewer: Viewer, snapshot: ContestSnapshot, names: Names, groups: Mapping[str, str], asked: Asked, rows: BoardRows
) -> dict[str, object]:
    """The values of the page."""
    own, places, clock = rows.place_of(viewer.team_id), rows.places(asked.find), snapshot.contest.clock
    count = len(places)
    first = min(asked.start, max(1, (count - 1) // PER_PAGE * PER_PAGE + 1)) - 1
    shown = places[first : first + PER_PAGE]
    everybody = sorted(groups.items(), key=lambda pair: pair[1])
    return {
        "viewer": viewer,
        "columns": names.columns,
        "most": sum(column.most for column in names.columns),
        "strips": rows.strips,
        "has_own": own is not None,
        "rows": rows.html(shown, own),
        "standing": None if own is None else rows.standing(own),
        "marks": () if own is None else rows.own_units(own),
        "address": rows.address,
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
        "stage": snapshot.contest.finals.used and ("provisional" if snapshot.phase == PROVISIONAL else "final"),
        "standing_at": shown_time(clock, clock.contest_time(snapshot.moment)),
        "freeze_at": None if clock.freeze_time is None else seconds(clock.freeze_time),
        "kept": parse_qsl(asked.query(find="")),
        "whole": clock.duration.total_seconds(),
        "gone": min(clock.contest_time(snapshot.moment), clock.duration).total_seconds(),
    }


STEPS = 50
# Units of the drawing of points over time.
WIDTH, HEIGHT = 600, 120


async def _history(request: Request, snapshot: TheSnapshot) -> WrittenHistory:
    pages = cast(BoardPages, request.app.state.pages)
    return await pages.history_soon(snapshot, history_steps(snapshot, STEPS))


def team_page(visit: ContestLook, history: Annotated[WrittenHistory, Depends(_history)], team_id: str) -> HTMLResponse:
    """A team as its row on the board, larger, with its points over time as a drawing and a table."""
    team = visible_team(visit.session, visit.viewer, visit.snapshot.contest.id, team_id)
    arrays = visit.snapshot.main
    names = visit.names
    columns, clock = names.columns, visit.snapshot.contest.clock
    rows = BoardRows(arrays, names.columns, names.groups, clock)
    place = rows.place_of(team_id)
    organization = visit.session.get(OrganizationRow, team.organization_id) if team.organization_id else None
    past = history.teams.get(team_id, [])
    most = sum(column.most for column in columns)
    return visit.framed(
        "team.html",
        "scoreboard",
        name=team.display_name or team.name,
        organization=None if organization is None else organization.name,
        line=None if place is None else rows.line(place),
        columns=columns,
        teams=len(arrays.teams),
        most=most,
        past=[(shown_time(clock, each.time), points(each.points), each.rank) for each in past],
        path=_path(past, most, clock.contest_time(visit.snapshot.moment) if is_endless(clock) else clock.duration),
        width=WIDTH,
        height=HEIGHT,
    )


def _path(past: Sequence[Past], most: float, whole: timedelta) -> str:
    """The steps of the points as the path of a drawing: steps, since points stand between two changes."""
    if not most or not whole:
        return ""
    parts, at = [f"M0 {HEIGHT}"], 0.0
    for each in past:
        x = min(1.0, max(0.0, each.time / whole)) * WIDTH
        parts.append(f"H{x:.0f}V{HEIGHT - each.points / most * (HEIGHT - 4):.0f}")
        at = x
    return "".join(parts) if at else ""

"""The scoreboard's page: the numbers of the API's board as rows of cells, a hundred teams a page.

- The page of a team: its rank, its points in each problem, and how they grew.
"""

import gzip
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Annotated, Literal, NamedTuple, cast
from urllib.parse import parse_qsl, urlencode

from anyio.to_thread import run_sync
from fastapi import Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.accounts.service.viewer import Viewer
from app.contests.queries import NoContest
from app.contests.service.visibility import seen_by
from app.core.http.deps import VIEWER
from app.core.http.written import written
from app.core.messages import N_, BadRequest
from app.core.pages.forms import language_of
from app.core.pages.frames import Names, frame_of, groups_shown, names_soon
from app.core.pages.languages import _, speaking
from app.core.pages.pages import ENVIRONMENT, page
from app.core.pages.visitor import TheSnapshot, Visitor
from app.core.pages.visits import ContestLook
from app.core.pages.wording import LIMITS, is_endless, points, seconds, shown_time
from app.core.service import Service
from app.domain.contests import PROVISIONAL
from app.domain.history import Past
from app.scoreboard.pages.board_rows import BoardRows
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, in_phase, once_a_snapshot
from app.scoreboard.service.history import WrittenHistory, history_steps
from app.scoreboard.service.pages import GZIP_LEVEL, BoardPages, arrays_of
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


Group = Annotated[str | None, Query(max_length=36)]
Find = Annotated[str, Query(max_length=100)]
Start = Annotated[int, Query(ge=1, le=10**6)]


async def scoreboard(
    request: Request, viewer: Visitor, snapshot: TheSnapshot, group: Group = None, find: Find = "", start: Start = 1
) -> Response:
    """The board as the viewer may see it; `start` is the rank of the first row of the page.

    The rows are the same for all; the rest is the viewer's.
    """
    asked, (names, groups) = Asked(group, find, start), await _names(request, viewer, snapshot, group)
    # In a thread: a page whose rows are all new takes 15 ms.
    return await run_sync(_page, request, viewer, snapshot, names, groups, asked)


async def _names(
    request: Request, viewer: Viewer, snapshot: ContestSnapshot, group: str | None
) -> tuple[Names, Mapping[str, str]]:
    """The names on a board and its groups; raises BadRequest for an unknown group."""
    names = await names_soon(cast(Service, request.app.state.service), viewer, snapshot)
    groups = groups_shown(viewer, snapshot, names)
    if group is not None and group not in groups:
        raise BadRequest(N_("expected the id of a group of this board, found %(found)r"), where="group", found=group)
    return names, groups


class Part(NamedTuple):
    """The status and the table of a page of the board as HTML, plain and compressed; `tag` is the ETag."""

    tag: bytes
    html: bytes
    zipped: bytes


@dataclass(frozen=True, slots=True)
class _Written:
    """What was written of a snapshot: rows by group and address; parts by what was asked for, language and prefix."""

    rows: dict[tuple[str | None, str], BoardRows] = field(default_factory=dict)
    parts: dict[tuple[Asked, str, str], Part] = field(default_factory=dict)


@once_a_snapshot
def _written(_snapshot: ContestSnapshot) -> _Written:
    """What was written of a snapshot already: a thousand open pages share it (guarantee 6)."""
    return _Written()


async def live(
    request: Request,
    viewer: Visitor,
    group: Group = None,
    find: Find = "",
    start: Start = 1,
    lang: Literal["en", "es", "sk", "ru", "ja"] = "en",
) -> Response:
    """The part of the page that is the same for all readers, at most a second old; open pages poll it."""
    return await _live(request, viewer, Asked(group, find, start), lang)


# The queries that `usual_live` knows.
USUAL_LIVE = re.compile(rb"(?:start=([1-9]\d{0,4})&)?lang=(en|es|sk|ru|ja)")


async def usual_live(request: Request) -> Response:
    """As `live`, for `app.core.http.deps.Direct`: 1,000 open pages ask 400 times a second (guarantee 6)."""
    query = USUAL_LIVE.fullmatch(request.scope["query_string"])
    assert query is not None, "Direct has matched it"
    return await _live(request, request.scope[VIEWER], Asked(start=int(query[1] or 1)), query[2].decode())


async def _live(request: Request, viewer: Viewer, asked: Asked, language: str) -> Response:
    pages, contest_id = cast(BoardPages, request.app.state.pages), request.path_params["contest_id"]
    snapshot = await pages.boards.recent(contest_id, public=not viewer.sees_all)
    if snapshot is None:
        raise NoContest(contest_id)
    snapshot = seen_by(viewer, snapshot)
    parts, key = _written(snapshot).parts, (asked, language, request.scope.get("root_path", ""))
    if (part := parts.get(key)) is None:
        names, _groups = await _names(request, viewer, snapshot, asked.group)
        write = partial(_part, snapshot, names, *key)
        part = await pages.work.soon(("part", id(snapshot), key), write, partial(parts.get, key))
        if not asked.find:  # of texts there is no end
            parts[key] = part
    return written(request, b"text/html; charset=utf-8", part.tag, part.html, part.zipped)


def _part(snapshot: ContestSnapshot, names: Names, asked: Asked, language: str, root: str) -> Part:
    """Write a part."""
    with speaking(language):
        values = _shared(snapshot, names, asked, _rows(snapshot, names, asked.group, f"{root}/c/{snapshot.contest.id}"))
        html = ENVIRONMENT.get_template("board_part.html").render(values).encode()
    tag = hashlib.blake2b(html, digest_size=12).hexdigest()
    return Part(f'"{tag}"'.encode(), html, gzip.compress(html, GZIP_LEVEL, mtime=0))


def _rows(snapshot: ContestSnapshot, names: Names, group: str | None, address: str) -> BoardRows:
    key, held = (group, address), _written(snapshot).rows
    if (rows := held.get(key)) is None:
        arrays = arrays_of(snapshot, group)
        before = arrays_of(in_phase(snapshot, PROVISIONAL), group)
        rows = held[key] = BoardRows(arrays, names.columns, names.groups, snapshot.contest.clock, address, before)
    return rows


def _page(
    request: Request,
    viewer: Viewer,
    snapshot: ContestSnapshot,
    names: Names,
    groups: Mapping[str, str],
    asked: Asked,
) -> Response:
    """Write the page of a part of the board."""
    rows = _rows(snapshot, names, asked.group, f"{request.scope.get('root_path', '')}/c/{snapshot.contest.id}")
    own, clock, language = rows.place_of(viewer.team_id), snapshot.contest.clock, language_of(request)
    gone = min(clock.contest_time(snapshot.moment), clock.duration).total_seconds()
    choices = ((None, _("All groups")), *sorted(groups.items(), key=lambda pair: pair[1]))
    return page(
        "scoreboard.html",
        request,
        200,
        **_shared(snapshot, names, asked, rows, viewer.team_id),
        frame=frame_of(names, viewer, snapshot, "scoreboard"),
        viewer=viewer,
        live=f"{query}&lang={language}" if (query := asked.query()) else f"lang={language}",
        standing=None if own is None else rows.standing(own),
        marks=() if own is None else rows.own_units(own),
        groups=[Choice(asked.query(group=each), name, each == asked.group) for each, name in choices],
        waiting=rows.waiting,
        kept=parse_qsl(asked.query(find="")),
        whole=clock.duration.total_seconds(),
        gone=gone,
    )


def _shared(
    snapshot: ContestSnapshot, names: Names, asked: Asked, rows: BoardRows, team_id: str | None = None
) -> dict[str, object]:
    """The values of the page that are the same for all readers but for the row of a team, which is theirs."""
    own = rows.place_of(team_id)
    places, clock = rows.places(asked.find), snapshot.contest.clock
    count = len(places)
    first = min(asked.start, max(1, (count - 1) // PER_PAGE * PER_PAGE + 1)) - 1
    is_frozen = snapshot.public and snapshot.state.frozen is not None and snapshot.state.thawed is None
    return {
        "columns": names.columns,
        "most": sum(column.most for column in names.columns),
        "strips": rows.strips,
        "rows": rows.html(places[first : first + PER_PAGE], own),
        "own": None if own is None else team_id,
        "address": rows.address,
        "find": asked.find,
        "count": count,
        "teams": rows.count,
        "first": first + 1,
        "last": min(first + PER_PAGE, count),
        "earlier": asked.query(start=max(1, first + 1 - PER_PAGE)) if first else None,
        "later": asked.query(start=first + 1 + PER_PAGE) if first + PER_PAGE < count else None,
        "limits": LIMITS,
        "stage": snapshot.stage,
        "is_frozen": is_frozen,
        "state": f"{snapshot.stage} {is_frozen}",
        "standing_at": shown_time(clock, clock.contest_time(snapshot.moment)),
        "freeze_at": None if clock.freeze_time is None else seconds(clock.freeze_time),
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

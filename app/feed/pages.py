"""Notifications on pages: announcements, answers and verdicts, as a list and on pages that are open.

An open page fetches its header again when the stream says that it has changed, and every 15 seconds. A stream costs a
comparison a second at most (guarantee 6).
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import snapshot_for
from app.core.http.deps import address_of
from app.core.messages import N_, Unauthorized
from app.core.pages.frames import Names, addressed_to, counts, frame_of, judged, names_soon
from app.core.pages.languages import _, gettext, speaking
from app.core.pages.pages import PRIVATE, READ_COUNT, page, reader_values
from app.core.pages.visitor import TheService, TheSnapshot, Visitor
from app.core.pages.visits import ContestLook
from app.core.pages.wording import points
from app.core.service import Service
from app.feed.routes import EVENTS, StreamResponse, TheHub
from app.feed.service.hub import Client, Hub
from app.feed.service.streams import KEEP_ALIVE, server_sent
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.pages.answers import WAITING, listed
from app.submissions.queries import submission_queries

MOST_LISTED = 200
MOST_SHOWN = 3  # notifications that one change brings to an open page
SECONDS_BETWEEN_LOOKS = 1.0
LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """A notification; `href` is below the pages of its contest."""

    time: datetime
    title: str
    text: str
    href: str
    is_unread: bool


def messages(viewer: Viewer, snapshot: ContestSnapshot, names: Names, read: int) -> list[Entry]:
    """The messages that notify the viewer; unread are those after the first `read`."""
    teams, labels, entries = {team.id: team.name for team in snapshot.contest.teams}, snapshot.contest.labels, []
    for at, row in enumerate(addressed_to(viewer, snapshot, names.messages)):
        title = _("Announcement") if row.reply_to_id is None else _("Answer from the jury")
        if row.from_team_id is not None:
            title = _("Question from %(team)s", team=teams.get(row.from_team_id, row.from_team_id))
        if row.problem_id is not None:
            title = f"{labels.get(row.problem_id, row.problem_id)}: {title}"
        entries.append(Entry(row.time, title, row.text, f"questions#m{row.id}", at >= read))
    return entries


def verdicts(session: Session, viewer: Viewer, snapshot: ContestSnapshot, read: int, most: int) -> list[Entry]:
    """The last verdicts of the viewer's team, as far as it may know them; unread are those after the first `read`."""
    known = sorted((attempt.latest or LONG_AGO, attempt.id) for attempt in judged(viewer, snapshot))
    last = {number: (time, at >= read) for at, (time, number) in list(enumerate(known))[-most:]}
    entries = []
    for each in listed(viewer, snapshot, session, submission_queries.submissions(session, snapshot.contest.id, last)):
        if (each.mark, each.verdict) == WAITING:
            continue
        (time, is_unread), shown_id = last[each.row.id], each.row.shown_id
        text = _("Submission %(id)s", id=shown_id)
        if each.score is not None:
            text = _("Submission %(id)s: %(points)s points", id=shown_id, points=points(each.score))
        title = f"{each.label}: {gettext(each.verdict)}"
        entries.append(Entry(time, title, text, f"submissions/{shown_id}", is_unread))
    return entries


def notifications_page(visit: ContestLook) -> HTMLResponse:
    """All notifications of the reader, newest first; they count as read from then on."""
    if not visit.viewer.logged_in:
        raise Unauthorized(N_("log in to see your notifications"))
    seen = counts(reader_values(visit.request)["read"])
    entries = messages(visit.viewer, visit.snapshot, visit.names, seen[0])
    entries += verdicts(visit.session, visit.viewer, visit.snapshot, seen[1], MOST_LISTED)
    entries.sort(key=lambda entry: entry.time, reverse=True)
    return visit.framed_read(
        "notifications.html", "notifications", reads_messages=True, reads_verdicts=True, entries=entries
    )


async def live_header(
    request: Request,
    service: TheService,
    viewer: Visitor,
    snapshot: TheSnapshot,
    seen: Annotated[str, Query(pattern=READ_COUNT.pattern)] = "",
) -> Response:
    """The header's moving parts as HTML, if they differ from those that the page has.

    With the notifications beyond the numbers that the page has `seen`, as the header before gave them.
    """
    names = await names_soon(service, viewer, snapshot)
    frame, reader = frame_of(names, viewer, snapshot, ""), reader_values(request)
    etag = f'"{frame.version}-{frame.unread(reader["read"])}-{reader["spoken"]}-{reader["zone"]}"'
    headers = {**PRIVATE, "ETag": etag}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    seen_messages, seen_verdicts = counts(seen or frame.counted())

    def read() -> list[Entry]:
        with service.database.read(for_request=True) as session:
            return verdicts(session, viewer, snapshot, seen_verdicts, MOST_SHOWN)

    with speaking(reader["spoken"]):
        entries = messages(viewer, snapshot, names, seen_messages)
        if frame.verdicts > seen_verdicts:
            entries += await run_sync(read)
    fresh = sorted((entry for entry in entries if entry.is_unread), key=lambda entry: entry.time, reverse=True)
    shown = page("header.html", request, frame=frame, fresh=fresh[:MOST_SHOWN])
    shown.headers.update(headers)
    return shown


async def stream_header(
    request: Request, service: TheService, viewer: Visitor, snapshot: TheSnapshot, hub: TheHub
) -> Response:
    """Events `header` whose data are the version of the contest's header: at first, and whenever it has changed."""
    client = Client(viewer, address_of(request), snapshot.contest.id)
    return StreamResponse(client, _versions(service, hub, client, snapshot), EVENTS, hub.place(client))


async def _versions(
    service: Service, hub: Hub, client: Client, snapshot: ContestSnapshot | None
) -> AsyncIterator[bytes]:
    viewer, contest_id = client.viewer, client.contest_id or ""
    looked, known, loop = None, "", asyncio.get_running_loop()
    with hub.watching(contest_id, client):
        while not client.gone and snapshot is not None:
            next_look = loop.time() + SECONDS_BETWEEN_LOOKS
            if looked is None or not _is_like(viewer, snapshot, looked):
                version = frame_of(await names_soon(service, viewer, snapshot), viewer, snapshot, "").version
                if version != known:
                    yield server_sent("header", version.encode())
                looked, known = snapshot, version
            if not await client.sleep(hub.seconds):
                yield KEEP_ALIVE
            await asyncio.sleep(next_look - loop.time())
            snapshot = await snapshot_for(service.boards, viewer, contest_id)


def _is_like(viewer: Viewer, snapshot: ContestSnapshot, other: ContestSnapshot) -> bool:
    """Whether the header is surely as at another snapshot: verdicts of other teams do not change it."""
    same = snapshot.contest is other.contest and snapshot.state == other.state
    return same and len(judged(viewer, snapshot)) == len(judged(viewer, other))

"""The page at `/`: which contests there are, and the ways into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import NamedTuple, cast

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.contests.queries import contests as stored
from app.core.clock import utc_now
from app.core.messages import N_
from app.core.pages.pages import page
from app.core.pages.visitor import Visitor
from app.core.pages.wording import is_endless
from app.core.service import Service
from app.domain.contests import Clock
from app.problems.queries.scoring_input import clock
from app.tables import ContestRow


class Link(NamedTuple):
    """A link of the index: its address and its text."""

    href: str
    text: str


class Span(NamedTuple):
    """When a contest begins, ends or was paused: a message with places for times, which pages write in a zone."""

    message: str
    start: datetime | None
    end: datetime | None
    length: timedelta
    paused: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A contest as the index shows it, to everybody."""

    id: str
    name: str
    state: str
    span: Span
    links: Sequence[Link]


def index(request: Request, viewer: Visitor) -> HTMLResponse:
    """The contests there are, as anybody may see them."""
    service = cast(Service, request.app.state.service)
    now = utc_now()
    with service.database.read() as session:
        contests = [listed(row, now) for row in stored.contests(session)]
    return page(
        "index.html", request, viewer=viewer, contests=contests, version=version("jurado"), address=address_of(request)
    )


def address_of(request: Request) -> str:
    """The address the service was asked at, with its path prefix, without a slash at the end."""
    return f"{request.url.scheme}://{request.url.netloc}{request.scope.get('root_path', '')}"


def listed(row: ContestRow, now: datetime) -> Listed:
    """The line of a contest in the index."""
    times = clock(row)
    links = [Link(f"c/{row.id}", N_("contest"))]
    if times.started(now):
        links += [Link(f"c/{row.id}/problems", N_("problems")), Link(f"c/{row.id}/scoreboard", N_("scoreboard"))]
        links += [Link(f"api/contests/{row.id}/scoreboard.csv", N_("scoreboard as CSV"))]
    return Listed(row.id, row.formal_name or row.name, state(row, times, now), span(times, now), links)


def state(row: ContestRow, times: Clock, now: datetime) -> str:
    """The state of a contest in one word, which is a message."""
    if row.finalized is not None and row.finalized <= now:
        return N_("final")
    if not times.started(now):
        return N_("scheduled")
    if times.ended(now):
        return N_("ended")
    if times.paused(now):
        return N_("paused")
    return N_("frozen") if times.frozen(now) else N_("running")


def span(times: Clock, now: datetime) -> Span:
    """When a contest begins or ends, as far as that is set and worth showing."""
    paused = times.pauses[-1].start if times.paused(now) else None
    return Span(_message(times, now), times.start, times.end, times.duration, paused)


def _message(times: Clock, now: datetime) -> str:
    if times.start is None:
        return N_("no start is set")
    if not times.started(now):
        return N_("from %(start)s, without an end") if is_endless(times) else N_("from %(start)s for %(length)s")
    if times.paused(now):
        return N_("paused since %(paused)s")
    if is_endless(times):
        return N_("always open")
    return N_("ended %(end)s") if times.ended(now) else N_("until %(end)s")

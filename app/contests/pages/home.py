"""The organiser's home: what one may run, and for a contest what comes next, its checklist and its time line.

- The points of a contest's checklist as sentences, in the reader's language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.accounts.service.viewer import Viewer
from app.authoring.service import packages
from app.contests import queries as contests_queries
from app.contests.queries import clock
from app.contests.service.checklist import Mark, Part, Point, checklist, is_ready
from app.core.clock import utc_now
from app.core.messages import N_
from app.core.pages.frames import frame
from app.core.pages.languages import _, ngettext
from app.core.pages.pages import DONE, Done, page, type_word
from app.core.pages.visitor import Reading, Span, TheService, TheSnapshot, Visitor, span, state
from app.core.pages.wording import contest_rules, is_endless, seconds
from app.domain.contests import Clock
from app.messages.service import clarifications
from app.tables import ContestRow

SENTENCES = {
    "no-start": N_("No start is set."),
    "started": N_("Started %(time)s UTC."),
    "starts": N_("Starts %(time)s UTC."),
    "no-freeze": N_("The board does not freeze: everybody sees every result at once."),
    "freeze": N_("The board freezes %(time)s before the end."),
    "no-problems": N_("No problem is in the contest."),
    "no-answers": N_("%(label)s: without an expected answer %(names)s: nobody can answer these."),
    "no-statement": N_("%(label)s has no statement."),
    "verifying": N_("%(label)s is still being verified."),
    "verified-nothing": N_("%(label)s: its verification found no result: it is %(state)s."),
    "no-teams": N_("No team takes part."),
    "registration": N_("People may register by themselves with the contest's code."),
    "no-logins": N_("Without an account that can log in: %(names)s."),
    "no-graders": N_("No grader is able to judge."),
}


def sentence(point: Point) -> str:
    """The sentence of a point."""
    values = dict(point.values)
    if "names" in values:
        values["names"] = _names(values)
    if "state" in values:
        values["state"] = type_word(str(values["state"]))
    if point.key in SENTENCES:
        return _(SENTENCES[point.key], **values)
    return _counted(point.key, int(values.pop("num")), values)


def _counted(key: str, count: int, values: Mapping[str, object]) -> str:
    match key:
        case "problems":
            return ngettext("%(num)s problem is in the contest.", "%(num)s problems are in the contest.", count)
        case "verified-errors":
            return ngettext(
                "%(label)s: its verification found %(num)s error.",
                "%(label)s: its verification found %(num)s errors.",
                count,
                **values,
            )
        case "teams":
            return ngettext("%(num)s team takes part.", "%(num)s teams take part.", count)
        case "all-teams":
            return ngettext(
                "%(num)s team takes part, as every team of the server does.",
                "%(num)s teams take part, as every team of the server does.",
                count,
            )
        case "graders":
            return ngettext("%(num)s grader is ready to judge.", "%(num)s graders are ready to judge.", count)
    raise KeyError(key)


def _names(values: Mapping[str, str | int]) -> str:
    names, more = str(values["names"]), int(values["more"])
    return _("%(names)s and %(more)s more", names=names, more=more) if more else names


PLACES = {Part.TIMES: "times", Part.PROBLEMS: "problems", Part.TEAMS: "teams", Part.SERVER: ""}
# The steps of setting a contest up: the page of each below the contest's own, and its name.
STEPS = (
    ("times", N_("Kind and times")),
    ("problems", N_("Problems")),
    ("teams", N_("Teams")),
    ("rules", N_("Rules")),
    ("", N_("Start")),
)


@dataclass(frozen=True, slots=True)
class Run:
    """A contest that the viewer organises or judges."""

    id: str
    name: str
    state: str
    span: Span
    role: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment on the time line: its name, its time in the contest, when it is, its place in per cent."""

    name: str
    contest_time: str
    at: datetime
    place: int
    is_past: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A step of setting a contest up: its address, its name, and whether its part of the checklist is settled."""

    page: str
    name: str
    is_here: bool
    is_done: bool


def organiser_home(request: Request, viewer: Visitor, session: Reading) -> HTMLResponse:
    """The contests and problems at which the viewer has a role, and what concerns the whole server."""
    now = utc_now()
    runs = [_run(row, viewer, now) for row in contests_queries.contests(session) if viewer.at(row.id).sees_all]
    return page(
        "organiser/home.html",
        request,
        viewer=viewer,
        runs=runs,
        problems=len(packages.listed(session, viewer)),
        may_make=viewer.is_admin or viewer.grants.organiser,
    )


def contest_home(
    request: Request, service: TheService, viewer: Visitor, snapshot: TheSnapshot, session: Reading, done: Done = ""
) -> HTMLResponse:
    """A contest as its organisers look at it first: what comes next, whether it is ready, what waits for them."""
    contest, now = snapshot.contest, utc_now()
    points = checklist(session, service, contest.id)
    messages = clarifications.documents(viewer, snapshot, session)
    row = contests_queries.get(session, contest.id)
    assert row is not None, "a snapshot has its contest"
    return page(
        "organiser/contest.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, ""),
        done=DONE.get(done),
        steps=_steps(points, "") if viewer.manages else [],
        state=state(row, contest.clock, now),
        span=span(contest.clock, now),
        clock=contest.clock,
        now=now,
        points=[(point, PLACES[point.part], sentence(point)) for point in points],
        is_ready=is_ready(points),
        moments=list(_moments(contest.clock, now)),
        gone=_place(contest.clock, now),
        rules=contest_rules(contest.clock, contest.settings),
        is_over=snapshot.state.ended is not None,
        is_final=snapshot.state.finalized is not None,
        is_frozen=contest.clock.freeze is not None and not contest.clock.thawed(now),
        unanswered=len(unanswered(messages)),
        waiting=contests_queries.unjudged(session, row),
        submissions=contests_queries.submission_count(session, contest.id),
    )


def steps(session: Reading, service: TheService, contest_id: str, here: str) -> list[Step]:
    """The steps of setting a contest up, with those that are settled."""
    return _steps(checklist(session, service, contest_id), here)


def _steps(points: Sequence[Point], here: str) -> list[Step]:
    open_parts = {PLACES[point.part] for point in points if point.mark is Mark.OPEN}
    return [Step(place, name, place == here, _settled(place, open_parts)) for place, name in STEPS]


def _settled(place: str, open_parts: set[str]) -> bool:
    return not open_parts if place == "" else place not in open_parts


def unanswered(messages: Sequence[clarifications.ClarificationView]) -> list[str]:
    """The ids of teams' questions that have no answer."""
    answered = {message.reply_to_id for message in messages}
    return [each.id for each in messages if each.from_team_id is not None and each.id not in answered]


def _run(row: ContestRow, viewer: Viewer, now: datetime) -> Run:
    times = clock(row)
    role = "admin" if viewer.is_admin else viewer.at(row.id).role
    return Run(row.id, row.formal_name or row.name, state(row, times, now), span(times, now), role)


def _moments(times: Clock, now: datetime) -> Iterator[Moment]:
    """The moments of a contest in order, as far as they are set."""
    known: list[tuple[str, datetime | None]] = [
        (_("start"), times.start),
        (_("freeze"), times.freeze),
        (_("end"), None if is_endless(times) else times.end),
        (_("thaw"), times.thaw),
    ]
    for name, moment in known:
        if moment is not None:
            in_contest = times.contest_time(moment)
            yield Moment(name, seconds(in_contest), moment, _place(times, moment), moment <= now)


def _place(times: Clock, moment: datetime) -> int:
    """The place of a moment between start and end, in per cent."""
    if times.start is None or not times.duration:
        return 0
    passed = min(max(times.contest_time(moment), timedelta(0)), times.duration)
    return round(100 * passed / times.duration)

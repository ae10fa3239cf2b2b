"""The organizer's home: the contests that one may run, and for a contest its next step and its checklist.

- The checklist of a contest: what is set, what is missing, and what an organizer should check.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain

from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.service.viewer import Viewer
from app.authoring.service import packages
from app.contests import queries as contests_queries
from app.contests.queries import clock, contest_of
from app.core.clock import utc_now
from app.core.pages import forms
from app.core.pages.languages import LANGUAGES, _, ngettext
from app.core.pages.visitor import listed, span, state
from app.core.pages.visits import ContestLook, Look
from app.core.pages.wording import contest_rules, is_endless
from app.domain.contests import CaseKind, Clock
from app.messages.service import clarifications
from app.problems.queries import pins
from app.tables import ContestProblemRow, ContestRow, JobRow
from app.teams import queries as teams_queries

# Names that a sentence lists.
MOST_NAMES = 5


class Mark(StrEnum):
    """Whether a point is done, missing, or should be checked."""

    DONE = "done"
    OPEN = "open"
    LOOK = "look"


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the checklist: its mark, its sentence, and the page that fixes it, below the contest's own.

    A page that starts with a slash is outside of the contest; None: there is no page for the viewer.
    """

    mark: Mark
    page: str | None
    text: str


class Next(StrEnum):
    """The next step of running a contest."""

    SET_UP = "set_up"
    CHECK = "check"
    START = "start"
    WATCH = "watch"
    RESUME = "resume"
    CEREMONY = "ceremony"
    FINALIZE = "finalize"
    SHARE = "share"


def next_step(state: str, marks: Collection[Mark], *, is_frozen: bool) -> Next:
    """Return the next step from the state (as `visitor.state` names it) and the checklist of a contest."""
    if state == "scheduled":
        return Next.SET_UP if Mark.OPEN in marks else Next.CHECK if Mark.LOOK in marks else Next.START
    if state == "ended":
        return Next.CEREMONY if is_frozen else Next.FINALIZE
    return {"paused": Next.RESUME, "final": Next.SHARE}.get(state, Next.WATCH)


def checklist(visit: ContestLook, row: ContestRow) -> list[Point]:
    """The points of a contest in the order in which one sets it up."""
    session, viewer = visit.session, visit.viewer
    alive = visit.service.engine.graders().alive
    ready = ngettext("%(num)s grader is ready to judge.", "%(num)s graders are ready to judge.", alive)
    health = "/admin/health" if viewer.is_admin else None
    graders = Point(Mark.DONE, health, ready) if alive else Point(Mark.OPEN, health, _("No grader is ready to judge."))
    times = _times(clock(row), utc_now(), forms.zone_of(visit.request))
    is_draft = row.settings.visibility == "draft"
    draft = [Point(Mark.LOOK, "times", _("Draft: only organizers see the contest."))] if is_draft else []
    return [*times, *_problems(session, viewer, row), *_teams(session, row), *draft, graders]


def _times(times: Clock, now: datetime, zone: str) -> Iterator[Point]:
    if times.start is None:
        text = _("No start time: the contest starts when you press the button.")
    else:
        time = forms.in_zone(times.start, zone)
        text = _("Started %(time)s.", time=time) if times.started(now) else _("Starts %(time)s.", time=time)
    yield Point(Mark.DONE, "times", text)
    text = _("The scoreboard does not freeze.")
    if times.freeze_before_end is not None:
        text = _("The scoreboard freezes %(time)s before the end.", time=times.freeze_before_end)
    yield Point(Mark.DONE, "times", text)


def _problems(session: Session, viewer: Viewer, row: ContestRow) -> Iterator[Point]:
    entries = contests_queries.entries(session, row.id)
    if not entries:
        yield Point(Mark.OPEN, "problems", _("No problem is in the contest."))
        return
    count = ngettext("%(num)s problem is in the contest.", "%(num)s problems are in the contest.", len(entries))
    yield Point(Mark.DONE, "problems", count)
    verified: dict[str, JobRow] = {}
    for job in pins.jobs(session, pins.VERIFICATION):
        verified.setdefault(str(job.params["problem_id"]), job)
    spoken = set(chain(*(pins.row(session, row.id, entry.problem_id).statements for entry in entries)))
    uses_finals = row.settings.finals.used
    for entry in entries:
        page = f"/admin/problems/{entry.problem_id}" if viewer.reads_problem(entry.problem_id) else "problems"
        yield from (
            Point(mark, "rules" if fix == "rules" else page, text)
            for mark, fix, text in _problem(session, entry, spoken, uses_finals=uses_finals)
        )
        yield from (Point(mark, page, text) for mark, text in _verified(entry.label, verified.get(entry.problem_id)))


def _problem(
    session: Session, entry: ContestProblemRow, spoken: Collection[str], *, uses_finals: bool
) -> Iterator[tuple[Mark, str, str]]:
    place, label = (entry.contest_id, entry.problem_id), entry.label
    cases, statements = pins.cases(session, *place), pins.row(session, *place).statements
    if lacking := [case.name for case in cases if case.answer_sha256 is None]:
        text = _("%(label)s: cases without an expected answer: %(names)s.", label=label, names=_names(lacking))
        yield Mark.OPEN, "problem", text
    if entry.rule.reference_counts and (lacking := [each.name for each in cases if each.reference_raw_num is None]):
        text = _("%(label)s: cases without a reference score: %(names)s.", label=label, names=_names(lacking))
        yield Mark.LOOK, "problem", text
    if not uses_finals and any(group.kind == CaseKind.FINAL for group in pins.groups(session, *place)):
        text = _("%(label)s: its final cases never count. Set when teams get their inputs.", label=label)
        yield Mark.LOOK, "rules", text
    if not statements:
        yield Mark.LOOK, "problem", _("%(label)s: no statement.", label=label)
    elif missing := sorted(set(spoken) - set(statements)):
        names = _names([LANGUAGES.get(code, code) for code in missing])
        yield Mark.LOOK, "problem", _("%(label)s: no statement in %(languages)s.", label=label, languages=names)


def _verified(label: str, verification: JobRow | None) -> Iterator[tuple[Mark, str]]:
    if verification is None:
        return
    if verification.ended is None:
        yield Mark.LOOK, _("%(label)s is being verified.", label=label)
        return
    report = (verification.result or {}).get("report")
    errors = len(report["errors"]) if verification.state == "done" and isinstance(report, dict) else None
    if errors or errors is None:
        text = ngettext(
            "%(label)s: its verification found %(num)s error.",
            "%(label)s: its verification found %(num)s errors.",
            errors or 1,
            label=label,
        )
        yield Mark.OPEN, text


def _teams(session: Session, row: ContestRow) -> Iterator[Point]:
    known = teams_queries.taking_part(session, row)
    terms = accounts_queries.terms(session, row.id)
    is_open = terms is not None and terms.is_open
    if not known and not is_open:
        yield Point(Mark.OPEN, "teams", _("No team takes part."))
        return
    count = ngettext("%(num)s team takes part.", "%(num)s teams take part.", len(known))
    yield Point(Mark.DONE, "teams", count)
    if is_open:
        yield Point(Mark.DONE, "teams", _("Users may register with the code of the contest."))
    accounts = accounts_queries.accounts(session)
    able = {account.team_id for account in accounts if account.password_hash is not None}
    if unable := [team.name for team in known if team.id not in able and not team.hidden]:
        text = _("Teams without an account that can log in: %(names)s.", names=_names(unable))
        yield Point(Mark.LOOK, "teams", text)


def _names(names: Sequence[str]) -> str:
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return _("%(names)s and %(more)s more", names=shown, more=more) if more > 0 else shown


def organiser_home(visit: Look) -> HTMLResponse:
    """The contests and problems at which the viewer has a role, and what concerns the whole server."""
    now = utc_now()
    viewer = visit.viewer
    rows = [row for row in contests_queries.contests(visit.session) if viewer.at(row.id).sees_all]
    return visit.page(
        "organiser/home.html",
        runs=[(listed(row, now), "admin" if viewer.is_admin else viewer.at(row.id).role) for row in rows],
        problems=len(packages.listed(visit.session, viewer)),
        may_make=viewer.is_admin or viewer.grants.organiser,
    )


def contest_home(visit: ContestLook) -> HTMLResponse:
    """A contest as its organizers see it first: its next step, its checklist, and what waits for them."""
    snapshot, contest, now = visit.snapshot, visit.snapshot.contest, utc_now()
    row, times = contest_of(visit.session, contest.id), contest.clock
    points, shown = checklist(visit, row), state(row, times, now)
    fault = next((each for mark in (Mark.OPEN, Mark.LOOK) for each in points if each.mark is mark), None)
    messages = clarifications.documents(visit.viewer, snapshot, visit.session)
    return visit.framed(
        "organiser/contest.html",
        "",
        next=next_step(
            shown, [point.mark for point in points], is_frozen=times.freeze is not None and not times.thawed(now)
        ),
        fault=fault,
        state=shown,
        span=span(times, now),
        clock=times,
        now=now,
        points=points,
        rules=contest_rules(times, contest.settings),
        visibility=contest.settings.visibility,
        may_extend=times.running(now) and not is_endless(times),
        may_freeze=times.running(now) and not times.freeze_begun(now) and contest.settings.personal_duration is None,
        unanswered=len(unanswered(messages)),
        waiting=contests_queries.unjudged(visit.session, row),
        submissions=contests_queries.submission_count(visit.session, contest.id),
    )


def unanswered(messages: Sequence[clarifications.ClarificationView]) -> list[str]:
    """The ids of teams' questions that have no answer."""
    answered = {message.reply_to_id for message in messages}
    return [each.id for each in messages if each.from_team_id is not None and each.id not in answered]

"""The organiser's home: what one may run, and for a contest what comes next and its checklist.

- The checklist of a contest before its start: what is set, what is missing, and what an organiser may want to know.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.authoring.service import packages
from app.contests import queries as contests_queries
from app.contests.queries import clock, contest_of
from app.core.clock import utc_now
from app.core.messages import N_
from app.core.pages.languages import _, ngettext
from app.core.pages.visitor import Reading, TheService, listed, span, state
from app.core.pages.visits import ContestLook, Look
from app.core.pages.wording import contest_rules
from app.core.service import Service
from app.domain.contests import Clock
from app.messages.service import clarifications
from app.problems.queries import pins
from app.tables import ContestProblemRow, ContestRow, JobRow
from app.teams import queries as teams_queries

# Names that a sentence lists.
MOST_NAMES = 5


class Mark(StrEnum):
    """Whether a point is settled, open, or worth a look."""

    DONE = "done"
    OPEN = "open"
    LOOK = "look"


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the checklist: its mark, the page that settles it below the contest's own, and its sentence."""

    mark: Mark
    page: str
    text: str


def checklist(session: Session, service: Service, row: ContestRow) -> list[Point]:
    """The points of a contest in the order in which one sets it up."""
    alive = service.engine.graders().alive
    ready = ngettext("%(num)s grader is ready to judge.", "%(num)s graders are ready to judge.", alive)
    graders = Point(Mark.DONE, "", ready) if alive else Point(Mark.OPEN, "", _("No grader is able to judge."))
    return [*_times(clock(row), utc_now()), *_problems(session, row.id), *_teams(session, row), graders]


def _times(times: Clock, now: datetime) -> Iterator[Point]:
    if times.start is None:
        yield Point(Mark.OPEN, "times", _("No start is set."))
    else:
        time = f"{times.start.astimezone(UTC):%Y-%m-%d %H:%M}"
        started = _("Started %(time)s UTC.", time=time) if times.started(now) else _("Starts %(time)s UTC.", time=time)
        yield Point(Mark.DONE, "times", started)
    if times.freeze_before_end is None:
        text = _("The board does not freeze: everybody sees every result at once.")
        yield Point(Mark.LOOK, "times", text)
    else:
        text = _("The board freezes %(time)s before the end.", time=times.freeze_before_end)
        yield Point(Mark.DONE, "times", text)


def _problems(session: Session, contest_id: str) -> Iterator[Point]:
    entries = contests_queries.entries(session, contest_id)
    if not entries:
        yield Point(Mark.OPEN, "problems", _("No problem is in the contest."))
        return
    count = ngettext("%(num)s problem is in the contest.", "%(num)s problems are in the contest.", len(entries))
    yield Point(Mark.DONE, "problems", count)
    verified: dict[str, JobRow] = {}
    for job in pins.jobs(session, pins.VERIFICATION):
        verified.setdefault(str(job.params["problem_id"]), job)
    for entry in entries:
        yield from _problem(session, entry, verified.get(entry.problem_id))


def _problem(session: Session, entry: ContestProblemRow, verification: JobRow | None) -> Iterator[Point]:
    row, label = pins.row(session, entry.contest_id, entry.problem_id), entry.label
    cases = pins.cases(session, entry.contest_id, entry.problem_id)
    if lacking := [case.name for case in cases if case.answer_sha256 is None]:
        text = _(
            "%(label)s: without an expected answer %(names)s: nobody can answer these.",
            label=label,
            names=_names(lacking),
        )
        yield Point(Mark.OPEN, "problems", text)
    if not row.statements:
        yield Point(Mark.LOOK, "problems", _("%(label)s has no statement.", label=label))
    if verification is None:
        return
    if verification.ended is None:
        yield Point(Mark.LOOK, "problems", _("%(label)s is still being verified.", label=label))
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
        yield Point(Mark.OPEN, "problems", text)


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
        yield Point(Mark.DONE, "teams", _("People may register by themselves with the contest's code."))
    accounts = accounts_queries.accounts(session)
    able = {account.team_id for account in accounts if account.password_hash is not None}
    if unable := [team.name for team in known if team.id not in able and not team.hidden]:
        text = _("Without an account that can log in: %(names)s.", names=_names(unable))
        yield Point(Mark.LOOK, "teams", text)


def _names(names: Sequence[str]) -> str:
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return _("%(names)s and %(more)s more", names=shown, more=more) if more > 0 else shown


# The steps of setting a contest up: the page of each below the contest's own, and its name.
STEPS = (
    ("times", N_("Kind and times")),
    ("problems", N_("Problems")),
    ("teams", N_("Teams")),
    ("rules", N_("Rules")),
    ("", N_("Start")),
)


@dataclass(frozen=True, slots=True)
class Step:
    """A step of setting a contest up: its address, its name, and whether its part of the checklist is settled."""

    page: str
    name: str
    is_here: bool
    is_done: bool


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
    """A contest as its organisers look at it first: what comes next, whether it is ready, what waits for them."""
    snapshot, contest, now = visit.snapshot, visit.snapshot.contest, utc_now()
    row = contest_of(visit.session, contest.id)
    points = checklist(visit.session, visit.service, row)
    messages = clarifications.documents(visit.viewer, snapshot, visit.session)
    return visit.framed(
        "organiser/contest.html",
        "",
        steps=_steps(points, "") if visit.viewer.manages else [],
        state=state(row, contest.clock, now),
        span=span(contest.clock, now),
        clock=contest.clock,
        now=now,
        points=points,
        is_ready=all(point.mark is not Mark.OPEN for point in points),
        rules=contest_rules(contest.clock, contest.settings),
        is_over=snapshot.state.ended is not None,
        is_final=snapshot.state.finalized is not None,
        is_frozen=contest.clock.freeze is not None and not contest.clock.thawed(now),
        unanswered=len(unanswered(messages)),
        waiting=contests_queries.unjudged(visit.session, row),
        submissions=contests_queries.submission_count(visit.session, contest.id),
    )


def steps(session: Reading, service: TheService, contest_id: str, here: str) -> list[Step]:
    """The steps of setting a contest up, with those that are settled."""
    return _steps(checklist(session, service, contest_of(session, contest_id)), here)


def _steps(points: Sequence[Point], here: str) -> list[Step]:
    open_pages = {point.page for point in points if point.mark is Mark.OPEN}
    return [Step(at, name, at == here, at not in open_pages if at else not open_pages) for at, name in STEPS]


def unanswered(messages: Sequence[clarifications.ClarificationView]) -> list[str]:
    """The ids of teams' questions that have no answer."""
    answered = {message.reply_to_id for message in messages}
    return [each.id for each in messages if each.from_team_id is not None and each.id not in answered]

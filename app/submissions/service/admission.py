"""Admission of submissions: who may submit, for which team, to which problem of which contest, and when."""

from dataclasses import dataclass
from datetime import datetime

from anyio.to_thread import run_sync

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.schemas import NO_LIMITS, Limits
from app.contests.service import changes, visibility
from app.contests.service.capabilities import capabilities, problem_called
from app.core import bodies, clics, clock
from app.core.db.by_id import is_number
from app.core.messages import N_, BadRequest, Forbidden, NotFound, Unprocessable
from app.core.service import Service
from app.submissions.queries.submission_context import Entrant, Entry, read_entrant
from app.submissions.service.submission_form import SubmissionForm

NO_TEAM = N_("required for an account without a team in contest %(contest)s")


@dataclass(frozen=True, slots=True)
class Admitted:
    """A submission that its sender may make: for which team, at which problem, and when it counts as made.

    contest_time_ms  milliseconds of the team's own contest time
    limits           the limits that its insert must keep
    is_practice      made after the team's end, and on no board
    """

    viewer: Viewer
    form: SubmissionForm
    entry: Entry
    entrant: Entrant
    team_id: str
    when: datetime
    contest_time_ms: int
    limits: Limits
    is_practice: bool

    @property
    def is_own(self) -> bool:
        """Whether the team itself submits, which its limits and its bytes apply to."""
        return self.viewer.team_id == self.team_id


async def check_may_submit(service: Service, viewer: Viewer, contest_id: str) -> None:
    """Raise Forbidden where the viewer may submit for no team."""
    staff = viewer.account_type == "staff" and await run_sync(_staff_may_submit, service, contest_id)
    if not viewer.manages and viewer.team_id is None and not staff:
        raise Forbidden(N_("only a team's account or an admin may submit"))


def check_new(viewer: Viewer, form: SubmissionForm) -> None:
    """Raise BadRequest for what a sender may not say of a new submission, its id among it."""
    _check_sender(viewer, form)
    if form.id is not None:
        raise BadRequest(N_("expected none (the server gives it), found %(found)r"), where="id", found=form.id)


def check_brought(viewer: Viewer, form: SubmissionForm, submission_id: str) -> None:
    """Raise where the id and the time of another system are missing, or where the id looks like one of ours."""
    _check_sender(viewer, form)
    if form.id is None:
        raise BadRequest(N_("expected the id of the address, found nothing"), where="id")
    bodies.same_id(submission_id, form.id)
    if is_number(submission_id):
        raise BadRequest(
            N_("expected one with a letter in it (numbers are given by us), found %(found)r"),
            where="id",
            found=submission_id,
        )
    if form.time is None:
        raise BadRequest(N_("expected when it was made, found nothing"), where="time")


async def admit(service: Service, viewer: Viewer, contest_id: str, form: SubmissionForm) -> Admitted:
    """Hold the form against the contest; raises the refusal where the viewer may not submit this now."""
    now = clock.utc_now()
    entry = await _entry(service, viewer, contest_id, form.problem_id, now)
    team_id = _submitting_team(viewer, form, entry)
    entrant = await run_sync(_entrant, service, entry, team_id) if entry.asks_the_team else Entrant(entry.clock)
    when = _submission_time(viewer, form, entry, entrant, now)
    time = entrant.clock.contest_time(when) if form.contest_time is None else form.contest_time
    is_practice = time >= entrant.clock.duration
    if entry.final and not is_practice and not entrant.is_virtual:
        raise Forbidden(N_("the contest is final: submissions no longer count"))
    limits = entry.limits.model_copy(update={"max_submissions": None}) if is_practice else entry.limits
    if viewer.team_id != team_id:
        limits = NO_LIMITS  # whoever acts for a team takes nothing of what it may do itself
    milliseconds = round(time.total_seconds() * 1000)
    return Admitted(viewer, form, entry, entrant, team_id, when, milliseconds, limits, is_practice)


def refuse_played(admitted: Admitted) -> None:
    """Raise Unprocessable for a team's files to a problem that is played: the judge writes the transcripts."""
    if admitted.entry.game is not None and not admitted.viewer.manages:
        problem_id = admitted.entry.problem_id
        raise Unprocessable(
            N_(
                "expected a problem that takes answer files, found %(found)r, which is played: start "
                "a game of it (POST problems/%(problem)s/games)"
            ),
            where="problem_id",
            found=problem_id,
            problem=problem_id,
        )


def _check_sender(viewer: Viewer, form: SubmissionForm) -> None:
    if form.contest_time is not None and (form.time is None or not viewer.manages):
        raise BadRequest(N_("expected none (the server sets it), found one"), where="contest_time")
    if form.account_id not in {None, viewer.account_id}:
        raise BadRequest(
            N_("expected none (it is the sender's), found %(found)r"), where="account_id", found=form.account_id
        )


def _staff_may_submit(service: Service, contest_id: str) -> bool:
    with service.database.read() as session:
        contest = contests_queries.get(session, contest_id)
        settings = None if contest is None else contest.settings
        return settings is not None and settings.staff_act_for_teams and settings.visibility != "draft"


def _entrant(service: Service, entry: Entry, team_id: str) -> Entrant:
    with service.database.read() as session:
        return read_entrant(session, entry, team_id)


async def _entry(service: Service, viewer: Viewer, contest_id: str, problem_id: str, now: datetime) -> Entry:
    """The contest's problem, read again only after an admin has changed something."""
    entry = await _read_entry(service, contest_id, problem_id)
    if entry is None:
        await visibility.refuse_hidden(service.boards, viewer, contest_id)
        snapshot = await visibility.snapshot_for(service.boards, viewer, contest_id)
        if snapshot is None:
            raise contests_queries.NoContest(contest_id)
        entry = await _read_entry(service, contest_id, problem_called(snapshot, problem_id))
        if entry is None:
            raise visibility.unknown_problem(snapshot, problem_id)
    teams = entry.teams
    if not visibility.is_shown(viewer, entry.settings, lambda: viewer.team_id in teams):
        raise contests_queries.NoContest(contest_id)
    if not (viewer.sees_all or entry.clock.started(now)):
        raise NotFound(visibility.not_begun(entry.clock, now))
    return entry


async def _read_entry(service: Service, contest_id: str, problem_id: str) -> Entry | None:
    cached = service.entries.known(contest_id, problem_id)
    return cached or await run_sync(service.entries.read, contest_id, problem_id)


def _submitting_team(viewer: Viewer, form: SubmissionForm, entry: Entry) -> str:
    """The team the submission is for; raises where the viewer may not submit for it."""
    if "proxy_submit" in capabilities(viewer, entry.settings, takes_part=True):
        if form.team_id is None:
            raise BadRequest(NO_TEAM, where="team_id", contest=entry.contest_id)
        if form.team_id not in entry.teams:
            raise BadRequest(
                N_("expected a team of contest %(contest)s, found %(found)r"),
                where="team_id",
                contest=entry.contest_id,
                found=form.team_id,
            )
        return form.team_id
    if viewer.team_id is None:
        raise Forbidden(N_("only a team's account or an admin may submit"))
    if form.team_id not in {None, viewer.team_id}:
        raise Forbidden(N_("a team may submit only for itself"))
    if viewer.team_id not in entry.teams:
        raise Forbidden(N_("your team does not take part in contest %(contest)s"), contest=entry.contest_id)
    return viewer.team_id


def _submission_time(viewer: Viewer, form: SubmissionForm, entry: Entry, entrant: Entrant, now: datetime) -> datetime:
    """The moment it counts as made: now, or the time an admin gives. Raises where nothing may be sent now."""
    if form.time is not None:
        if not viewer.manages:
            raise BadRequest(N_("expected none (the server sets it), found one"), where="time")
        if form.time > now:
            raise BadRequest(
                N_("expected a moment up to now, found %(found)s"), where="time", found=clics.format_time(form.time)
            )
        latest = entry.clock.contest_time(now)
        if form.contest_time is not None and form.contest_time > latest:
            raise BadRequest(
                N_("expected a contest time up to now, %(now)s, found %(found)s"),
                where="contest_time",
                now=clics.format_reltime(latest),
                found=clics.format_reltime(form.contest_time),
            )
        return form.time
    if viewer.manages or (entry.settings.practice and entry.clock.decided(now)):
        return now
    if entry.settings.personal_duration is not None and entrant.participation is None and not entry.clock.ended(now):
        # As before the start: a team that has not begun knows of no problems.
        raise NotFound(visibility.own_clock_not_begun())
    if not entrant.clock.running(now):
        if entrant.clock.ended(now) and entry.clock.running(now):
            raise Forbidden(N_("your team's own time is over"))
        raise Forbidden(changes.why_not_running(entry.clock, now))
    return now

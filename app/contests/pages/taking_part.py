"""Decisions of a team on pages: its own clock, its final inputs, and the submission that counts; and its limits.

Each is a plain form: POST, the service that the API calls, then a redirect to the page of the form.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from fastapi import Response
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.service.capabilities import ParticipationBody, begin
from app.core.clock import utc_now
from app.core.messages import N_, Forbidden, Unauthorized
from app.core.pages.forms import made_of_values
from app.core.pages.languages import _, confirm
from app.core.pages.visitor import Fields, TheSnapshot
from app.core.pages.visits import Visit
from app.core.pages.wording import minute, spoken
from app.domain.contests import CaseKind, ScoredProblem
from app.domain.participation import ParticipationKind, limited
from app.problems.queries import pins
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.service.chosen import ChosenBody, ask, choose, final_inputs, quota_of
from app.submissions.service.chosen import chosen as choice_of

TIME = "%(time)s"


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence that scripts let count: `%(time)s` in `text` is the time left; without `seconds` it is fixed."""

    text: str
    seconds: int | None = None

    @property
    def time(self) -> str:
        """The time left in words."""
        return spoken(timedelta(seconds=self.seconds or 0))


@dataclass(frozen=True, slots=True)
class FinalsShown:
    """The final inputs of a problem: what to say, the button to get them if the team may, and their address."""

    line: Line
    button: str | None
    href: str | None


@dataclass(frozen=True, slots=True)
class ClockOffer:
    """The clock that a team may start now: the value of its form, the text of its button, and how long it runs."""

    kind: ParticipationKind
    button: str
    hint: str


def takes_part(viewer: Viewer, snapshot: ContestSnapshot) -> bool:
    """Return whether the viewer's team takes part in the contest."""
    return any(team.id == viewer.team_id for team in snapshot.contest.teams)


def clock_offer(session: Session, viewer: Viewer, snapshot: ContestSnapshot) -> ClockOffer | None:
    """Return the clock that the viewer's team may start now; None if there is none."""
    contest, now = snapshot.contest, utc_now()
    if viewer.team_id is None or not takes_part(viewer, snapshot):
        return None
    if contests_queries.participation(session, contest.id, viewer.team_id) is not None:
        return None
    personal = contest.settings.personal_duration
    if personal is not None and contest.clock.running(now):
        left = contest.clock.duration - contest.clock.contest_time(now)
        hint = _("You then have %(time)s.", time=spoken(min(personal, left)))
        return ClockOffer(ParticipationKind.PERSONAL, _("Start your contest"), hint)
    if not contest.settings.virtual or not contest.clock.decided(now):
        return None
    if contests_queries.submission_count(session, contest.id, team_id=viewer.team_id):
        return None
    hint = _(
        "You then have %(time)s, as in the contest. The scoreboard does not change.",
        time=spoken(contest.clock.duration),
    )
    return ClockOffer(ParticipationKind.VIRTUAL, _("Start virtual participation"), hint)


def begin_clock(visit: Visit, snapshot: TheSnapshot, fields: Fields, contest_id: str) -> Response:
    """Start the clock of the viewer's team after a confirmation, and return to the contest's page."""
    _check_team(visit.viewer)
    body = made_of_values(ParticipationBody, {"kind": fields.get("kind", "")})
    with visit.reading() as look:
        offer = clock_offer(look.session, visit.viewer, snapshot)
    if offer is not None:
        final = _("Your time starts now. It cannot be paused or restarted.")
        confirm(fields, _("Start your contest?"), f"{final} {offer.hint}", _("Start"))
    begin(visit.service, visit.viewer, contest_id, body)
    return visit.see(f"/c/{contest_id}")


def finals_shown(
    session: Session, viewer: Viewer, snapshot: ContestSnapshot, problem: ScoredProblem
) -> FinalsShown | None:
    """Return what a team reads about a problem's final inputs; None if there are none, or teams do not ask for them."""
    contest, now = snapshot.contest, utc_now()
    window = contest.finals.window
    has_finals = any(group.kind == CaseKind.FINAL for group in pins.groups(session, contest.id, problem.id))
    if window is None or not has_finals or not takes_part(viewer, snapshot):
        return None
    shown = final_inputs(viewer, snapshot, session, problem.id)
    if shown.time is None:
        if not contest.clock.running(now):
            return None
        left = min(window, contest.clock.duration - contest.clock.contest_time(now))
        button = _("Get the final inputs: you then have %(time)s", time=spoken(left))
        return FinalsShown(Line(_("The final inputs have their own time limit.")), button, None)
    if not shown.open or shown.deadline is None:
        return FinalsShown(Line(_("The time for your answers to the final inputs is over.")), None, shown.href)
    deadline = datetime.fromisoformat(shown.deadline)
    sentence = _(
        "Answers to the final inputs are accepted until %(time)s, in %(left)s.",
        time=minute(deadline),
        left=TIME,
    )
    return FinalsShown(Line(sentence, _whole(deadline - now)), None, shown.href)


def ask_for_finals(visit: Visit, snapshot: TheSnapshot, fields: Fields, problem_id: str) -> Response:
    """Start the team's time for final inputs after a confirmation, and return to the problem's page."""
    _check_team(visit.viewer)
    window = snapshot.contest.finals.window
    if window is not None:
        sentence = _("You have %(time)s for your answers from now on. The time cannot be paused.", time=spoken(window))
        confirm(fields, _("Get the final inputs?"), sentence, _("Get the final inputs"))
    ask(visit.service, visit.viewer, snapshot, problem_id)
    return visit.see(f"/c/{snapshot.contest.id}/problems/{problem_id}")


def choose_on_page(visit: Visit, snapshot: TheSnapshot, fields: Fields, problem_id: str) -> Response:
    """Choose the submission that counts, or none, and return to the team's submissions."""
    _check_team(visit.viewer)
    number = fields.get("submission_id")
    body = made_of_values(ChosenBody, {"submission_id": number}) if number else None
    choose(visit.service, visit.viewer, snapshot, problem_id, body)
    return visit.see(f"/c/{snapshot.contest.id}/answers")


def may_choose(viewer: Viewer, snapshot: ContestSnapshot) -> bool:
    """Return whether the viewer's team may choose now which submission counts."""
    contest, now = snapshot.contest, utc_now()
    over = contest.own_clock(viewer.team_id).ended(now) or contest.clock.ended(now)
    return contest.settings.choose and not over and takes_part(viewer, snapshot)


def choice_line(session: Session, viewer: Viewer, snapshot: ContestSnapshot, problem: ScoredProblem) -> str | None:
    """Return which submission counts after the end; None unless the viewer's team may choose it now."""
    if not may_choose(viewer, snapshot):
        return None
    chosen = choice_of(viewer, snapshot, session, problem.id).submission_id
    if chosen is None:
        return _("You have not chosen a submission: the scoring rule decides which one counts.")
    return _("Submission %(id)s counts after the end: you chose it.", id=chosen)


def quota_line(session: Session, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str) -> Line | None:
    """Return how many submissions the team has left and when it may send the next; None without limits."""
    if not takes_part(viewer, snapshot):
        return None
    quota = quota_of(viewer, snapshot, session, problem_id, None)
    if not limited(quota.limits):
        return None
    most = quota.limits.max_submissions
    if quota.left == 0:
        return Line(_("No submissions left: %(used)s of %(most)s used.", used=quota.used, most=most))
    wait = None if quota.next_allowed is None else datetime.fromisoformat(quota.next_allowed) - utc_now()
    if wait is None:
        many = _("%(left)s of %(most)s submissions left.", left=quota.left, most=most)
        return Line(_("You can submit now.") if most is None else many)
    if most is None:
        later = _("Next submission in %(time)s.", time=TIME)
    else:
        later = _("%(left)s of %(most)s submissions left, next in %(time)s.", left=quota.left, most=most, time=TIME)
    return Line(later, _whole(wait))


def _whole(wait: timedelta) -> int:
    """Return the seconds to wait, rounded up and at least one."""
    return max(1, ceil(wait.total_seconds()))


def _check_team(viewer: Viewer) -> None:
    """Raise Unauthorized or Forbidden unless the viewer is a team."""
    if not viewer.logged_in:
        raise Unauthorized(N_("log in with a team's account"))
    if viewer.team_id is None:
        raise Forbidden(N_("only teams may do this"))

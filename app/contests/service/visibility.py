"""Rules of visibility: the snapshot, submissions, verdicts and points of a contest that a viewer may see.

Visible teams, worths and points are kept with their snapshot, as each list and look of the feed asks for them again
(guarantee 6).
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import ceil
from typing import Protocol

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.queries import NoContest
from app.contests.schemas import ContestSettings
from app.contests.service.capabilities import capabilities, no_problem
from app.core.clics import format_reltime
from app.core.clock import utc_now
from app.core.messages import N_, Message, NotFound
from app.domain.contests import Carry, CaseKind, Clock, Counting, ScoredProblem, ScoringRule
from app.domain.counting import Answers, Attempt, CaseVerdict, JudgementType, submission_answers
from app.domain.documents import MessageDocument
from app.domain.participation import Telling, reduced
from app.domain.scoring import ProblemPoints, problem_points
from app.problems.queries.scoring_input import ScoredContest
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, closed, is_computed, once_a_snapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.submissions.queries.attempts import Sender, attempt_team
from app.tables import ContestRow, SubmissionRow
from app.teams import queries as teams_queries


def is_shown(viewer: Viewer, settings: ContestSettings, takes_part: Callable[[], bool]) -> bool:
    """Whether the viewer may know of a contest: of a draft its organizers, of a private one also its teams and staff.

    `viewer` is the one in the contest (`Viewer.at`); `takes_part` is asked for private contests only.
    """
    if viewer.sees_all or settings.visibility == "public":
        return True
    return settings.visibility == "private" and bool(capabilities(viewer, settings, takes_part=takes_part()))


def is_row_shown(session: Session, viewer: Viewer, row: ContestRow) -> bool:
    """Whether the viewer may know of a stored contest."""
    here = viewer.at(row.id)
    own = here.team_id
    return is_shown(here, row.settings, lambda: own is not None and teams_queries.takes_part(session, row, own))


async def refuse_hidden(boards: ScoreboardCache, viewer: Viewer, contest_id: str) -> None:
    """Raise NoContest if the viewer in the contest (`Viewer.at`) may not know of it, or if it does not exist."""
    if viewer.sees_all:
        return
    if (contest := boards.contest(contest_id)) is None:
        snapshot = await boards.snapshot_soon(contest_id, public=True)
        contest = None if snapshot is None else snapshot.contest
    if contest is None or not is_shown(viewer, contest.settings, partial(_has_team, contest, viewer.team_id)):
        raise NoContest(contest_id)


def _has_team(contest: ScoredContest, team_id: str | None) -> bool:
    return any(team.id == team_id for team in contest.teams)


def seen_by(viewer: Viewer, snapshot: ContestSnapshot) -> ContestSnapshot:
    """Restrict a snapshot to what this viewer may see: with personal clocks, a team sees nothing before it has begun.

    Viewers without a clock see such a contest once it has ended.
    """
    contest = snapshot.contest
    if viewer.sees_all or contest.personal is None or snapshot.state.ended is not None:
        return snapshot
    return snapshot if viewer.team_id in contest.participations else closed(snapshot)


async def snapshot_for(boards: ScoreboardCache, viewer: Viewer, contest_id: str) -> ContestSnapshot | None:
    """Look up the contest as the viewer may see it; None where there is none."""
    public = not viewer.sees_all
    snapshot = boards.ready(contest_id, public=public) or await boards.snapshot_soon(contest_id, public=public)
    return None if snapshot is None else seen_by(viewer, snapshot)


def unknown_problem(snapshot: ContestSnapshot, name: str) -> NotFound:
    """Make the refusal of an invisible problem: the contest has not begun, or the nearest visible name."""
    why = _why_hidden(snapshot)
    return NotFound(why) if why else no_problem(snapshot, name)


def the_problem(snapshot: ContestSnapshot, problem_id: str) -> ScoredProblem:
    """Return a problem that the viewer may see; raises NotFound, also before the start."""
    problem = next((each for each in snapshot.problems if each.id == problem_id), None)
    if problem is None:
        raise unknown_problem(snapshot, problem_id)
    return problem


def _why_hidden(snapshot: ContestSnapshot) -> Message | None:
    """Say why no problem is visible, or None. The reason is the same for every name, so that no one can guess one."""
    if snapshot.public and snapshot.state.started is None:
        return not_begun(snapshot.contest.clock, utc_now())
    return own_clock_not_begun() if snapshot.closed else None


def may_see(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Whether the viewer may know of a submission. Judges know all, teams their own, others those of visible teams."""
    if viewer.sees_all or is_own(viewer, row):
        return True
    if snapshot.closed or snapshot.state.started is None or not is_official(snapshot, row):
        return False
    return row.team_id in visible_teams(snapshot)


@once_a_snapshot
def visible_teams(snapshot: ContestSnapshot) -> frozenset[str]:
    """The ids of public teams, cached with the snapshot."""
    return frozenset(team.id for team in snapshot.contest.teams if team.counts)


def is_official(snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Whether a submission is official: virtual ones and those sent for practice after the end are excluded."""
    return not snapshot.contest.is_virtual(attempt_team(row)) and not is_practice(snapshot, row)


def is_practice(snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Whether a submission was sent for practice, after the end of the contest or of its team's clock."""
    return timedelta(milliseconds=row.contest_time_ms) >= snapshot.contest.own_clock(row.team_id).duration


def may_see_verdict(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Whether the viewer may see the verdict. The freeze hides those of other teams."""
    if not may_see(viewer, snapshot, row):
        return False
    if viewer.sees_all or is_own(viewer, row):
        return True
    time = timedelta(milliseconds=row.contest_time_ms)
    return not snapshot.freeze.hides(attempt_team(row), row.problem_id, time)


def is_own(viewer: Viewer, row: SubmissionRow) -> bool:
    """Whether a submission belongs to the viewer's team."""
    return viewer.team_id is not None and viewer.team_id == row.team_id


def may_see_answers(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Whether the viewer may read a submission's files, raw scores and messages."""
    if viewer.sees_all or is_own(viewer, row):
        return True
    contest = snapshot.contest
    if viewer.team_id in contest.extra and not contest.own_clock(viewer.team_id).ended(utc_now()):
        return False  # it still competes
    shows = contest.settings.show_others_answers
    return shows and not has_embargoed(snapshot, row) and may_see_verdict(viewer, snapshot, row)


def is_embargoed(snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Whether a submission has answers for final cases that are still hidden in this snapshot."""
    return snapshot.is_embargoed(attempt_team(row), row.problem_id, row.id)


def may_see_runs(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Whether the viewer may see a submission's runs. All or none, so that their number never grows."""
    return may_see_answers(viewer, snapshot, row) and not is_embargoed(snapshot, row)


def has_embargoed(snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Whether a submission could have answers for final cases that are hidden from other teams."""
    finals = snapshot.contest.finals
    return snapshot.public and finals.used and snapshot.phase != finals.kinds


def may_see_sources(viewer: Viewer, row: SubmissionRow) -> bool:
    """Whether the viewer may read a submission's sources: its team and judges may, even where answers are public."""
    return viewer.sees_all or is_own(viewer, row)


@dataclass(frozen=True, slots=True)
class Worth:
    """The value of a judged submission: its answers, carried over included, and their points at the BEST shown."""

    answers: Answers
    points: ProblemPoints


class Tried(Sender, Protocol):
    """The fields of a submission that determine its worth."""

    @property
    def id(self) -> int: ...  # noqa: D102
    @property
    def problem_id(self) -> str: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class SubmissionKey:
    """A submission without its row: what its worth depends on."""

    id: int
    team_id: str | None
    problem_id: str
    account_id: str = ""


def worth_of(snapshot: ContestSnapshot, row: Tried) -> Worth | None:
    """Compute the worth of a submission, or None while it is unjudged; cached with the snapshot."""
    problem = snapshot.contest.problem(row.problem_id)
    answers = None if problem is None else _answers(snapshot, attempt_team(row), problem.id).get(row.id)
    if problem is None or answers is None:
        return None
    worths = _worths(snapshot)
    worth = worths.get(row.id)
    if worth is None:
        points = problem_points(problem, answers, snapshot.bests(problem), snapshot.phase)
        worth = worths[row.id] = Worth(answers, points)
    return worth


@once_a_snapshot
def _worths(_snapshot: ContestSnapshot) -> dict[int, Worth]:
    """The worths computed so far, by submission."""
    return {}


def points_of(snapshot: ContestSnapshot, row: Tried) -> float | None:
    """Compute the points of a submission, or None while it is unjudged.

    Only the points of the team's submissions to the problem are cached, without their answers: lists have thousands.
    """
    few = _few_points(snapshot)
    if row.id in few:
        return few[row.id]
    return _points(snapshot, attempt_team(row), row.problem_id).get(row.id)


def know_points(snapshot: ContestSnapshot, rows: Iterable[Tried]) -> None:
    """Compute the points of these submissions alone, for a page that shows few of each team's; `points_of` has them."""
    few = _few_points(snapshot)
    places: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for row in rows:
        if row.id not in few and (points := _own_points(snapshot, row)) is not None:
            few[row.id] = points
        elif row.id not in few:
            places[attempt_team(row), row.problem_id].add(row.id)
    for place, ids in places.items():
        if not is_computed(snapshot, _points, *place):
            few.update(dict.fromkeys(ids) | _points_among(snapshot, *place, ids))


def _own_points(snapshot: ContestSnapshot, row: Tried) -> float | None:
    """The points of a submission, without a look at the team's earlier ones, of which there may be thousands.

    None where those are needed: for the cases that it does not answer, unless the board has kept their answers.
    """
    problem = snapshot.contest.problem(row.problem_id)
    attempt = None if problem is None else snapshot.attempt(attempt_team(row), row.problem_id, row.id)
    if problem is None or attempt is None or attempt.scores is None or attempt.failed:
        return None
    ((_, answers),) = submission_answers([attempt], problem.rule)
    samples = {group.name for group in problem.groups if group.kind is CaseKind.SAMPLE}
    if any(case.name not in answers for case in problem.cases if case.group not in samples):
        counted = _counted(snapshot, problem.rule, attempt)
        if counted is None:
            return None
        answers = {**counted, **answers}
    return problem_points(problem, answers, snapshot.bests(problem), snapshot.phase).points


def _counted(snapshot: ContestSnapshot, rule: ScoringRule, attempt: Attempt) -> Answers | None:
    """The answers that count on the board if `attempt` is the last one, so that it carries over those of other cases.

    None where it carries over others, and where the board has not taken all of the team's submissions.
    """
    if rule.carry is Carry.NONE:
        return {}
    place = (attempt.team_id, attempt.problem_id)
    is_kept = rule.counting is Counting.LAST or (rule.counting is Counting.BEST_CASE and rule.carry is Carry.BEST)
    if not is_kept or place in snapshot.view.chosen or snapshot.freeze.hides(*place, attempt.time):
        return None
    cell = snapshot.cell(*place)
    if cell is None or cell.num_judged + cell.num_pending < snapshot.count(*place):
        return None
    sources = [snapshot.attempt(*place, id_) for id_ in {each.submission_id for each in cell.answers.values()}]
    is_last = all(each is not None and (each.time, each.id) <= (attempt.time, attempt.id) for each in sources)
    return cell.answers if is_last else None


@once_a_snapshot
def _few_points(_snapshot: ContestSnapshot) -> dict[int, float | None]:
    """The points that were computed for some submissions alone."""
    return {}


@once_a_snapshot
def _points(snapshot: ContestSnapshot, team: str, problem_id: str) -> Mapping[int, float]:
    """The points of each judged submission of a team to a problem, cached with the snapshot."""
    return _points_among(snapshot, team, problem_id)


def _points_among(
    snapshot: ContestSnapshot, team: str, problem_id: str, ids: Collection[int] | None = None
) -> dict[int, float]:
    """The points of those judged submissions of a team to a problem that are among `ids`; None: of each."""
    problem = snapshot.contest.problem(problem_id)
    if problem is None:
        return {}
    bests, phase = snapshot.bests(problem), snapshot.phase
    each = submission_answers(snapshot.of(team, problem_id), problem.rule)
    return {
        attempt.id: problem_points(problem, answers, bests, phase).points
        for attempt, answers in each
        if ids is None or attempt.id in ids
    }


@once_a_snapshot
def _answers(snapshot: ContestSnapshot, team: str, problem_id: str) -> Mapping[int, Answers]:
    """The answers of each judged submission of a team to a problem, carried over included; cached with the snapshot."""
    problem = snapshot.contest.problem(problem_id)
    each = () if problem is None else submission_answers(snapshot.of(team, problem_id), problem.rule)
    return {attempt.id: answers for attempt, answers in each}


def message_of(snapshot: ContestSnapshot, verdict: str, message: MessageDocument) -> MessageDocument:
    """Reduce a checker's message to what the setting `rejections` shows to all but judges."""
    if not snapshot.public or verdict != CaseVerdict.REJECTED:
        return message
    return reduced(message, Telling(snapshot.contest.settings.rejections))


def shows_feedback(snapshot: ContestSnapshot, verdict: str) -> bool:
    """Whether all of a checker's feedback for teams is shown: of rejections as the setting `rejections` says."""
    is_rejection = snapshot.public and verdict == CaseVerdict.REJECTED
    return not is_rejection or snapshot.contest.settings.rejections == "full"


def shown_type(snapshot: ContestSnapshot, kind: str | None) -> str | None:
    """Map a judgement type to the one that the contest shows: a setting may replace `PC` (partly correct)."""
    if kind == JudgementType.PC:
        return snapshot.contest.settings.partly_correct_as
    return kind


def not_begun(times: Clock, now: datetime) -> Message:
    """The refusal before the start of a contest, the same for every name of a problem: when it starts."""
    if times.start is None:
        return Message(N_("the contest has not begun: no start is set yet"))
    left = timedelta(seconds=max(0, ceil((times.start - now).total_seconds())))
    return Message(N_("the contest has not begun: it starts in %(time)s"), time=format_reltime(left).partition(".")[0])


def own_clock_not_begun() -> Message:
    """The refusal before a team's own clock has begun: when problems are seen."""
    return Message(N_("your team's own clock has not begun; others see the contest's problems once it has ended"))

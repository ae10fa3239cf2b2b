"""What a viewer sees of a contest: its snapshot, which submissions, and what each of them is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from app.domain.clock import utc_now
from app.domain.contests import ScoredProblem
from app.domain.rejections import told
from app.domain.scoring import Answers, ProblemPoints, problem_points, submission_answers
from app.domain.verdicts import CaseVerdict, JudgementType
from app.grading.scoreboard_cache import ContestSnapshot, closed
from app.services.contests.not_begun import not_begun, own_clock_not_begun
from app.services.errors import NotFound
from app.services.names import no_problem
from app.services.viewer import Viewer
from app.storage.attempts import attempt_team
from app.storage.tables import SubmissionRow


def seen_by(viewer: Viewer, snapshot: ContestSnapshot) -> ContestSnapshot:
    """The snapshot as this viewer may see it: where every team has a clock of its own, nothing before it has begun.

    Whoever has no such clock sees the contest once it has ended.
    """
    contest = snapshot.contest
    if viewer.sees_all or contest.personal is None or snapshot.state.ended is not None:
        return snapshot
    return snapshot if viewer.team_id in contest.participations else closed(snapshot)


def unknown_problem(snapshot: ContestSnapshot, name: str) -> NotFound:
    """The refusal of a problem the viewer does not see: the contest has not begun, or the nearest name there is."""
    why = _why_hidden(snapshot)
    return NotFound(why) if why else no_problem(snapshot, name)


def the_problem(snapshot: ContestSnapshot, problem_id: str) -> ScoredProblem:
    """A problem the viewer may see; raises NotFound, also before the start."""
    found = next((problem for problem in snapshot.problems if problem.id == problem_id), None)
    if found is None:
        raise unknown_problem(snapshot, problem_id)
    return found


def _why_hidden(snapshot: ContestSnapshot) -> str | None:
    """Why no problem at all is seen; None where some are. It is the same for every name: no name may be guessed."""
    if snapshot.public and snapshot.state.started is None:
        return not_begun(snapshot.contest.clock, utc_now())
    return own_clock_not_begun() if snapshot.closed else None


def may_see(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """May the viewer know of a submission at all? Judges of all, teams of their own, the others of visible teams'."""
    if viewer.sees_all or is_own(viewer, row):
        return True
    if snapshot.closed or snapshot.state.started is None or not is_official(snapshot, row):
        return False
    return row.team_id in visible_teams(snapshot)


def visible_teams(snapshot: ContestSnapshot) -> frozenset[str]:
    """The teams everybody may know of; looked up for thousands of submissions."""
    kept: frozenset[str] | None = snapshot.pages.get("visible teams")
    if kept is None:
        kept = frozenset(team.id for team in snapshot.contest.teams if team.counts)
        snapshot.pages["visible teams"] = kept
    return kept


def is_official(snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Is it of the contest itself, neither of a virtual team nor sent for practice after the end?"""
    return not snapshot.contest.is_virtual(attempt_team(row)) and not is_practice(snapshot, row)


def is_practice(snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Was it sent after the end, or after its team's own end, where the contest takes such submissions?"""
    return timedelta(milliseconds=row.contest_time_ms) >= snapshot.contest.own_clock(row.team_id).duration


def may_see_verdict(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """May the viewer know what became of it? The freeze hides that of others."""
    if not may_see(viewer, snapshot, row):
        return False
    if viewer.sees_all or is_own(viewer, row):
        return True
    time = timedelta(milliseconds=row.contest_time_ms)
    return not snapshot.freeze.hides(attempt_team(row), row.problem_id, time)


def is_own(viewer: Viewer, row: SubmissionRow) -> bool:
    """Is it the viewer's own team's?"""
    return viewer.team_id is not None and viewer.team_id == row.team_id


def may_see_answers(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """May the viewer read its files, its raw scores and what the checker said?"""
    if viewer.sees_all or is_own(viewer, row):
        return True
    shows = snapshot.contest.settings.show_others_answers
    return shows and not has_embargoed(snapshot, row) and may_see_verdict(viewer, snapshot, row)


def is_embargoed(snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """Has it answers for final cases, of which this snapshot may not tell anything yet?"""
    return snapshot.is_embargoed(attempt_team(row), row.problem_id, row.id)


def may_see_runs(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """May the viewer see its cases one by one? All of them or none, so that those there are never become more."""
    return may_see_answers(viewer, snapshot, row) and not is_embargoed(snapshot, row)


def has_embargoed(snapshot: ContestSnapshot, row: SubmissionRow) -> bool:
    """May it have answers for final cases that must not be known yet, even to others who have their inputs?"""
    finals = snapshot.contest.finals
    return snapshot.public and finals.used and snapshot.phase != finals.kinds


def may_see_sources(viewer: Viewer, row: SubmissionRow) -> bool:
    """May the viewer read its sources? They stay with the team and the judges, also where answers are shown to all."""
    return viewer.sees_all or is_own(viewer, row)


@dataclass(frozen=True, slots=True)
class Worth:
    """What one judged submission stands for: an answer for each case, and the points of these at the BEST shown."""

    answers: Answers
    points: ProblemPoints


class Tried(Protocol):
    """What of a submission tells its worth: its id, whose it is, and to which problem."""

    @property
    def id(self) -> int: ...  # noqa: D102
    @property
    def team_id(self) -> str | None: ...  # noqa: D102
    @property
    def account_id(self) -> str: ...  # noqa: D102
    @property
    def problem_id(self) -> str: ...  # noqa: D102


def worth_of(snapshot: ContestSnapshot, row: Tried) -> Worth | None:
    """The worth of a submission, or None while it is not judged; computed once for each board."""
    problem = snapshot.contest.problem(row.problem_id)
    answers = None if problem is None else _answers(snapshot, attempt_team(row), problem).get(row.id)
    if problem is None or answers is None:
        return None
    kept: dict[int, Worth] = snapshot.pages.setdefault("worths", {})
    found = kept.get(row.id)
    if found is None:
        found = kept[row.id] = Worth(answers, problem_points(problem, answers, snapshot.bests(problem), snapshot.phase))
    return found


def points_of(snapshot: ContestSnapshot, row: Tried) -> float | None:
    """The points of a submission's worth, or None while it is not judged: what lists of thousands of them need.

    Of its team's submissions to the problem only the points are kept, not how they come about.
    """
    problem = snapshot.contest.problem(row.problem_id)
    if problem is None:
        return None
    kept: dict[tuple[str, str], dict[int, float]] = snapshot.pages.setdefault("points", {})
    place = (attempt_team(row), problem.id)
    found = kept.get(place)
    if found is None:
        bests, phase = snapshot.bests(problem), snapshot.phase
        found = kept[place] = {
            attempt.id: problem_points(problem, answers, bests, phase).points
            for attempt, answers in submission_answers(snapshot.of(*place), problem.rule)
        }
    return found.get(row.id)


def _answers(snapshot: ContestSnapshot, team: str, problem: ScoredProblem) -> Mapping[int, Answers]:
    """What each of a team's judged submissions to a problem stands for; computed once for each board."""
    kept: dict[Any, Mapping[int, Answers]] = snapshot.pages.setdefault("answers", {})
    found = kept.get((team, problem.id))
    if found is None:
        tries = snapshot.of(team, problem.id)
        found = {attempt.id: answers for attempt, answers in submission_answers(tries, problem.rule)}
        kept[team, problem.id] = found
    return found


def message_of(snapshot: ContestSnapshot, verdict: str, message: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a checker said of an answer, as far as the contest tells it to others than judges."""
    if not snapshot.public or verdict != CaseVerdict.REJECTED:
        return message
    return told(message, snapshot.contest.settings.rejections)


def shown_type(snapshot: ContestSnapshot, kind: str | None) -> str | None:
    """The judgement type's id as the contest shows it: it may have `PC` (partly correct) shown as another one."""
    if kind == JudgementType.PC:
        return snapshot.contest.settings.partly_correct_as
    return kind

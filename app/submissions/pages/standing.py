"""What counts now at a problem: this submission, another one or nothing, and why; the sentence that opens a report."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import is_own, is_practice
from app.core.messages import N_
from app.core.pages.languages import _, ngettext
from app.core.pages.wording import points
from app.domain.contests import Counting, ScoredProblem
from app.domain.counting import Attempt, submission_answers
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import attempts, submission_queries
from app.submissions.service.reports import own_answers, points_at_best
from app.tables import SubmissionRow


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts now, in a sentence; `other`: the id of the submission that counts instead of this one."""

    text: str
    counts: bool = False
    other: str | None = None


def standing_of(
    session: Session, viewer: Viewer, snapshot: ContestSnapshot, problem: ScoredProblem, row: SubmissionRow
) -> Standing | None:
    """Return what counts now for the viewer's own team; None before the verdict and for others' submissions."""
    attempt = snapshot.attempt(attempts.attempt_team(row), problem.id, row.id)
    if not is_own(viewer, row) or attempt is None or attempt.scores is None:
        return None
    if is_practice(snapshot, row):
        return Standing(_("Submitted for practice: it does not change the scoreboard."))
    if attempt.failed:
        return Standing(_("The judge failed on this submission. It does not count until it has been judged again."))
    if problem.rule.counting is Counting.BEST_CASE and _choice(snapshot, row) is None:
        return _by_case(viewer, snapshot, problem, row)
    return _by_submission(session, snapshot, problem, row)


def _by_case(viewer: Viewer, snapshot: ContestSnapshot, problem: ScoredProblem, row: SubmissionRow) -> Standing:
    answers = own_answers(viewer, snapshot, problem) or {}
    total = points(points_at_best(snapshot, problem, answers).points)
    accepted = [each for each in answers.values() if each.score.accepted]
    own = sum(each.submission_id == row.id for each in accepted)
    if not accepted:
        return Standing(_("Nothing counts yet: none of your answers to this problem was accepted."))
    if own == len(accepted):
        return Standing(
            _("This submission counts with %(points)s points: it has your best answer to each case.", points=total),
            True,
        )
    if not own:
        return Standing(
            _(
                "Nothing in this submission counts: your other answers are at least as good in each case."
                " You keep %(points)s points.",
                points=total,
            )
        )
    return Standing(
        ngettext(
            "%(num)s answer of this submission counts: your best answer to each case. You have %(points)s points.",
            "%(num)s answers of this submission count: your best answer to each case. You have %(points)s points.",
            own,
            points=total,
        ),
        True,
    )


# Why a submission counts, by the contest's rule or by its team's choice.
OWN_REASONS = {
    Counting.LAST: N_("This submission counts with %(points)s points: it is your last one."),
    Counting.BEST: N_("This submission counts with %(points)s points: it is your best one."),
    None: N_("This submission counts with %(points)s points: you chose it."),
}
OTHER_REASONS = {
    Counting.LAST: N_("This submission does not count: only your last one does. You have %(points)s points."),
    Counting.BEST: N_("This submission does not count: only your best one does. You have %(points)s points."),
    None: N_("This submission does not count: you chose another one. You have %(points)s points."),
}


def _by_submission(session: Session, snapshot: ContestSnapshot, problem: ScoredProblem, row: SubmissionRow) -> Standing:
    counted, total, is_chosen = _counted(snapshot, problem, row)
    reason = None if is_chosen else problem.rule.counting
    if counted.id == row.id:
        return Standing(_(OWN_REASONS[reason], points=points(total)), True)
    other = submission_queries.shown_ids(session, [counted.id])[counted.id]
    return Standing(_(OTHER_REASONS[reason], points=points(total)), other=other)


def _counted(snapshot: ContestSnapshot, problem: ScoredProblem, row: SubmissionRow) -> tuple[Attempt, float, bool]:
    """Return the team's submission that counts, its points, and whether the team has chosen it."""
    chosen, counted = _choice(snapshot, row), None
    tries = snapshot.of(attempts.attempt_team(row), problem.id)
    for attempt, answers in submission_answers(tries, problem.rule):
        if attempt.failed or not snapshot.view.takes(attempt):
            continue
        total = points_at_best(snapshot, problem, answers).points
        if attempt.id == chosen:
            return attempt, total, True
        if counted is None or problem.rule.counting is Counting.LAST or total > counted[1]:
            counted = attempt, total
    assert counted is not None, "the submission itself is one of them"
    return *counted, False


def _choice(snapshot: ContestSnapshot, row: SubmissionRow) -> int | None:
    """Return the submission that the team chose for after the end; None before it and without a choice."""
    if snapshot.state.ended is None:
        return None
    return snapshot.contest.chosen.get((attempts.attempt_team(row), row.problem_id))

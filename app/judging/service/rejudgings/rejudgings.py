"""Rejudgings: submissions judged again, silently, with a look at what it would change before it is applied or not."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import Field
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer, refuse_foreign_contests
from app.contests import queries as contests_queries
from app.contests.queries import contest_of, entry_of
from app.contests.schemas.settings import Rule
from app.core.bodies import Body, Line
from app.core.clics import example
from app.core.db.by_id import as_id
from app.core.errors import BadRequest, NotFound, describe_pattern
from app.core.messages import N_, Message
from app.core.service import Service
from app.judging.queries import rejudging_steps, rejudgings
from app.judging.queries.rejudging_steps import Selection
from app.judging.service.rejudgings import difference
from app.judging.service.rejudgings.problem_changes import RejudgingView, change, shown
from app.problems.queries.versions import Author
from app.submissions.queries import submission_queries
from app.submissions.queries.attempts import contests_of
from app.tables import RejudgingRow, SubmissionRow
from app.teams import queries as teams_queries

MOST_NAMED = 10_000


class ChangesBody(Body):
    """A change of the whole problem with the rejudging: its scoring in this contest."""

    rule: Rule


@example({"problem": "comesolo", "reason": "the checker took boards that were not full"})
class RejudgingBody(Body):
    """The submissions to judge again, and the reason: those that fit each of `problem`, `team` and `submissions`."""

    reason: Line
    problem: Line | None = None
    team: Line | None = None
    submissions: list[Line] | None = Field(None, min_length=1, max_length=MOST_NAMED)
    changes: ChangesBody | None = None


class ApplyBody(Body):
    """`judge_errors`: also where the judge failed on submissions that had a verdict.

    `version`: only if the difference in this contest still is that version of it.
    """

    judge_errors: bool = False
    version: str | None = Field(
        None, pattern=describe_pattern(difference.VERSION.pattern, Message(N_("the version of a difference")))
    )


def with_rule(
    session: Session, contest_id: str, body: RejudgingBody, rule: Rule, account_id: str | None
) -> RejudgingView:
    """Open a rejudging that changes a problem's rule; raises BadRequest where more than the problem is selected."""
    if body.problem is None or body.team is not None or body.submissions is not None:
        raise BadRequest(
            N_("expected a problem beside them and nothing else selected, for a rule is everybody's"), where="changes"
        )
    row = entry_of(session, contest_id, body.problem)

    def write() -> None:
        row.rule = rule

    made = change(session, body.problem, write, Author(account_id, body.reason), contest_id=contest_id)
    if not isinstance(made, RejudgingView):
        raise BadRequest(
            N_("expected another rule, in a problem with submissions; found no difference"), where="changes.rule"
        )
    return made


def selection_of(session: Session, contest_id: str, body: RejudgingBody) -> Selection:
    """The selected submissions; raises BadRequest naming unknown problems, teams and submissions."""
    if body.problem is not None and contests_queries.entry(session, contest_id, body.problem) is None:
        raise BadRequest(
            N_("expected a problem of contest %(contest)s, found %(found)r"),
            where="problem",
            contest=contest_id,
            found=body.problem,
        )
    if body.team is not None and teams_queries.get(session, body.team) is None:
        raise BadRequest(N_("expected a team, found %(found)r"), where="team", found=body.team)
    if body.submissions is None:
        return Selection(body.problem, body.team)
    rows = {each: submission_queries.submission(session, contest_id, each) for each in body.submissions}
    if unknown := [each for each, row in rows.items() if row is None]:
        raise BadRequest(
            N_("expected submissions of contest %(contest)s, found %(found)s"),
            where="submissions",
            contest=contest_id,
            found=", ".join(unknown[:20]),
        )
    ids = {row.id: each for each, row in rows.items() if row is not None}
    return Selection(body.problem, body.team, ids)


def rejudging_of(session: Session, contest_id: str, rejudging_id: str) -> RejudgingRow:
    """The rejudging of the path; raises NotFound."""
    contest_of(session, contest_id)
    row = rejudgings.get(session, contest_id, as_id(rejudging_id) or 0)
    if row is None:
        raise NotFound(
            N_("no rejudging %(rejudging)r in contest %(contest)r"), rejudging=rejudging_id, contest=contest_id
        )
    return row


def came_after_rejudging(row: RejudgingRow, since: str | None) -> Callable[[SubmissionRow], bool]:
    """Tell which submissions came after a version of the difference; without one, after the rejudging was opened."""
    if since is None:
        return lambda submission: submission.time > row.created
    last = difference.last_submission(since)
    if last is None:
        raise BadRequest(N_("expected the version of a difference, found %(found)r"), where="since", found=since[:80])
    return lambda submission: submission.id > last


def do(
    service: Service,
    viewer: Viewer,
    contest_id: str,
    rejudging_id: str,
    deed: Callable[[Session, RejudgingRow], None],
    *,
    silent: bool = False,
) -> RejudgingView:
    """Run an act on the rejudging in one transaction, and tell the boards of every contest it concerns."""
    with service.database.write() as session:
        row = rejudging_steps.lock(session, rejudging_of(session, contest_id, rejudging_id).id)
        refuse_foreign_contests(viewer, contests_of(row))
        deed(session, row)
        made = shown(session, row)
    for each in [] if silent else made.contests:
        service.boards.changed(each)
    return made

"""Taking submissions: the call that must never lose one. A submission is durable before the call returns."""

from __future__ import annotations

import logging
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog
from anyio.to_thread import run_sync

from app.accounts.service.viewer import Viewer
from app.core import tracing
from app.core.clics import format_time
from app.core.errors import Conflict
from app.core.messages import N_
from app.core.service import Service
from app.submissions.queries import judgements, submission_queries, submissions
from app.submissions.queries.submission_context import read_entrant, read_entry
from app.submissions.queries.submissions import Accepted, NewSubmission
from app.submissions.queries.usage import LimitReached
from app.submissions.service.admission import admit, check_brought, check_may_submit, check_new, refuse_played
from app.submissions.service.storing import StoredFiles, over_limit, prepare
from app.submissions.service.submission_form import SubmissionForm
from app.submissions.service.submissions import Submission, view

NAME = "jurado.submissions"
STANDARD_LOG = logging.getLogger(NAME)  # which knows its level without a look through structlog's proxies
log: structlog.stdlib.BoundLogger = structlog.get_logger(NAME)
# The body of a request: read when it is entered, and its files gone when it is left.
OpeningForm = AbstractAsyncContextManager[SubmissionForm]


@dataclass(frozen=True, slots=True)
class BroughtIn:
    """A submission of another system; `is_new` False: it was there already."""

    submission: Submission
    is_new: bool


async def submit(
    service: Service, viewer: Viewer, contest_id: str, opening: OpeningForm, key: str | None = None
) -> Submission:
    """Take a submission, durable when this returns; an Idempotency-Key that is known gives the first one back.

    Raises the refusal: of the sender, of the contest, of its files, or of the team's limits.
    """
    if key is not None and (first := await run_sync(_repeated, service, viewer, contest_id, key)) is not None:
        return first
    await check_may_submit(service, viewer, contest_id)  # before anything is read of the body
    async with opening as form:
        check_new(viewer, form)
        async with service.gate.passed((contest_id, form.problem_id)):
            admitted = await admit(service, viewer, contest_id, form)
            refuse_played(admitted)
            files = StoredFiles(service)
            new = await prepare(service, admitted, files, key)
            outcome = await _write(service, new)
    if isinstance(outcome, LimitReached):
        await files.refuse()
        raise over_limit(outcome, new.time)
    if outcome.judgement_id is not None:
        _wake(service, new, outcome)
        service.boards.changed(contest_id, outcome.submission_id)
    if outcome.repeated:
        return await run_sync(_first_of, service, viewer, new)
    return view(str(outcome.submission_id), new, practice=admitted.is_practice)


async def bring_in(
    service: Service, viewer: Viewer, contest_id: str, submission_id: str, opening: OpeningForm
) -> BroughtIn:
    """Store a submission that another system took, with its id and its time; the same again changes nothing.

    Raises Conflict where another submission has the id.
    """
    async with opening as form:
        check_brought(viewer, form, submission_id)
        async with service.gate.passed((contest_id, form.problem_id)):
            admitted = await admit(service, viewer, contest_id, form)
            new = replace(await prepare(service, admitted, StoredFiles(service)), external_id=submission_id)
            submission = view(submission_id, new, practice=admitted.is_practice)
            if await run_sync(_is_stored, service, new):
                return BroughtIn(submission, is_new=False)
            outcome = await _write(service, new)
    assert not isinstance(outcome, LimitReached)  # an admin has none
    if outcome.judgement_id is not None:
        _wake(service, new, outcome)
        service.boards.changed(contest_id)
    return BroughtIn(submission, is_new=True)


async def _write(service: Service, new: NewSubmission) -> Accepted | LimitReached:
    """Insert it. After a failure its files stay for the collector, as the commit may be in doubt."""
    with tracing.span("commit"):
        return await service.writer.call(submissions.accept, new)


def _wake(service: Service, new: NewSubmission, outcome: Accepted) -> None:
    """Tell the engine of a submission's judgement, and of those that open rejudgings make of it."""
    assert outcome.judgement_id is not None  # the caller has looked
    if STANDARD_LOG.isEnabledFor(logging.DEBUG):
        log.debug("submission taken", submission_id=outcome.submission_id, judgement_id=outcome.judgement_id)
    tracing.tell(submission_id=outcome.submission_id, judgement_id=outcome.judgement_id)
    service.engine.wake(outcome.judgement_id, judgements.payer(new.team_id, new.account_id))
    if outcome.again:
        service.engine.wake_again(outcome.again)


def _first_of(service: Service, viewer: Viewer, new: NewSubmission) -> Submission:
    """The submission that the insert met under the same Idempotency-Key."""
    assert new.idempotency_key is not None  # nothing else can repeat
    first = _repeated(service, viewer, new.contest_id, new.idempotency_key)
    assert first is not None  # it was written in an earlier transaction, or in the same one
    return first


def _repeated(service: Service, viewer: Viewer, contest_id: str, key: str) -> Submission | None:
    """The submission that was made with the same Idempotency-Key; None for a new key."""
    assert viewer.account_id is not None  # submitting needs an account
    with service.database.read() as session:
        row = submission_queries.find_repeated(session, viewer.account_id, contest_id, key)
        if row is None:
            return None
        entry = read_entry(session, contest_id, row.problem_id)
        entrant = None if entry is None else read_entrant(session, entry, row.team_id or "")
        late = entrant is not None and timedelta(milliseconds=row.contest_time_ms) >= entrant.clock.duration
        return view(row.shown_id, row, practice=late)


def _is_stored(service: Service, new: NewSubmission) -> bool:
    """Whether the submission is stored already. Raises Conflict where another one has its id."""
    assert new.external_id is not None  # PUT has one
    with service.database.read() as session:
        row = submission_queries.by_external_id(session, new.contest_id, new.external_id)
        if row is None:
            return False
        stored, sent = [(each.problem_id, each.team_id, format_time(each.time)) for each in (row, new)]
        if stored != sent or not submissions.same_answers(session, row, new.answers):
            raise Conflict(
                N_("there is a submission %(submission)r already, and it is another one"),
                where="id",
                submission=new.external_id,
            )
        return True

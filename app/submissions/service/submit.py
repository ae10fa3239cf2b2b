"""Accept submissions: `submit` is the path. A submission is durable before it returns (guarantee 1).

- Storing what a submission brings: files sorted to cases, within limits and bytes. Files of a refused one
  are collected later (`app.archive.queries.scrub`).
"""

import logging
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from io import SEEK_END
from math import ceil

import structlog
from anyio.to_thread import run_sync

from app.accounts.service.viewer import Viewer
from app.core import telemetry
from app.core.clics import format_time
from app.core.json_documents import SourceDocument
from app.core.load import run_heavy
from app.core.messages import N_, Conflict, ServiceError, TooLarge, TooManyRequests
from app.core.service import Service
from app.judging.queries.judging_tasks import too_large
from app.submissions.queries import submission_queries, submissions
from app.submissions.queries.submission_context import read_entrant, read_entry
from app.submissions.queries.submissions import INLINE_LIMIT, Accepted, NewAnswer, NewSubmission
from app.submissions.queries.usage import Allowance, Claim, LimitReached, Usage
from app.submissions.service.admission import Admitted, admit, check_brought, check_may_submit, check_new, refuse_played
from app.submissions.service.answer_files import Answer, Collected, collect
from app.submissions.service.archives import Limits as ArchiveLimits
from app.submissions.service.archives import Upload, UploadRefused, check_name
from app.submissions.service.submission_form import Submission, SubmissionForm, view

NAME = "jurado.submissions"
STANDARD_LOG = logging.getLogger(NAME)  # which knows its level without a look through structlog's proxies
log: structlog.stdlib.BoundLogger = structlog.get_logger(NAME)
# The body of a request: read when it is entered, and its files gone when it is left.
OpeningForm = AbstractAsyncContextManager[SubmissionForm]


async def submit(
    service: Service, viewer: Viewer, contest_id: str, opening: OpeningForm, key: str | None = None
) -> Submission:
    """Take a submission, durable when this returns; an Idempotency-Key that is known gives the first one back.

    Raises the refusal: of the sender, of the contest, of its files, or of the team's limits.
    """
    try:
        return await _submit(service, viewer, contest_id, opening, key)
    except ServiceError:  # a repeated request is not refused, whatever has changed since
        if key is None or viewer.account_id is None:
            raise
        if (first := await run_sync(_repeated, service, viewer, contest_id, key)) is None:
            raise
        return first


async def _submit(
    service: Service, viewer: Viewer, contest_id: str, opening: OpeningForm, key: str | None
) -> Submission:
    await check_may_submit(service, viewer, contest_id)  # before anything is read of the body
    async with opening as form:
        check_new(viewer, form)
        admitted = await admit(service, viewer, contest_id, form)
        refuse_played(admitted)
        new = await prepare(service, admitted, key)
        outcome = await _write(service, new)
    if isinstance(outcome, LimitReached):
        raise over_limit(outcome, new.time)
    if outcome.repeated:
        first = await run_sync(_repeated, service, viewer, contest_id, key or "")
        assert first is not None  # it was written in an earlier transaction, or in the same one
        return first
    _wake(service, outcome)
    service.boards.changed(contest_id, outcome.submission_id)
    return view(str(outcome.submission_id), new, practice=admitted.is_practice)


async def bring_in(
    service: Service, viewer: Viewer, contest_id: str, submission_id: str, opening: OpeningForm
) -> tuple[Submission, bool]:
    """Store a submission that another system took, with its id and its time; returns whether it is new.

    Raises Conflict where another submission has the id.
    """
    async with opening as form:
        check_brought(viewer, form, submission_id)
        admitted = await admit(service, viewer, contest_id, form)
        new = replace(await prepare(service, admitted), external_id=submission_id)
        submission = view(submission_id, new, practice=admitted.is_practice)
        if await run_sync(_is_stored, service, new):
            return submission, False
        outcome = await _write(service, new)
    assert not isinstance(outcome, LimitReached)  # an admin has none
    if outcome.judgement_id is not None:
        _wake(service, outcome)
        service.boards.changed(contest_id)
    return submission, True


async def _write(service: Service, new: NewSubmission) -> Accepted | LimitReached:
    """Insert it. After a failure its files stay for the collector, as the commit may be in doubt."""
    with telemetry.span("commit"):
        return await service.writer.call(submissions.accept, new)


def _wake(service: Service, outcome: Accepted) -> None:
    """Tell the engine of a submission's judgement."""
    assert outcome.judgement_id is not None  # the caller has looked
    if STANDARD_LOG.isEnabledFor(logging.DEBUG):
        log.debug("submission taken", submission_id=outcome.submission_id, judgement_id=outcome.judgement_id)
    telemetry.tell(submission_id=outcome.submission_id, judgement_id=outcome.judgement_id)
    service.engine.wake()


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


def store_answer(service: Service, answer: Answer) -> NewAnswer:
    """Store an answer: in its row, or as a file where it is large."""
    case = answer.case
    if answer.data is None:
        return NewAnswer(case.id, answer.file_name, answer.size, refused=too_large(case.limit))
    if answer.size > INLINE_LIMIT:
        return NewAnswer(case.id, answer.file_name, answer.size, service.files.keep(answer.data))
    return NewAnswer(case.id, answer.file_name, answer.size, None, answer.data)


def _store_source(service: Service, source: Upload) -> SourceDocument:
    """Store a source, as a file."""
    source.stream.seek(0)
    data = source.stream.read()
    return {"name": source.name, "size": len(data), "sha256": service.files.keep(data)}


def refuse_full(service: Service, admitted: Admitted) -> None:
    """Raise TooLarge where the team has sent all the bytes it may, or all teams together have.

    A game that has begun ends as a submission whatever the size of its transcript: there is room, or it never begins.
    """
    entry, settings = admitted.entry, admitted.entry.settings
    most = Allowance(None, settings.team_bytes, settings.contest_bytes, service.database.generation)
    place = (entry.contest_id, admitted.team_id, entry.problem_id)
    _check_limits(service, Claim(*place, admitted.when, 1, allowance=most))


async def prepare(service: Service, admitted: Admitted, key: str | None = None) -> NewSubmission:
    """Sort the files to cases and store the large ones, so that one insert is left; quick ones change no threads."""
    if admitted.form.is_light:
        return _prepared(service, admitted, key)
    lane = "network" if service.files.is_slow else "work"
    return await run_heavy(lambda: _prepared(service, admitted, key), lane)


def _prepared(service: Service, admitted: Admitted, key: str | None) -> NewSubmission:
    viewer, entry, sources = admitted.viewer, admitted.entry, admitted.form.sources
    collected, allowance = _collect(service, admitted), None
    if admitted.is_own:  # no one else's submissions take of what the team may have
        settings, most = entry.settings, service.settings.most_unjudged
        allowance = Allowance(most, settings.team_bytes, settings.contest_bytes, service.database.generation)
    sizes = [len(each.data or b"") for each in collected.answers.values()]
    if sources or max(sizes, default=0) > INLINE_LIMIT:
        size = sum(sizes) + sum(each.stream.seek(0, SEEK_END) for each in sources)
        place = (entry.contest_id, admitted.team_id, entry.problem_id)
        _check_limits(service, Claim(*place, admitted.when, size, admitted.limits, allowance))
    assert viewer.account_id is not None  # submitting needs an account
    answers = [store_answer(service, each) for each in collected.answers.values()]
    notes = [_store_source(service, each) for each in sources]
    return NewSubmission(
        entry.contest_id,
        entry.problem_id,
        admitted.team_id,
        viewer.account_id,
        admitted.when,
        admitted.contest_time_ms,
        answers,
        collected.notes,
        notes,
        admitted.form.comment,
        key,
        limits=admitted.limits,
        allowance=allowance,
    )


def _check_limits(service: Service, claim: Claim) -> None:
    """Refuse before files are written what the insert would refuse: there it is decided, here disk is spared."""
    with service.database.read() as session:
        refused = Usage(session.connection(), [claim]).refusal(claim)
    if refused is not None:
        raise over_limit(refused, claim.time)


def over_limit(refused: LimitReached, when: datetime) -> TooManyRequests | TooLarge:
    """The error of a submission that a limit refuses."""
    if refused.too_large:
        return TooLarge(refused.message)
    wait = None if refused.again is None else ceil((refused.again - when).total_seconds())
    return TooManyRequests(refused.message, wait)


def _collect(service: Service, admitted: Admitted) -> Collected:
    settings, form, entry = service.settings, admitted.form, admitted.entry
    limits = ArchiveLimits(settings.max_inflated, settings.max_archive_files, settings.max_ratio)
    cases, names = entry.all_cases, entry.all_names
    if not admitted.viewer.manages:
        cases, names = entry.open_cases(admitted.entrant, admitted.when)
    try:
        for source in form.sources:
            check_name(source)
        return collect(form.uploads, cases, names, limits, testcase=form.testcase)
    except UploadRefused as refused:
        if refused.too_large:
            raise TooLarge(refused.message) from None
        raise

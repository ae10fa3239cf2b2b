"""Taking submissions: the route that must never lose one. The answer is durable before the reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from math import ceil
from typing import Any

from anyio.to_thread import run_sync

from app.domain.clock import utc_now
from app.domain.limits import NO_LIMITS, Limits, quota, why_not
from app.domain.participation import ParticipationKind
from app.grading.answer_files import Collected, OpenCase, collect, file_names
from app.grading.archives import Limits as ArchiveLimits
from app.grading.archives import UploadRefused, check_name
from app.service import Service
from app.services import clics
from app.services.bodies import same_id
from app.services.contests.capabilities import capabilities
from app.services.contests.changes import why_not_running
from app.services.contests.not_begun import not_begun, own_clock_not_begun
from app.services.errors import BadRequest, Conflict, Forbidden, NotFound, ServiceError, TooLarge, TooManyRequests
from app.services.heavy import run_heavy
from app.services.names import NoContest, problem_called, snapshot_for
from app.services.submissions.storing import Keeping, keeps_files, size_of, team_bytes
from app.services.submissions.submission_form import Parcel
from app.services.viewer import Viewer
from app.services.visibility import unknown_problem
from app.storage import contests, submissions
from app.storage.ids import is_number
from app.storage.submission_context import Entrant, Entry, read_entrant, read_entry
from app.storage.submissions import Accepted, LimitReached, NewSubmission


async def write(service: Service, new: NewSubmission, keeping: Keeping) -> Accepted | LimitReached:
    """Have it written. What fails is not counted; its files stay for the collector, as a commit may be in doubt."""
    try:
        return await service.writer.call(submissions.accept, new)
    except BaseException:
        keeping.give_back()
        raise


@contextmanager
def room(service: Service, viewer: Viewer) -> Iterator[None]:
    """Count a team's submission as one that waits until the engine counts it; raises TooManyRequests at the most."""
    team_id, most = viewer.team_id, service.settings.most_unjudged
    if team_id is None:  # an admin, or staff: whoever acts for a team takes nothing of what it may do itself
        yield
        return
    if not service.engine.reserve(team_id, most):
        raise TooManyRequests(f"your team has {most} submissions that are not judged yet: send the next ones later", 1)
    try:
        yield
    finally:
        service.engine.release(team_id)


def wake(service: Service, team_id: str | None, accepted: Accepted) -> None:
    """Tell the engine of a submission's judgement, and of those that open rejudgings make of it."""
    assert accepted.judgement_id is not None  # the caller has looked
    service.engine.wake(accepted.judgement_id, team_id or "")
    service.engine.wake_again(accepted.again)


def check_sender(viewer: Viewer, parcel: Parcel) -> None:
    """Raise BadRequest for what only an admin may say, and for an account that is not the sender's."""
    if parcel.contest_time is not None and (parcel.time is None or not viewer.is_admin):
        raise BadRequest("contest_time: expected none (the server sets it), found one")
    if parcel.account_id not in {None, viewer.account_id}:
        raise BadRequest(f"account_id: expected none (it is the sender's), found {parcel.account_id!r}")


def check_id(parcel: Parcel, submission_id: str) -> None:
    """Raise where an id of another system and a time do not go together."""
    if parcel.id is None:
        raise BadRequest("id: expected the id of the address, found nothing")
    same_id(submission_id, parcel.id)
    if is_number(submission_id):
        raise BadRequest(f"id: expected one with a letter in it (numbers are given by us), found {submission_id!r}")
    if parcel.time is None:
        raise BadRequest("time: expected when it was made, found nothing")


def there(service: Service, new: NewSubmission) -> bool:
    """Is the submission there already? Raises Conflict where another one has its id."""
    assert new.external_id is not None  # PUT has one
    with service.database.read() as session:
        row = submissions.by_external_id(session, new.contest_id, new.external_id)
        if row is None:
            return False
        said = [(each.problem_id, each.team_id, clics.format_time(each.time)) for each in (row, new)]
        if said[0] != said[1] or not submissions.same_answers(session, row, new.answers):
            raise Conflict(f"id: there is a submission {new.external_id!r} already, and it is another one")
        return True


async def may_submit(service: Service, viewer: Viewer, contest_id: str) -> None:
    """Raise Forbidden where the viewer may submit for no team."""
    staff = viewer.account_type == "staff" and await run_sync(_staff_may_submit, service, contest_id)
    if not viewer.is_admin and viewer.team_id is None and not staff:
        raise Forbidden("only a team's account or an admin may submit")


def _staff_may_submit(service: Service, contest_id: str) -> bool:
    with service.database.read() as session:
        contest = contests.get(session, contest_id)
        return contest is not None and bool(contest.settings.get("staff_act_for_teams"))


async def check(
    service: Service, viewer: Viewer, contest_id: str, parcel: Parcel, key: str | None
) -> tuple[NewSubmission, bool, Keeping]:
    """Hold the parcel against the contest and sort its files; what is left is one insert. And: is it for practice?"""
    entry = await _entry(service, viewer, contest_id, parcel.problem_id)
    now = utc_now()
    team_id = _submitting_team(viewer, parcel, entry)
    entrant = await run_sync(_entrant, service, entry, team_id) if entry.asks_the_team else Entrant(entry.clock)
    when = _submission_time(viewer, parcel, entry, entrant, now)
    time = entrant.clock.contest_time(when) if parcel.contest_time is None else parcel.contest_time
    practice = time >= entrant.clock.duration
    if entry.final and not practice and not _is_virtual(entrant):
        raise Forbidden("the contest is final: nothing that counts can be submitted any more")
    limits = replace(entry.limits, most=None) if practice else entry.limits
    if viewer.team_id != team_id:
        limits = NO_LIMITS  # whoever acts for a team takes nothing of what it may do itself
    sent = Sent(viewer, parcel, key, team_id, when, _milliseconds(time), entrant, limits)
    keeping = Keeping(service, contest_id, team_id)
    quick = viewer.team_id != team_id or service.entries.usage.is_known(contest_id, team_id)
    if parcel.is_light and quick and not parcel.sources:
        return _prepare(service, entry, sent, keeping), practice, keeping
    return await run_heavy(lambda: _prepare(service, entry, sent, keeping)), practice, keeping


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent by whom, for which team, and when it counts as made; as it was found to be allowed."""

    viewer: Viewer
    parcel: Parcel
    key: str | None
    team_id: str
    when: datetime
    contest_time_ms: int
    entrant: Entrant
    limits: Limits


def _entrant(service: Service, entry: Entry, team_id: str) -> Entrant:
    with service.database.read() as session:
        return read_entrant(session, entry, team_id)


async def _entry(service: Service, viewer: Viewer, contest_id: str, problem_id: str) -> Entry:
    """The contest's problem, read again only after an admin has changed something."""
    entry = await _read_entry(service, contest_id, problem_id)
    if entry is None:
        snapshot = await snapshot_for(service.boards, viewer, contest_id)
        if snapshot is None:
            raise NoContest(contest_id)
        entry = await _read_entry(service, contest_id, problem_called(snapshot, problem_id))
        if entry is None:
            raise unknown_problem(snapshot, problem_id)
    if not (viewer.sees_all or entry.clock.started(now := utc_now())):
        raise NotFound(not_begun(entry.clock, now))
    return entry


async def _read_entry(service: Service, contest_id: str, problem_id: str) -> Entry | None:
    known = service.entries.known(contest_id, problem_id)
    return known or await run_sync(service.entries.read, contest_id, problem_id)


def _submitting_team(viewer: Viewer, parcel: Parcel, entry: Entry) -> str:
    """The team the submission is for; raises where the viewer may not submit for it."""
    if "proxy_submit" in capabilities(viewer, entry.settings, takes_part=True):
        if parcel.team_id is None:
            who = "an admin" if viewer.is_admin else "staff"
            raise BadRequest(
                f"team_id: expected the team of contest {entry.contest_id} that is submitted for, found nothing "
                f"(this account is in no team of its own here: {who} submits for teams)"
            )
        if parcel.team_id not in entry.teams:
            raise BadRequest(f"team_id: expected a team of contest {entry.contest_id}, found {parcel.team_id!r}")
        return parcel.team_id
    if viewer.team_id is None:
        raise Forbidden("only a team's account or an admin may submit")
    if parcel.team_id not in {None, viewer.team_id}:
        raise Forbidden("a team may submit only for itself")
    if viewer.team_id not in entry.teams:
        raise Forbidden(f"your team does not take part in contest {entry.contest_id}")
    return viewer.team_id


def _submission_time(viewer: Viewer, parcel: Parcel, entry: Entry, entrant: Entrant, now: datetime) -> datetime:
    """When it counts as made: now, or the time an admin gives. Raises where nothing may be sent now."""
    if parcel.time is not None:
        if not viewer.is_admin:
            raise BadRequest("time: expected none (the server sets it), found one")
        return parcel.time
    if viewer.is_admin or (entry.settings.get("practice") and entry.clock.decided(now)):
        return now
    if entry.personal is not None and entrant.participation is None and not entry.clock.ended(now):
        # As before the start: a team that has not begun knows of no problems.
        raise NotFound(own_clock_not_begun())
    if not entrant.clock.running(now):
        if entrant.clock.ended(now) and entry.clock.running(now):
            raise Forbidden("your team's own time is over")
        raise Forbidden(why_not_running(entry.clock, now))
    return now


def _is_virtual(entrant: Entrant) -> bool:
    return entrant.participation is not None and entrant.participation.kind is ParticipationKind.VIRTUAL


def _prepare(service: Service, entry: Entry, sent: Sent, keeping: Keeping) -> NewSubmission:
    """Sort the files to cases and keep the large ones, once the team's limits leave room for them."""
    collected, sources = _collect(service, entry, sent), sent.parcel.sources
    if sent.limits and keeps_files(collected, sources):
        _look_at_limits(service, entry, sent)
    if sent.viewer.team_id == sent.team_id and (most := team_bytes(entry)) is not None:
        keeping.reserve(size_of(collected, sources), most)
    assert sent.viewer.account_id is not None  # submitting needs an account
    with keeping:
        answers, kept_sources = [*map(keeping.answer, collected.answers.values())], keeping.sources(sources)
    return NewSubmission(
        entry.contest_id,
        entry.problem_id,
        sent.team_id,
        sent.viewer.account_id,
        sent.when,
        sent.contest_time_ms,
        answers,
        [note.as_json() for note in collected.notes],
        kept_sources,
        sent.parcel.comment,
        sent.key,
        limits=sent.limits,
    )


def _look_at_limits(service: Service, entry: Entry, sent: Sent) -> None:
    """Refuse before files are written what the insert would refuse: there it is decided, here disk is spared."""
    with service.database.read() as session:
        times = submissions.counted_times(session, entry.contest_id, sent.team_id, entry.problem_id)
    found = quota(sent.limits, times, sent.when)
    if not found.allows(sent.when):
        again = None if found.exhausted or found.next is None else ceil((found.next - sent.when).total_seconds())
        raise TooManyRequests(why_not(sent.limits, found, sent.when), again)


def _milliseconds(duration: timedelta) -> int:
    return round(duration.total_seconds() * 1000)


def _collect(service: Service, entry: Entry, sent: Sent) -> Collected:
    settings, parcel = service.settings, sent.parcel
    limits = ArchiveLimits(settings.max_inflated, settings.max_archive_files, settings.max_ratio)
    now = utc_now()
    open_ = [*entry.cases, *entry.final_cases] if sent.viewer.is_admin else entry.open_cases(sent.entrant, now)
    cases, names = _open_cases(tuple(open_), entry.limit, entry.pattern)
    try:
        for source in parcel.sources:
            check_name(source)
        return collect(parcel.uploads, cases, names, limits, testcase=parcel.testcase)
    except UploadRefused as refused:
        kind: type[ServiceError] = TooLarge if refused.status == 413 else BadRequest
        raise kind(refused.message) from None


@lru_cache(maxsize=256)
def _open_cases(
    cases: tuple[tuple[int, str], ...], limit: int, pattern: str | None
) -> tuple[list[OpenCase], Mapping[str, OpenCase]]:
    """The cases as sorting needs them, with the file names each is known by; the same for thousands of submissions."""
    found = [OpenCase(id_, name, limit) for id_, name in cases]
    return found, file_names(found, pattern)


def repeated(service: Service, viewer: Viewer, contest_id: str, key: str) -> dict[str, Any] | None:
    """The reply that was given to the same Idempotency-Key; None for a new one."""
    assert viewer.account_id is not None  # submitting needs an account
    with service.database.read() as session:
        row = submissions.find_repeated(session, viewer.account_id, contest_id, key)
        if row is None:
            return None
        entry = read_entry(session, contest_id, row.problem_id)
        entrant = None if entry is None else read_entrant(session, entry, row.team_id or "")
        late = entrant is not None and timedelta(milliseconds=row.contest_time_ms) >= entrant.clock.duration
        return clics.submission_json(row.shown_id, contest_id, row, practice=late)

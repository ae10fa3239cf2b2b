"""Storing what a submission brings: files sorted to cases, within limits and bytes; a refused one leaves none."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import Self

from anyio.to_thread import run_sync

from app.contests.schemas.settings import ContestSettings
from app.core.errors import TooLarge, TooManyRequests
from app.core.files.files import Kept
from app.core.json_documents import SourceDocument
from app.core.load import run_heavy
from app.core.messages import N_
from app.core.service import Service
from app.domain.participation import limited, quota, times_needed
from app.judging.queries.judging_tasks import too_large
from app.submissions.queries import submissions
from app.submissions.queries.submissions import INLINE_LIMIT, NewAnswer, NewSubmission
from app.submissions.queries.usage import Allowance
from app.submissions.service.admission import Admitted
from app.submissions.service.answer_files import Answer, Collected, Names, OpenCase, collect, file_names
from app.submissions.service.archives import Limits as ArchiveLimits
from app.submissions.service.archives import Upload, UploadRefused, check_name


@dataclass
class StoredFiles:
    """The files of one submission, those of them that it made, and the bytes reserved for it.

    reserved  bytes counted as the team's; `counted`: bytes counted as the contest's
    """

    service: Service
    contest_id: str
    team_id: str
    reserved: int = 0
    counted: int = 0
    made: list[Kept] = field(default_factory=list)
    names: dict[bytes, str] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Store files; a failure half way leaves none."""
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Take back what was made before a failure."""
        if error is not None:
            self.give_back()
            self._take_back()

    def reserve(self, size: int, settings: ContestSettings, *, is_own: bool) -> None:
        """Count the submission's bytes as the contest's and the team's.

        Raises TooLarge where they are too many, but for those who act for a team.
        """
        usage = self.service.entries.usage
        if (most := settings.team_bytes) is not None:
            used = usage.reserve(self.contest_id, self.team_id, size, most if is_own else None)
            if used is not None:
                raise TooLarge(submissions.too_many_bytes(self.contest_id, most, used, size))
            self.reserved = size
        if not usage.reserve_total(self.contest_id, size, settings.contest_bytes if is_own else None):
            self.give_back()
            # The bytes used stay unsaid: teams could tell from them what hidden teams send.
            raise TooLarge(
                N_(
                    "expected at most %(most)s bytes of all teams together in contest %(contest)s, found "
                    "more with the %(size)s of this submission"
                ),
                most=settings.contest_bytes,
                contest=self.contest_id,
                size=size,
            )
        self.counted = size

    def answer(self, answer: Answer) -> NewAnswer:
        """Store an answer: in its row, or as a file where it is large."""
        case = answer.case
        if answer.data is None:
            return NewAnswer(case.id, answer.file_name, answer.size, refused=too_large(case.limit))
        if answer.size > INLINE_LIMIT:
            return NewAnswer(case.id, answer.file_name, answer.size, self._file(answer.data))
        return NewAnswer(case.id, answer.file_name, answer.size, None, answer.data)

    def sources(self, sources: Sequence[Upload]) -> list[SourceDocument]:
        """Store the sources, as files."""
        notes: list[SourceDocument] = []
        for source in sources:
            source.stream.seek(0)
            data = source.stream.read()
            notes.append({"name": source.name, "size": len(data), "sha256": self._file(data)})
        return notes

    def give_back(self) -> None:
        """Give the reserved bytes back: the submission was refused, or was stored already."""
        usage = self.service.entries.usage
        usage.release(self.contest_id, self.team_id, self.reserved)
        usage.release_total(self.contest_id, self.counted)
        self.reserved = self.counted = 0

    def settle(self, committed: Future[bool]) -> None:
        """Give the bytes of a commit in doubt back once it is known to be undone."""
        if not committed.result():
            usage = self.service.entries.usage
            usage.read_again(self.contest_id, self.team_id)
            usage.release_total(self.contest_id, self.counted)

    async def refuse(self) -> None:
        """Take back all files of a submission that its limits refused, unless others have stored them too."""
        self.give_back()
        if self.made:
            await run_sync(self._take_back)

    def _take_back(self) -> None:
        for made in self.made:
            self.service.files.take_back(made)

    def _file(self, data: bytes) -> str:
        # The same bytes twice in a submission are stored once: the second time would look like somebody else's.
        if data not in self.names:
            stored = self.service.files.put(data)
            self.names[data] = stored.sha256
            if stored.made is not None:
                self.made.append(stored)
        return self.names[data]


async def refuse_full(service: Service, admitted: Admitted) -> None:
    """Raise TooLarge where the team has sent all the bytes it may, or all teams together have.

    A game that has begun ends as a submission whatever the size of its transcript: there is room, or it never begins.
    """
    if service.entries.usage.is_known(admitted.entry.contest_id, _limited_team(admitted)):
        _check_room(service, admitted)
    else:
        await run_sync(_check_room, service, admitted)


def _check_room(service: Service, admitted: Admitted) -> None:
    usage, settings, contest_id = service.entries.usage, admitted.entry.settings, admitted.entry.contest_id
    most, of_all = settings.team_bytes, settings.contest_bytes
    used = None if most is None else usage.reserve(contest_id, admitted.team_id, 0, most - 1)
    if used is not None:
        raise TooLarge(
            N_("expected less than %(most)s bytes of a team in contest %(contest)s when a game begins, found %(used)s"),
            most=most,
            contest=contest_id,
            used=used,
        )
    if of_all is not None and not usage.reserve_total(contest_id, 0, of_all - 1):
        raise TooLarge(
            N_(
                "expected less than %(most)s bytes of all teams together in contest %(contest)s when a game begins, "
                "found as many"
            ),
            most=of_all,
            contest=contest_id,
        )


def _limited_team(admitted: Admitted) -> str | None:
    """The team whose bytes are counted; None where there is no limit to them."""
    return None if admitted.entry.settings.team_bytes is None else admitted.team_id


async def prepare(service: Service, admitted: Admitted, files: StoredFiles, key: str | None = None) -> NewSubmission:
    """Sort the files to cases and store the large ones, so that one insert is left; quick ones change no threads."""
    is_counted = service.entries.usage.is_known(files.contest_id, _limited_team(admitted))
    is_light = admitted.form.is_light and is_counted and not admitted.form.sources
    waits = service.files.is_slow and not (is_light and admitted.form.is_small)
    if is_light and not waits:
        return _prepared(service, admitted, files, key)
    return await run_heavy(lambda: _prepared(service, admitted, files, key), waits=waits)


def _prepared(service: Service, admitted: Admitted, files: StoredFiles, key: str | None) -> NewSubmission:
    viewer, entry, sources = admitted.viewer, admitted.entry, admitted.form.sources
    collected = _collect(service, admitted)
    if limited(admitted.limits) and _makes_files(collected, sources):
        _check_limits(service, admitted)
    files.reserve(_size_of(collected, sources), entry.settings, is_own=admitted.is_own)
    assert viewer.account_id is not None  # submitting needs an account
    with files:
        answers, notes = [*map(files.answer, collected.answers.values())], files.sources(sources)
    return NewSubmission(
        entry.contest_id,
        entry.problem_id,
        admitted.team_id,
        viewer.account_id,
        admitted.when,
        admitted.contest_time_ms,
        answers,
        [note.as_json() for note in collected.notes],
        notes,
        admitted.form.comment,
        key,
        limits=admitted.limits,
        allowance=_allowance(service, admitted),
    )


def _allowance(service: Service, admitted: Admitted) -> Allowance | None:
    """What the team may have in all processes together; None where this one counts it.

    Where somebody else sends for it, all it wants, but under its lock: what it sends itself is counted from there on.
    """
    if not service.settings.distributed:
        return None
    contest_id, team_id, generation = admitted.entry.contest_id, admitted.team_id, service.database.generation
    if not admitted.is_own:
        return Allowance(contest_id, team_id, None, None, generation)
    most = service.settings.most_unjudged
    return Allowance(contest_id, team_id, most, admitted.entry.settings.team_bytes, generation)


def _check_limits(service: Service, admitted: Admitted) -> None:
    """Refuse before files are written what the insert would refuse: there it is decided, here disk is spared."""
    entry, when = admitted.entry, admitted.when
    with service.database.read() as session:
        place = (entry.contest_id, admitted.team_id, entry.problem_id)
        times = submissions.counted_times(session, *place, times_needed(admitted.limits))
    used = quota(admitted.limits, times, when)
    if not used.allows(when):
        again = None if used.exhausted or used.next is None else ceil((used.next - when).total_seconds())
        raise TooManyRequests(submissions.why_not(admitted.limits, used, when), again)


def _collect(service: Service, admitted: Admitted) -> Collected:
    settings, form, entry = service.settings, admitted.form, admitted.entry
    limits = ArchiveLimits(settings.max_inflated, settings.max_archive_files, settings.max_ratio)
    is_admin = admitted.viewer.manages
    open_ = [*entry.cases, *entry.final_cases] if is_admin else entry.open_cases(admitted.entrant, admitted.when)
    cases, names = _open_cases(tuple(open_), entry.limit, entry.pattern)
    try:
        for source in form.sources:
            check_name(source)
        return collect(form.uploads, cases, names, limits, testcase=form.testcase)
    except UploadRefused as refused:
        if refused.too_large:
            raise TooLarge(refused.message) from None
        raise


@lru_cache(maxsize=256)
def _open_cases(cases: tuple[tuple[int, str], ...], limit: int, pattern: str | None) -> tuple[list[OpenCase], Names]:
    """The cases as sorting needs them, with the file names each is known by; the same for thousands of submissions."""
    open_ = [OpenCase(id_, name, limit) for id_, name in cases]
    return open_, file_names(open_, pattern)


def _makes_files(collected: Collected, sources: Sequence[Upload]) -> bool:
    """Whether anything would become a file."""
    return bool(sources) or any(each.size > INLINE_LIMIT for each in collected.answers.values() if each.data)


def _size_of(collected: Collected, sources: Sequence[Upload]) -> int:
    """The bytes of answers and sources that would be stored."""
    return sum(len(each.data or b"") for each in collected.answers.values()) + sum(map(_length, sources))


def _length(source: Upload) -> int:
    source.stream.seek(0, 2)
    return source.stream.tell()

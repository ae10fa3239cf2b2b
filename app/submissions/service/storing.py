"""Storing what a submission brings: files sorted to cases, within limits and bytes; a refused one leaves none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from math import ceil
from typing import Self

from anyio.to_thread import run_sync

from app.core.errors import TooLarge, TooManyRequests
from app.core.files.files import Kept
from app.core.json_documents import SourceDocument
from app.core.load import run_heavy
from app.core.messages import N_
from app.core.service import Service
from app.judging.queries.judging_tasks import too_large
from app.submissions.queries.submissions import INLINE_LIMIT, NewAnswer, NewSubmission
from app.submissions.queries.usage import Allowance, Claim, LimitReached, Usage, bytes_used
from app.submissions.service.admission import Admitted
from app.submissions.service.answer_files import Answer, Collected, Names, OpenCase, collect, file_names
from app.submissions.service.archives import Limits as ArchiveLimits
from app.submissions.service.archives import Upload, UploadRefused, check_name


@dataclass
class StoredFiles:
    """The files of one submission, and those of them that it made."""

    service: Service
    made: list[Kept] = field(default_factory=list)
    names: dict[bytes, str] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Store files; a failure half way leaves none."""
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Take back what was made before a failure."""
        if error is not None:
            self._take_back()

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

    async def refuse(self) -> None:
        """Take back all files of a submission that its limits refused, unless others have stored them too."""
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


def refuse_full(service: Service, admitted: Admitted) -> None:
    """Raise TooLarge where the team has sent all the bytes it may, or all teams together have.

    A game that has begun ends as a submission whatever the size of its transcript: there is room, or it never begins.
    """
    settings, contest_id = admitted.entry.settings, admitted.entry.contest_id
    most, of_all = settings.team_bytes, settings.contest_bytes
    with service.database.read() as session:
        used = 0 if most is None else bytes_used(session, contest_id, admitted.team_id)
        used_by_all = 0 if of_all is None else bytes_used(session, contest_id)
    if most is not None and used >= most:
        raise TooLarge(
            N_("expected less than %(most)s bytes of a team in contest %(contest)s when a game begins, found %(used)s"),
            most=most,
            contest=contest_id,
            used=used,
        )
    if of_all is not None and used_by_all >= of_all:
        raise TooLarge(
            N_(
                "expected less than %(most)s bytes of all teams together in contest %(contest)s when a game begins, "
                "found as many"
            ),
            most=of_all,
            contest=contest_id,
        )


async def prepare(service: Service, admitted: Admitted, files: StoredFiles, key: str | None = None) -> NewSubmission:
    """Sort the files to cases and store the large ones, so that one insert is left; quick ones change no threads."""
    is_light = admitted.form.is_light and not admitted.form.sources
    waits = service.files.is_slow and not (is_light and admitted.form.is_small)
    if is_light and not waits:
        return _prepared(service, admitted, files, key)
    return await run_heavy(lambda: _prepared(service, admitted, files, key), waits=waits)


def _prepared(service: Service, admitted: Admitted, files: StoredFiles, key: str | None) -> NewSubmission:
    viewer, entry, sources = admitted.viewer, admitted.entry, admitted.form.sources
    collected, allowance = _collect(service, admitted), _allowance(service, admitted)
    if _makes_files(collected, sources):
        place = (entry.contest_id, admitted.team_id, entry.problem_id)
        size = _size_of(collected, sources)
        _check_limits(service, Claim(*place, admitted.when, size, admitted.limits, allowance))
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
        allowance=allowance,
    )


def _allowance(service: Service, admitted: Admitted) -> Allowance | None:
    """What the team may have; None where someone else submits for it."""
    if not admitted.is_own:
        return None
    settings, most = admitted.entry.settings, service.settings.most_unjudged
    return Allowance(most, settings.team_bytes, settings.contest_bytes, service.database.generation)


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

"""Submissions of a contest package: stored under the ids they had, and queued to be judged here.

They are judged like those of a rejudging, after submissions that someone waits for (guarantee 5).
"""

import hashlib
import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.archive.service import own
from app.archive.service.package_files import Contents, PackageObject
from app.core.clics import ID, format_reltime, parse_reltime, parse_time
from app.core.clock import utc_now
from app.core.db.by_id import as_id, is_number
from app.core.db.database import after_commit
from app.core.faults import FaultList
from app.core.messages import N_, Message
from app.core.service import Service
from app.domain.contests import Clock
from app.judging.queries.judging_tasks import too_large
from app.submissions.queries.submission_context import Entry, read_entry
from app.submissions.queries.submissions import INLINE_LIMIT
from app.submissions.service import answer_files, archives
from app.submissions.tables import REJUDGED
from app.tables import AnswerRow, ContestRow, JudgementRow, SubmissionRow

FILE = "submissions.json"
# Of a number that comes as an id: rows count on from it, and their own numbers are to stay within 18 digits.
MOST_DIGITS = 15
JUMP = 1000


@dataclass
class SubmissionKeeper:
    """Keeps the submissions of one package in one transaction; `faults` gets what is wrong with them."""

    session: Session
    service: Service
    contents: Contents
    account_id: str
    refused: Sequence[own.RefusedAnswer]
    faults: FaultList
    entries: dict[str, Entry | None] = field(default_factory=dict)
    accounts: set[str] = field(init=False)
    refused_of: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        """Collect the accounts here, and the cases of refused answers."""
        self.accounts = {row.id for row in accounts_queries.accounts(self.session)}
        for each in self.refused:
            self.refused_of[each.submission_id].add(each.case)

    def keep_all(self, contest: ContestRow) -> dict[str, own.Submitted]:
        """Keep them; returns what has been kept, by the submissions' ids."""
        submitted: dict[str, own.Submitted] = {}
        for at, each in enumerate(self.contents.objects["submissions"]):
            entry, team_id = self._entry(contest, each), each.get("team_id")
            if entry is None or not isinstance(team_id, str) or team_id not in entry.teams:
                expected = Message(N_("a problem and a team of the contest"))
                self.faults.add(FILE, f"[{at}]", expected, Message(N_("others")))
            elif (number := self._keep(entry, team_id, each, f"[{at}]")) is not None:
                submitted[each["id"]] = own.Submitted(number, team_id, entry.problem_id)
        if submitted:
            _count_past(self.session, max(as_id(id_) or 0 for id_ in submitted))
            after_commit(self.session, lambda: self.service.boards.changed(contest.id))
            after_commit(self.session, lambda: self.service.engine.wake(rejudging=True))
        return submitted

    def _entry(self, contest: ContestRow, each: PackageObject) -> Entry | None:
        """The problem, read once with all the contest's teams; None where it is not the contest's."""
        problem_id = str(each.get("problem_id"))
        if problem_id not in self.entries:
            self.entries[problem_id] = read_entry(self.session, contest.id, problem_id)
        return self.entries[problem_id]

    def _keep(self, entry: Entry, team_id: str, each: PackageObject, where: str) -> int | None:
        """Keep one; returns the number of its row, or None where it was refused."""
        if not ID.fullmatch(each["id"]) or (is_number(each["id"]) and len(each["id"]) > MOST_DIGITS):
            expected = Message(N_("an id (a number has %(most)s digits at most)"), most=MOST_DIGITS)
            self.faults.add(FILE, f"{where}.id", expected, repr(each["id"]))
            return None
        collected, when = self._collected(entry, each, where), times(entry.clock, each, FILE, where, self.faults)
        account, comment = each.get("account_id"), each.get("comment")
        if not isinstance(comment, str | None):
            self.faults.add(FILE, f"{where}.comment", Message(N_("text or null")), repr(comment)[:80])
            return None
        if collected is None or when is None:
            return None
        row = SubmissionRow(
            external_id=each["id"],
            contest_id=entry.contest_id,
            problem_id=entry.problem_id,
            team_id=team_id,
            account_id=account if isinstance(account, str) and account in self.accounts else self.account_id,
            time=when[0],
            contest_time_ms=when[1],
            comment=comment,
            size=sum(answer.size for answer in collected.answers.values() if answer.data is not None),
            files=collected.notes,
            sources=[],
        )
        self.session.add(row)
        self.session.flush()
        self.session.add_all(self._answer(row.id, answer) for answer in collected.answers.values())
        self.session.add(JudgementRow(submission_id=row.id, lane=REJUDGED, start_time=utc_now()))
        return row.id

    def _answer(self, submission_id: int, answer: answer_files.Answer) -> AnswerRow:
        row = AnswerRow(submission_id=submission_id, test_case_id=answer.case.id, file_name=answer.file_name)
        row.size = answer.size
        if answer.data is None:
            row.refused = too_large(answer.case.limit)
        elif answer.size > INLINE_LIMIT:
            row.sha256 = self.service.files.keep(answer.data)
        else:
            row.data, row.sha256 = answer.data, hashlib.sha256(answer.data).hexdigest()
        return row

    def _collected(self, entry: Entry, each: PackageObject, where: str) -> answer_files.Collected | None:
        """The answers of one submission by case; None where `faults` has got the reason."""
        sent = each.get("files")
        listed = sent if isinstance(sent, list) else []
        names = [str(file.get("filename")) for file in listed if isinstance(file, dict)]
        data = self.contents.files.get(f"submissions/{each['id']}/{names[0]}") if len(names) == 1 else None
        if data is None:
            self.faults.add(FILE, where, Message(N_("one file next to it")), Message(N_("none")))
            return None
        settings = self.service.settings
        limits = archives.Limits(settings.max_inflated, settings.max_archive_files, settings.max_ratio)
        ours = bool(self.contents.own)  # then files are called as their cases are, and cases may have been removed
        taken = {f"{case.name}.out": (case,) for case in entry.all_cases} if ours else entry.all_names
        uploads = [archives.Upload(names[0], io.BytesIO(data))]
        try:
            collected = answer_files.collect(uploads, entry.all_cases, taken, limits, may_be_empty=ours)
        except archives.UploadRefused as refused:
            self.faults.add(FILE, where, Message(N_("answer files")), str(refused))
            return None
        for case in entry.all_cases:
            if case.name in self.refused_of[each["id"]] and case.name not in collected.answers:
                collected.answers[case.name] = answer_files.Answer(case, case.name, None, case.limit + 1)
        return collected


def _count_past(session: Session, last: int) -> None:
    """Let rows to come have numbers beyond `last`, which a contest shows as the id of a submission brought in."""
    if session.get_bind().dialect.name == "sqlite":
        session.execute(
            text("UPDATE sqlite_sequence SET seq = max(seq, :last) WHERE name = 'submissions'"), {"last": last}
        )
        return
    # Others draw numbers in the meantime: the jump is beyond whatever they have drawn by the time it is made.
    query = "SELECT setval('submissions_id_seq', :beyond) FROM submissions_id_seq WHERE last_value <= :last"
    session.execute(text(query), {"last": last, "beyond": last + JUMP})


def times(clock: Clock, each: PackageObject, file: str, where: str, faults: FaultList) -> tuple[datetime, int] | None:
    """Return the moment of an event and its milliseconds of contest time; None if one is missing or in the future."""
    try:
        time, in_contest = parse_time(str(each.get("time"))), parse_reltime(str(each.get("contest_time")))
    except ValueError as error:
        faults.add(file, where, Message(N_("time and contest_time")), str(error))
        return None
    now = utc_now()
    if time > now:
        faults.add(file, f"{where}.time", Message(N_("a moment up to now")), str(each.get("time")))
        return None
    if in_contest > (latest := clock.contest_time(now)):
        expected = Message(N_("a contest time up to now, %(now)s"), now=format_reltime(latest))
        faults.add(file, f"{where}.contest_time", expected, str(each.get("contest_time")))
        return None
    return time, in_contest // timedelta(milliseconds=1)

"""The graded submissions of a contest package put into the tables, under the ids they had.

An id is one of the contest: the numbers of rows are this server's, and those of the package may be taken here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.accounts.queries import accounts
from app.archive.service.own import Submitted
from app.archive.service.package_files import Contents, PackageObject
from app.archive.service.submissions import FILE, Reader, Trials
from app.archive.service.versions import Version
from app.contests.queries import contests
from app.contests.schemas.settings import Rule
from app.core.clics import ID, format_reltime, parse_reltime, parse_time
from app.core.clock import utc_now
from app.core.db.ids import as_id, is_number
from app.core.fault_list import FaultList
from app.core.messages import N_, Message
from app.core.service import Service
from app.core.transactions import after_commit
from app.domain.contests import Clock
from app.domain.verdicts import JudgementType
from app.judging.service.outcomes import summed_up
from app.problems.queries import problem_diff
from app.submissions.queries import imports
from app.submissions.queries.submission_context import Entry, read_entry
from app.submissions.service.answer_files import Collected
from app.tables import ContestRow, SubmissionRow


@dataclass(frozen=True, slots=True)
class _Place:
    """The problem of a submission, and the teams that may submit to it."""

    entry: Entry
    team_id: str


class SubmissionKeeper:
    """Keeps the submissions of one package in one transaction; `faults` gets what is wrong with them."""

    def __init__(
        self,
        session: Session,
        service: Service,
        contents: Contents,
        account_id: str,
        chosen: Mapping[str, Version],
        graded: Mapping[str, Trials],
        faults: FaultList,
    ) -> None:
        self._session = session
        self._service = service
        self._contents = contents
        self._account_id = account_id
        self._documents = {version.id: version.document for version in chosen.values()}
        self._graded = graded
        self._faults = faults
        self._reader = Reader(contents, service.settings, self._documents)
        self._entries: dict[str, Entry | None] = {}
        self._rules: dict[str, Rule] = {}

    def keep_all(self, contest: ContestRow) -> dict[str, Submitted]:
        """Keep them; returns what has been kept, by the submissions' ids."""
        objects = self._contents.objects["submissions"]
        accounts_known = {row.id for row in accounts.accounts(self._session)}
        self._rules = {row.problem_id: row.rule for row in contests.entries(self._session, contest.id)}
        submitted: dict[str, Submitted] = {}
        for at, each in enumerate(objects):
            where = f"[{at}]"
            place = self._place(contest, each)
            if place is None:
                self._faults.add(FILE, where, Message(N_("a problem and a team of the contest")), Message(N_("others")))
                continue
            collected = self._reader.collected(each, where, self._faults)
            if collected is None or each["id"] not in self._graded:
                continue
            number = self._keep(place, each, collected, where, accounts_known)
            if number is not None:
                submitted[each["id"]] = Submitted(number, place.team_id, place.entry.problem_id)
        if submitted:
            imports.count_past(self._session, max(as_id(id_) or 0 for id_ in submitted))
            after_commit(self._session, lambda: self._service.boards.changed(contest.id))
        return submitted

    def _place(self, contest: ContestRow, each: PackageObject) -> _Place | None:
        problem_id, team_id = each.get("problem_id"), each.get("team_id")
        if not isinstance(problem_id, str) or not isinstance(team_id, str):
            return None
        entry = self._entry(contest, problem_id)
        return _Place(entry, team_id) if entry is not None and team_id in entry.teams else None

    def _entry(self, contest: ContestRow, problem_id: str) -> Entry | None:
        """Read once, with all the contest's teams, however many submissions there are."""
        if problem_id not in self._entries:
            self._entries[problem_id] = read_entry(self._session, contest.id, problem_id)
        return self._entries[problem_id]

    def _keep(
        self, place: _Place, each: PackageObject, collected: Collected, where: str, known: set[str]
    ) -> int | None:
        """Keep one; returns the number of its row, or None where it was refused."""
        if not ID.fullmatch(each["id"]) or (is_number(each["id"]) and len(each["id"]) > imports.MOST_DIGITS):
            expected = Message(N_("an id (a number has %(most)s digits at most)"), most=imports.MOST_DIGITS)
            self._faults.add(FILE, f"{where}.id", expected, repr(each["id"]))
            return None
        when = times(place.entry.clock, each, FILE, where, self._faults)
        if when is None:
            return None
        account, comment, entry = each.get("account_id"), each.get("comment"), place.entry
        if not isinstance(comment, str | None):
            self._faults.add(FILE, f"{where}.comment", Message(N_("text or null")), repr(comment)[:80])
            return None
        row = SubmissionRow(
            external_id=each["id"],
            contest_id=entry.contest_id,
            problem_id=entry.problem_id,
            team_id=place.team_id,
            account_id=account if isinstance(account, str) and account in known else self._account_id,
            time=when[0],
            contest_time_ms=when[1],
            comment=comment,
            files=[note.as_json() for note in collected.notes],
            sources=[],
        )
        rows = {name: id_ for id_, name in (*entry.cases, *entry.final_cases)}
        answers = [imports.Answer(rows[a.case.name], a.file_name, a.size, a.data) for a in collected.answers.values()]
        judged = self._judged(self._graded[each["id"]], entry.problem_id, rows)
        return imports.add_submission(self._session, self._service.files, row, answers, judged)

    def _judged(self, trials: Trials, problem_id: str, rows: Mapping[str, int]) -> imports.Judged:
        scores = [replace(score, test_case_id=rows[case]) for case, score in trials.scores.items()]
        document = self._documents[problem_id]
        counted = {rows[name] for name in problem_diff.counted_cases(document)}
        type_ = JudgementType.JE
        if trials.error is None:
            type_ = summed_up(scores, document["columns"]["settings"], self._rules[problem_id], counted)
        return imports.Judged(type_.value, utc_now(), scores, trials.error)


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

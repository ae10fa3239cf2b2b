"""Submissions of a contest package: which file is for which case, and what graders find for it before it is stored.

Grading takes the time it takes, so that it happens before the transaction that keeps the contest; what is unpacked for
it is let go of, and unpacked again when it is kept: a package may hold more answers than there is memory.

- The graded submissions of a contest package put into the tables, under the ids they had.
"""

import io
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.archive.service import judging, own
from app.archive.service.package_files import Contents, PackageObject
from app.archive.service.versions import Version
from app.contests import queries as contests_queries
from app.contests.schemas import Rule
from app.core.clics import ID, format_reltime, parse_reltime, parse_time
from app.core.clock import utc_now
from app.core.db.by_id import as_id, is_number
from app.core.db.database import after_commit
from app.core.faults import FaultList, Steps
from app.core.json_documents import ProblemDocument
from app.core.messages import N_, Message
from app.core.service import Service
from app.core.settings import Settings
from app.domain.contests import CaseKind, Clock
from app.domain.counting import JudgementType
from app.domain.documents import CaseAnswer, FoundScore
from app.judging.queries.judging_tasks import too_large
from app.judging.service.messages import Grade
from app.judging.service.outcomes import Trial, summed_up
from app.problems.queries import problem_diff
from app.submissions.queries import submission_context
from app.submissions.queries.judgements import Outcome
from app.submissions.queries.submission_context import Entry, Names, OpenCase, file_names, read_entry
from app.submissions.queries.submissions import NewAnswer
from app.submissions.service import answer_files, archives
from app.tables import ContestRow, SubmissionRow

# Submissions that are unpacked and wait for a grader.
AHEAD = 16
FILE = "submissions.json"


@dataclass(frozen=True, slots=True)
class Trials:
    """The result of graders for one submission: scores by case, and the checker's fault where it failed."""

    scores: Mapping[str, FoundScore]
    error: str | None = None


@dataclass
class Reader:
    """Reads the answers of a package's submissions for the problems they are for, by the problems' ids here."""

    contents: Contents
    settings: Settings
    documents: Mapping[str, ProblemDocument]
    _files: Mapping[str, Sequence[judging.SentFile]] = field(init=False)
    _names: dict[str, tuple[Sequence[OpenCase], Names]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort what is told of single files."""
        self._files = self.contents.judging.files_of() if self.contents.judging is not None else {}

    def cases(self, problem_id: str) -> Sequence[OpenCase]:
        """The cases that answers are taken for, those that are final last; numbered from 0."""
        return self._known(problem_id)[0]

    def collected(self, each: PackageObject, where: str, faults: FaultList) -> answer_files.Collected | None:
        """The answers of one submission by case; None where `faults` has got the reason."""
        sent = each.get("files")
        listed = sent if isinstance(sent, list) else []
        names = [str(file.get("filename")) for file in listed if isinstance(file, dict)]
        data = self.contents.files.get(f"submissions/{each['id']}/{names[0]}") if len(names) == 1 else None
        if data is None:
            faults.add(FILE, where, Message(N_("one file, which lies beside it")), Message(N_("none")))
            return None
        cases, taken = self._known(str(each["problem_id"]))
        sent_files = self._files.get(each["id"], ())
        by_name = {case.name: case for case in cases}
        own: dict[str, list[OpenCase]] = defaultdict(list)
        for one in sent_files:
            if one.file is not None and one.case in by_name:
                own[answer_files.base_name(one.file)].append(by_name[one.case])
        limits = archives.Limits(self.settings.max_inflated, self.settings.max_archive_files, self.settings.max_ratio)
        ours = self.contents.judging is not None  # else nobody removes cases, and an empty archive is a mistake
        try:
            collected = answer_files.collect(
                [archives.Upload(names[0], io.BytesIO(data))], cases, {**taken, **own}, limits, may_be_empty=ours
            )
        except archives.UploadRefused as refused:
            faults.add(FILE, where, Message(N_("answer files")), str(refused))
            return None
        for one in sent_files:
            if one.file is None and one.case in by_name and one.case not in collected.answers:
                case = by_name[one.case]
                collected.answers[one.case] = answer_files.Answer(case, one.case, None, case.limit + 1)
        return collected

    def _known(self, problem_id: str) -> tuple[Sequence[OpenCase], Names]:
        if problem_id not in self._names:
            document = self.documents[problem_id]
            answers = document["columns"]["settings"]["answers"]
            settings = self.contents.contest.get("settings")
            own = settings.get("answer_pattern") if isinstance(settings, dict) else None
            pattern = own if isinstance(own, str) and own else answers.get("pattern")
            cases = [OpenCase(at, name, answers["limit"]) for at, name in enumerate(_open_cases(document))]
            self._names[problem_id] = cases, file_names(cases, pattern)
        return self._names[problem_id]


def _open_cases(document: ProblemDocument) -> list[str]:
    """Names in the order of `submissions.queries.submission_context`, which decides if two cases claim a file."""
    kinds = {group["name"]: group["kind"] for group in document["groups"]}
    cases = [(name, case) for name, case in document["cases"].items() if case["answer_sha256"] is not None]
    cases.sort(key=lambda each: (kinds.get(each[1]["group_name"]) == CaseKind.FINAL, each[1]["ordinal"]))
    return [name for name, _ in cases]


def grade_all(
    service: Service, contents: Contents, versions: Mapping[str, Version], faults: FaultList, steps: Steps
) -> dict[str, Trials]:
    """The scores of each submission by its id; those with a fault or of an unknown problem are left out."""
    documents = {version.id: version.document for version in versions.values()}
    reader = Reader(contents, service.settings, documents)
    trials: dict[str, Trials] = {}
    waiting: deque[tuple[str, Sequence[str], Future[Trial]]] = deque()

    def settle() -> None:
        id_, cases, future = waiting.popleft()
        trial = future.result()
        trials[id_] = Trials({cases[score.test_case_id]: score for score in trial.scores}, trial.error)

    for at, each in enumerate(steps.over("judging submissions", contents.objects["submissions"])):
        problem_id = str(each.get("problem_id"))
        if problem_id not in documents:
            continue  # whoever keeps it says so
        collected = reader.collected(each, f"[{at}]", faults)
        if collected is None:
            continue
        names = [case.name for case in reader.cases(problem_id)]
        request = _request(documents[problem_id], collected)
        waiting.append((each["id"], names, service.engine.grade(request)))
        if len(waiting) >= AHEAD:
            settle()
    while waiting:
        settle()
    return trials


def _request(document: ProblemDocument, collected: answer_files.Collected) -> Grade:
    settings = document["columns"]["settings"]
    answers = []
    for answer in sorted(collected.answers.values(), key=lambda answer: answer.case.id):
        case = document["cases"][answer.case.name]
        refused = None if answer.data is not None else too_large(answer.case.limit)
        answers.append(
            CaseAnswer(
                answer.case.id,
                case["input_sha256"],
                case["answer_sha256"],
                answer.data,
                None,
                refused,
                case["checker_args"],
                case["points_num"],
                case["points_den"],
                answer.case.name,
            )
        )
    return Grade(settings["checker"], answers, settings.get("program"))


@dataclass(frozen=True, slots=True)
class _Place:
    """The problem of a submission, and the teams that may submit to it."""

    entry: Entry
    team_id: str


@dataclass
class SubmissionKeeper:
    """Keeps the submissions of one package in one transaction; `faults` gets what is wrong with them."""

    session: Session
    service: Service
    contents: Contents
    account_id: str
    chosen: Mapping[str, Version]
    graded: Mapping[str, Trials]
    faults: FaultList
    documents: Mapping[str, ProblemDocument] = field(init=False)
    reader: Reader = field(init=False)
    entries: dict[str, Entry | None] = field(default_factory=dict)
    rules: Mapping[str, Rule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Collect the documents that submissions are judged by."""
        self.documents = {version.id: version.document for version in self.chosen.values()}
        self.reader = Reader(self.contents, self.service.settings, self.documents)

    def keep_all(self, contest: ContestRow) -> dict[str, own.Submitted]:
        """Keep them; returns what has been kept, by the submissions' ids."""
        objects = self.contents.objects["submissions"]
        accounts_known = {row.id for row in accounts_queries.accounts(self.session)}
        self.rules = {row.problem_id: row.rule for row in contests_queries.entries(self.session, contest.id)}
        submitted: dict[str, own.Submitted] = {}
        for at, each in enumerate(objects):
            where = f"[{at}]"
            place = self._place(contest, each)
            if place is None:
                self.faults.add(FILE, where, Message(N_("a problem and a team of the contest")), Message(N_("others")))
                continue
            collected = self.reader.collected(each, where, self.faults)
            if collected is None or each["id"] not in self.graded:
                continue
            number = self._keep(place, each, collected, where, accounts_known)
            if number is not None:
                submitted[each["id"]] = own.Submitted(number, place.team_id, place.entry.problem_id)
        if submitted:
            submission_context.count_past(self.session, max(as_id(id_) or 0 for id_ in submitted))
            after_commit(self.session, lambda: self.service.boards.changed(contest.id))
        return submitted

    def _place(self, contest: ContestRow, each: PackageObject) -> _Place | None:
        """The problem, read once with all the contest's teams, and the team; None where they are not the contest's."""
        problem_id, team_id = each.get("problem_id"), each.get("team_id")
        if not isinstance(problem_id, str) or not isinstance(team_id, str):
            return None
        if problem_id not in self.entries:
            self.entries[problem_id] = read_entry(self.session, contest.id, problem_id)
        entry = self.entries[problem_id]
        return _Place(entry, team_id) if entry is not None and team_id in entry.teams else None

    def _keep(
        self, place: _Place, each: PackageObject, collected: answer_files.Collected, where: str, known: set[str]
    ) -> int | None:
        """Keep one; returns the number of its row, or None where it was refused."""
        if not ID.fullmatch(each["id"]) or (is_number(each["id"]) and len(each["id"]) > submission_context.MOST_DIGITS):
            expected = Message(N_("an id (a number has %(most)s digits at most)"), most=submission_context.MOST_DIGITS)
            self.faults.add(FILE, f"{where}.id", expected, repr(each["id"]))
            return None
        when = times(place.entry.clock, each, FILE, where, self.faults)
        if when is None:
            return None
        account, comment, entry = each.get("account_id"), each.get("comment"), place.entry
        if not isinstance(comment, str | None):
            self.faults.add(FILE, f"{where}.comment", Message(N_("text or null")), repr(comment)[:80])
            return None
        row = SubmissionRow(
            external_id=each["id"],
            contest_id=entry.contest_id,
            problem_id=entry.problem_id,
            team_id=place.team_id,
            account_id=account if isinstance(account, str) and account in known else self.account_id,
            time=when[0],
            contest_time_ms=when[1],
            comment=comment,
            size=sum(a.size for a in collected.answers.values() if a.data is not None),
            files=collected.notes,
            sources=[],
        )
        rows = {case.name: case.id for case in entry.all_cases}
        answers = [NewAnswer(rows[a.case.name], a.file_name, a.size, data=a.data) for a in collected.answers.values()]
        judged = self._judged(self.graded[each["id"]], entry.problem_id, rows)
        return submission_context.add_submission(self.session, self.service.files, row, answers, judged)

    def _judged(self, trials: Trials, problem_id: str, rows: Mapping[str, int]) -> Outcome:
        scores = [replace(score, test_case_id=rows[case]) for case, score in trials.scores.items()]
        document = self.documents[problem_id]
        counted = {rows[name] for name in problem_diff.counted_cases(document)}
        type_ = JudgementType.JE
        if trials.error is None:
            type_ = summed_up(scores, document["columns"]["settings"], self.rules[problem_id], counted)
        return Outcome(0, 1, type_.value, scores, utc_now(), trials.error)


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

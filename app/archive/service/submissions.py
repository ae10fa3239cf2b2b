"""Submissions of a contest package: which file is for which case, and what graders find for it before it is stored.

Grading takes the time it takes, so that it happens before the transaction that keeps the contest; what is unpacked for
it is let go of, and unpacked again when it is kept: a package may hold more answers than there is memory.
"""

from __future__ import annotations

import io
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from app.archive.service.judging import SentFile
from app.archive.service.package_files import Contents, PackageObject
from app.archive.service.versions import Version
from app.core.fault_list import FaultList
from app.core.json_documents import ProblemDocument
from app.core.messages import N_, Message
from app.core.service import Service
from app.core.settings import Settings
from app.core.steps import Steps
from app.domain.case_scores import CaseAnswer, FoundScore
from app.domain.contests import CaseKind
from app.judging.queries.judging_tasks import too_large
from app.judging.service.messages import Grade
from app.judging.service.outcomes import Trial
from app.submissions.service.answer_files import Answer, Collected, Names, OpenCase, base_name, collect, file_names
from app.submissions.service.archives import Limits, Upload, UploadRefused

AHEAD = 16
"""Submissions that are unpacked and wait for a grader."""
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
    _files: Mapping[str, Sequence[SentFile]] = field(init=False)
    _names: dict[str, tuple[Sequence[OpenCase], Names]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort what is told of single files."""
        self._files = self.contents.judging.files_of() if self.contents.judging is not None else {}

    def cases(self, problem_id: str) -> Sequence[OpenCase]:
        """The cases that answers are taken for, those that are final last; numbered from 0."""
        return self._known(problem_id)[0]

    def collected(self, each: PackageObject, where: str, faults: FaultList) -> Collected | None:
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
                own[base_name(one.file)].append(by_name[one.case])
        limits = Limits(self.settings.max_inflated, self.settings.max_archive_files, self.settings.max_ratio)
        ours = self.contents.judging is not None  # else nobody removes cases, and an empty archive is a mistake
        try:
            collected = collect(
                [Upload(names[0], io.BytesIO(data))], cases, {**taken, **own}, limits, may_be_empty=ours
            )
        except UploadRefused as refused:
            faults.add(FILE, where, Message(N_("answer files")), str(refused))
            return None
        for one in sent_files:
            if one.file is None and one.case in by_name and one.case not in collected.answers:
                case = by_name[one.case]
                collected.answers[one.case] = Answer(case, one.case, None, case.limit + 1)
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


def _request(document: ProblemDocument, collected: Collected) -> Grade:
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

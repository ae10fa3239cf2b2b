"""Many test cases and groups of a problem changed at once: a zip of cases, or a document of groups and moves."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

from pydantic import Field
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.authoring.service.packages import ProblemDetails, details
from app.core.bodies import Body, Line
from app.core.faults import Faults, PackageErrors
from app.core.files.files import FileStore, OnlyHashes
from app.core.json_documents import ProvenanceDocument
from app.core.messages import N_, SECONDS_UNTIL_BACK, BadRequest, Unavailable
from app.core.service import Service
from app.domain.documents import FoundScore
from app.judging.service import problem_changes, questions
from app.judging.service.messages import Validate, Validated
from app.packages.texts import SentCase, read_cases
from app.problems.queries import problems, testcases, testdata, versions
from app.problems.queries.testdata import MOST_GROUPS, DataChange, Points, TestGroupChange
from app.programs.apart import READER
from app.tables import ProblemRow

MOST_NAMED = 10_000


class DataBody(Body):
    """A change of test data: groups, moves of cases, their order and points, and cases that are deleted."""

    groups: list[TestGroupChange] = Field(default_factory=list, max_length=MOST_GROUPS)
    move: dict[str, Line] = Field(default_factory=dict, max_length=MOST_NAMED, description="the group, by case name")
    order: list[Line] | None = Field(None, max_length=MOST_NAMED, description="cases that come first in their groups")
    points: dict[str, Points | None] = Field(
        default_factory=dict,
        max_length=MOST_NAMED,
        description="points of single cases of groups with sum; null: a share of what is left",
    )
    delete: list[Line] = Field(default_factory=list, max_length=MOST_NAMED, description="names of cases")


def put_cases(
    service: Service, viewer: Viewer, problem_id: str, source: bytes | Path, how: problem_changes.How, *, only: bool
) -> ProblemDetails | problem_changes.RejudgingView | problem_changes.Preview:
    """Check all cases of a zip and store them as one version, or open a rejudging; `only`: all other cases go.

    Raises BadRequest with every fault, named by its entry; nothing is stored then.
    """
    with service.database.read() as session:
        row = problems.existing(session, problem_id)
    try:
        seconds = service.settings.package_read_seconds
        sent, settings_of = READER.read(read_cases, (source,), seconds, [] if isinstance(source, bytes) else [source])
        faults = Faults()
        scores = check_cases(service, row, sent, faults)
        faults.settle()
    except PackageErrors as wrong:
        raise _refusal(wrong) from None
    cases = [(_new_case(problem_id, each), scores.get(each.name)) for each in sent]
    groups = [
        TestGroupChange.model_construct(
            name=name,
            max_points=settings.max_score,
            aggregation=settings.score_aggregation,
            require_pass=list(settings.require_pass) or None,
        )
        for name, settings in settings_of.items()
    ]
    data = DataChange(problem_id, cases, groups, only=only)
    return store(service, viewer, data, f"{len(cases)} test cases of {problem_id} have been put", how)


def arrange(
    service: Service, viewer: Viewer, problem_id: str, body: DataBody, how: problem_changes.How
) -> ProblemDetails | problem_changes.RejudgingView | problem_changes.Preview:
    """Change groups, move and delete cases, as one version; raises BadRequest with every fault."""
    with service.database.read() as session:
        problems.existing(session, problem_id)
    data = DataChange(problem_id, (), body.groups, body.move, body.delete, order=body.order, points=body.points)
    return store(service, viewer, data, f"test data of {problem_id} have been arranged", how)


def store(
    service: Service, viewer: Viewer, data: DataChange, note: str, how: problem_changes.How
) -> ProblemDetails | problem_changes.RejudgingView | problem_changes.Preview:
    """Make a change of test data as one version, or open a rejudging; raises BadRequest with every fault."""
    author = versions.Author(viewer.account_id, note)
    try:
        if how.preview:
            with service.database.write(quiet=True) as session:
                opened = _changed(session, OnlyHashes(), data, author, how)
        else:
            _keep(service.files, data)
            with service.database.write() as session:
                opened = _changed(session, service.files, data, author, how)
    except PackageErrors as faults:
        raise _refusal(faults) from None
    if isinstance(opened, problem_changes.RejudgingView):
        service.engine.take_up()
    return opened


def _keep(files: FileStore, data: DataChange) -> None:
    """Store the files of all cases before the first query: other writers do not wait for the disk."""
    for new, _ in data.cases:
        for content in (new.input, new.answer):
            if content is not None:
                files.keep(content)


def _changed(
    session: Session, files: FileStore, data: DataChange, author: versions.Author, how: problem_changes.How
) -> ProblemDetails | problem_changes.RejudgingView | problem_changes.Preview:
    opened = problem_changes.change(session, data.problem_id, lambda: testdata.write(session, files, data), author, how)
    return details(session, problems.existing(session, data.problem_id)) if opened is None else opened


def _refusal(faults: PackageErrors) -> BadRequest:
    first, count = faults.errors[0], len(faults.errors)
    message = (
        N_("the test cases have 1 fault: %(fault)s")
        if count == 1
        else N_("the test cases have %(count)s faults: %(fault)s")
    )
    return BadRequest(message, count=count, fault=first, errors=[each.as_data() for each in faults.errors])


def _new_case(problem_id: str, sent: SentCase) -> testcases.NewCase:
    provenance: ProvenanceDocument = {"from": "admin"}
    if sent.settings.hint:
        provenance["hint"] = sent.settings.hint
    if sent.settings.description:
        provenance["description"] = sent.settings.description
    args = sent.settings.output_validator_args
    return testcases.NewCase(problem_id, sent.group, sent.name, sent.input, sent.answer, provenance, args)


def check_cases(
    service: Service, row: ProblemRow, cases: Sequence[SentCase], faults: Faults
) -> Mapping[str, FoundScore]:
    """Ask the problem's checker about all cases at once; `faults` gets what it refuses, and what is too large.

    Returns what expected answers score, by the cases' names. Raises Unavailable without graders.
    """
    scores, limit, program = {}, row.settings["inputs"]["limit"], row.settings.get("program")
    asked: list[tuple[SentCase, Future[Validated]]] = []
    for case in cases:
        if len(case.input) > limit:
            faults.expect(f"{case.path}.in", "", N_("at most %(limit)s bytes"), str(len(case.input)), limit=limit)
            continue
        args = tuple(case.settings.output_validator_args or ())
        question = Validate(
            row.settings["checker"], case.input, args, expected=case.answer, program=program, case_name=case.name
        )
        asked.append((case, service.engine.validate(question)))
    for case, reply in asked:
        try:
            validated = reply.result()
        except questions.NotJudged as failed:
            raise Unavailable(
                N_("%(path)s.in could not be checked: %(failed)s"), SECONDS_UNTIL_BACK, path=case.path, failed=failed
            ) from None
        except questions.JudgeFailed as failed:
            faults.add(f"{case.path}.in", N_("the checker failed by itself: %(failed)s"), failed=failed)
            continue
        for fault in validated.faults:
            if program is not None and fault["file"] == "answer":
                continue  # a package's own checker may want other files as `.ans` than answers
            faults.add(f"{case.path}{'.in' if fault['file'] == 'input' else '.ans'}", fault["text"])
        if validated.score is not None:
            scores[case.name] = validated.score
    return scores

"""Test cases: how an admin changes one, or many and their groups at once."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.authoring.service import jobs, packages
from app.core import json_documents
from app.core.bodies import Body, Line
from app.core.faults import Faults, PackageErrors
from app.core.files.files import OnlyHashes
from app.core.messages import N_, SECONDS_UNTIL_BACK, BadRequest, Unavailable, joined
from app.core.service import Service
from app.domain import documents
from app.judging.queries import rejudging_changes
from app.judging.service import questions
from app.judging.service.messages import Validate, Validated
from app.judging.service.problem_changes import How, Preview, RejudgingView, change
from app.packages import files, settings, texts
from app.problems.queries import problems, testcases, testdata, versions
from app.programs.apart import READER
from app.tables import ProblemRow
from checkers.doors import Phrase

# NAME.yaml and its sisters are files of a package, whose names have at most 255 characters.
LONGEST_NAME = 250
MOST_NAMED = 10_000
# The problem as it is now, or what is to be done first.
Outcome = packages.ProblemDetails | RejudgingView | Preview


@dataclass(frozen=True, slots=True)
class CaseRequest:
    """A test case that an admin puts: its place, its files, and as texts the options of its reference run."""

    problem_id: str
    group: str
    name: str
    input: bytes | None
    answer: bytes | None
    options: Mapping[str, str]


def put_case(
    service: Service, viewer: Viewer, request: CaseRequest, how: How
) -> tuple[packages.CaseView, bool] | RejudgingView | Preview:
    """Check a test case and store it, or open a rejudging where that changes what somebody has; also: is it new?

    Without an expected answer, the job that makes it is started, where the problem names a solver. Raises BadRequest
    with all faults, Conflict, or PreconditionFailed.
    """
    new, score, is_new = _checked(service, request)
    data = testdata.DataChange(new.problem_id, [(new, score)], single=new.group)
    note = f"test case {new.name} of {new.problem_id} has been put"
    stored = store(service, viewer, data, note, how)
    if isinstance(stored, Preview):
        return stored
    with service.database.write() as session:
        job_id = _start_reference_run(session, new, viewer.account_id)
    if job_id is not None:
        service.jobs.wake(job_id)
    if isinstance(stored, RejudgingView):
        return stored.model_copy(update={"reference_run": job_id})
    case = next(case for case in stored.testcases if case.name == new.name)
    return case.model_copy(update={"reference_run": job_id}), is_new


def delete_case(service: Service, viewer: Viewer, case: tuple[str, str, str], how: How) -> Outcome:
    """Delete a test case (problem, group, name), or open a rejudging where that changes what somebody has.

    Raises NotFound, or Conflict for the last case of a group.
    """
    problem_id, group, name = case
    data = testdata.DataChange(problem_id, deleted=[name], single=group)
    return store(service, viewer, data, f"test case {name} of {problem_id} has been deleted", how)


def _checked(service: Service, request: CaseRequest) -> tuple[testcases.NewCase, documents.FoundScore | None, bool]:
    """The test case to be put, the score of its expected answer, and whether it is new; raises BadRequest."""
    problem_id, group, name, given = request.problem_id, request.group, request.name, request.input
    with service.database.read() as session:
        row = problems.existing(session, problem_id)
        groups = [each.name for each in problems.groups(session, problem_id)]
        is_new = problems.test_case(session, problem_id, name) is None
    faults = _name_faults(group, name, groups)
    options = jobs.options_of(request.options, faults)
    score = None
    if given is None:
        faults.expect("input", "", N_("a file"), Phrase(N_("nothing")))
    else:
        case = texts.SentCase(f"data/{group}/{name}", given, request.answer, settings.CaseSettings())
        answers = {} if request.answer is None else {f"{case.path}.ans": request.answer}
        texts.check_texts({f"{case.path}.in": given, **answers}, faults)
        score = check_cases(service, row, [case], faults).get(name)
    if given is None or faults.errors:
        errors = [{"file": each.file, "where": each.where, "message": each.message} for each in faults.errors]
        raise BadRequest(joined((str(each) for each in faults.errors), "; "), errors=errors)
    provenance: json_documents.ProvenanceDocument = {"from": "admin"}
    if options:
        provenance["reference"] = options
    return testcases.NewCase(problem_id, group, name, given, request.answer, provenance), score, is_new


def _start_reference_run(session: Session, new: testcases.NewCase, account_id: str | None) -> str | None:
    """Queue the job that makes the case's expected answer; None where it has one, or the problem names no solver."""
    wanted = rejudging_changes.wanted(session, new.problem_id)
    answered = wanted["cases"][new.name]["answer_sha256"] is not None
    if answered or wanted["columns"]["settings"].get("reference") is None:
        return None
    asked = jobs.ReferenceRunRequest(testcases=[new.name])
    return jobs.queue_run(session, problems.existing(session, new.problem_id), asked, account_id).id


def _name_faults(group: str, name: str, groups: list[str]) -> Faults:
    faults = Faults()
    if not files.NAME.fullmatch(name) or name == "test_group":
        faults.add("name", files.BAD_NAME)
    elif len(name) > LONGEST_NAME:
        faults.expect("name", "", N_("at most %(most)s characters"), str(len(name)), most=LONGEST_NAME)
    if group not in {"sample", *groups}:
        faults.expect("group", "", N_("one of %(groups)s"), group, groups=", ".join(dict.fromkeys(["sample", *groups])))
    return faults


class DataBody(Body):
    """A change of test data: groups, moves of cases, their order and points, and cases that are deleted."""

    groups: list[testdata.TestGroupChange] = Field(default_factory=list, max_length=testdata.MOST_GROUPS)
    move: dict[str, Line] = Field(default_factory=dict, max_length=MOST_NAMED, description="the group, by case name")
    order: list[Line] | None = Field(None, max_length=MOST_NAMED, description="cases that come first in their groups")
    points: dict[str, testdata.Points | None] = Field(
        default_factory=dict,
        max_length=MOST_NAMED,
        description="points of single cases of groups with sum; null: a share of what is left",
    )
    delete: list[Line] = Field(default_factory=list, max_length=MOST_NAMED, description="names of cases")


def put_cases(
    service: Service, viewer: Viewer, problem_id: str, source: bytes | Path, how: How, *, only: bool
) -> Outcome:
    """Check all cases of a zip and store them as one version, or open a rejudging; `only`: all other cases go.

    Raises BadRequest with every fault, named by its entry; nothing is stored then.
    """
    with service.database.read() as session:
        row = problems.existing(session, problem_id)
    try:
        seconds = service.settings.package_read_seconds
        sent, settings_of = READER.read(
            texts.read_cases, (source,), seconds, [] if isinstance(source, bytes) else [source]
        )
        faults = Faults()
        scores = check_cases(service, row, sent, faults)
        faults.settle()
    except PackageErrors as wrong:
        raise _refusal(wrong) from None
    cases = [(_new_case(problem_id, each), scores.get(each.name)) for each in sent]
    groups = [
        testdata.TestGroupChange.model_construct(
            name=name,
            max_points=group.max_score,
            aggregation=group.score_aggregation,
            require_pass=list(group.require_pass) or None,
        )
        for name, group in settings_of.items()
    ]
    data = testdata.DataChange(problem_id, cases, groups, only=only)
    return store(service, viewer, data, f"{len(cases)} test cases of {problem_id} have been put", how)


def arrange(service: Service, viewer: Viewer, problem_id: str, body: DataBody, how: How) -> Outcome:
    """Change groups, move and delete cases, as one version; raises BadRequest with every fault."""
    data = testdata.DataChange(
        problem_id, (), body.groups, body.move, body.delete, order=body.order, points=body.points
    )
    return store(service, viewer, data, f"test data of {problem_id} have been arranged", how)


def store(service: Service, viewer: Viewer, data: testdata.DataChange, note: str, how: How) -> Outcome:
    """Make a change of test data as one version, or open a rejudging; raises BadRequest with every fault."""
    author = versions.Author(viewer.account_id, note)
    files = OnlyHashes() if how.preview else service.files
    for new, _ in data.cases:  # before the first query: other writers do not wait for the disk
        files.keep(new.input)
        if new.answer is not None:
            files.keep(new.answer)
    try:
        with service.database.write(quiet=how.preview) as session:
            row = problems.existing(session, data.problem_id)
            outcome = change(session, row.id, lambda: testdata.write(session, files, data), author, how)
            stored = packages.details(session, row) if outcome is None else outcome
    except PackageErrors as faults:
        raise _refusal(faults) from None
    if isinstance(stored, RejudgingView):
        service.engine.take_up()
    return stored


def _refusal(faults: PackageErrors) -> BadRequest:
    first, count = faults.errors[0], len(faults.errors)
    message = (
        N_("the test cases have 1 fault: %(fault)s")
        if count == 1
        else N_("the test cases have %(count)s faults: %(fault)s")
    )
    return BadRequest(message, count=count, fault=first, errors=[each.as_data() for each in faults.errors])


def _new_case(problem_id: str, sent: texts.SentCase) -> testcases.NewCase:
    provenance: json_documents.ProvenanceDocument = {"from": "admin"}
    if sent.settings.hint:
        provenance["hint"] = sent.settings.hint
    if sent.settings.description:
        provenance["description"] = sent.settings.description
    args = sent.settings.output_validator_args
    return testcases.NewCase(problem_id, sent.group, sent.name, sent.input, sent.answer, provenance, args)


def check_cases(
    service: Service, row: ProblemRow, cases: Sequence[texts.SentCase], faults: Faults
) -> Mapping[str, documents.FoundScore]:
    """Ask the problem's checker about all cases at once; `faults` gets what it refuses, and what is too large.

    Returns what expected answers score, by the cases' names. Raises Unavailable without graders.
    """
    scores, limit, program = {}, row.settings["inputs"]["limit"], row.settings.get("program")
    asked: list[tuple[texts.SentCase, Future[Validated]]] = []
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

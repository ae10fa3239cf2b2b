"""Test cases: how an admin changes one, or many and their groups at once."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from app.accounts.service.viewer import Viewer
from app.authoring.service import jobs, packages
from app.core.faults import Faults, PackageErrors
from app.core.files.files import FileStore, OnlyHashes
from app.core.json_documents import ProvenanceDocument
from app.core.messages import N_, SECONDS_UNTIL_BACK, BadRequest, NotFound, Unavailable
from app.core.service import Service
from app.domain.documents import FoundScore
from app.judging.queries import rejudging_changes
from app.judging.service.engine import JudgeFailed, NotJudged
from app.judging.service.messages import Validate, Validated
from app.judging.service.problem_changes import How, Preview, RejudgingView, change
from app.packages import files, settings, texts
from app.problems.queries import problems, testcases, testdata, versions
from app.programs.apart import READER
from app.tables import ProblemRow
from checkers.doors import Phrase

# NAME.yaml and its sisters are files of a package, whose names have at most 255 characters.
LONGEST_NAME = 250
# The problem as it is now, or what is to be done first.
Outcome = packages.ProblemDetails | RejudgingView | Preview

DataBody = testdata.DataBody


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
    """Check a test case and store it, or open a rejudging where that changes what someone has; also: is it new?

    Without an expected answer, the job that makes it is started, where the problem names a solver. Raises BadRequest
    with all faults, Conflict, or PreconditionFailed.
    """
    new, is_new = _checked(service, request, how)
    problem_id = request.problem_id
    data = testdata.DataChange(problem_id, [new])
    stored = store(service, viewer, data, f"test case {new.name} of {problem_id} has been put", how)
    if isinstance(stored, Preview):
        return stored
    with service.database.write() as session:
        job_id = jobs.queue_for_missing(session, problem_id, viewer.account_id, new.name)
    if job_id is not None:
        service.jobs.wake(job_id)
    if isinstance(stored, RejudgingView):
        return stored.model_copy(update={"reference_run": job_id})
    case = next(case for case in stored.testcases if case.name == new.name)
    return case.model_copy(update={"reference_run": job_id}), is_new


def delete_case(service: Service, viewer: Viewer, case: tuple[str, str, str], how: How) -> Outcome:
    """Delete a test case (problem, group, name), or open a rejudging where that changes what someone has.

    Raises NotFound.
    """
    problem_id, group, name = case
    with service.database.read() as session:
        problems.existing(session, problem_id)
        known = rejudging_changes.wanted(session, problem_id)["cases"].get(name)
    if known is None or known["group_name"] != group:
        message = N_("problem %(problem)r has no test case %(case)r in %(group)r")
        raise NotFound(message, problem=problem_id, case=name, group=group)
    data = testdata.DataChange(problem_id, body=DataBody(delete=[name]))
    return store(service, viewer, data, f"test case {name} of {problem_id} has been deleted", how)


def _checked(service: Service, request: CaseRequest, how: How) -> tuple[testcases.NewCase, bool]:
    """The test case to be put, its files stored, and whether it is new; raises BadRequest."""
    problem_id, group, name, given = request.problem_id, request.group, request.name, request.input
    with service.database.read() as session:
        row = problems.existing(session, problem_id)
        groups = [each.name for each in problems.groups(session, problem_id)]
        is_new = problems.test_case(session, problem_id, name) is None
    faults = _name_faults(group, name, groups)
    options = jobs.options_of(request.options, faults)
    if given is None:
        faults.expect("input", "", N_("a file"), Phrase(N_("nothing")))
    case = texts.SentCase(f"data/{group}/{name}", given or b"", request.answer, settings.CaseSettings())
    scores: Mapping[str, FoundScore] = {}
    if given is not None:
        answers = {} if request.answer is None else {f"{case.path}.ans": request.answer}
        texts.check_texts({f"{case.path}.in": given, **answers}, faults)
        scores = check_cases(service, row, [case], faults)
    if faults.errors:
        raise _refusal(PackageErrors(faults.errors))
    provenance: ProvenanceDocument = {"from": "admin", "reference": options} if options else {"from": "admin"}
    return _stored(_files(service, how), case, group, scores, provenance), is_new


def _files(service: Service, how: How) -> FileStore:
    return OnlyHashes() if how.preview else service.files


def _stored(
    files: FileStore,
    sent: texts.SentCase,
    group: str,
    scores: Mapping[str, FoundScore],
    provenance: ProvenanceDocument,
) -> testcases.NewCase:
    """A case whose files are stored: before the first query, so that other writers do not wait for the disk."""
    answer = None if sent.answer is None else testcases.keep(files, sent.answer)
    args, score = sent.settings.output_validator_args, scores.get(sent.name)
    return testcases.NewCase(group, sent.name, testcases.keep(files, sent.input), answer, provenance, args, score)


def _name_faults(group: str, name: str, groups: list[str]) -> Faults:
    faults = Faults()
    if not files.NAME.fullmatch(name) or name == "test_group":
        faults.add("name", files.BAD_NAME)
    elif len(name) > LONGEST_NAME:
        faults.expect("name", "", N_("at most %(most)s characters"), str(len(name)), most=LONGEST_NAME)
    if group not in {"sample", *groups}:
        faults.expect("group", "", N_("one of %(groups)s"), group, groups=", ".join(dict.fromkeys(["sample", *groups])))
    return faults


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
    place = _files(service, how)
    cases = [_stored(place, each, each.group, scores, {"from": "admin"}) for each in sent]
    groups = [
        testdata.TestGroupChange.model_construct(
            name=name,
            max_points=group.max_score,
            aggregation=group.score_aggregation,
            require_pass=list(group.require_pass) or None,
        )
        for name, group in settings_of.items()
    ]
    data = testdata.DataChange(problem_id, cases, DataBody.model_construct(groups=groups), only)
    return store(service, viewer, data, f"{len(cases)} test cases of {problem_id} have been put", how)


def arrange(service: Service, viewer: Viewer, problem_id: str, body: DataBody, how: How) -> Outcome:
    """Change groups, move and delete cases, as one version; raises BadRequest with every fault."""
    data = testdata.DataChange(problem_id, body=body)
    return store(service, viewer, data, f"test data of {problem_id} have been arranged", how)


def store(service: Service, viewer: Viewer, data: testdata.DataChange, note: str, how: How) -> Outcome:
    """Make a change of test data as one version, or open a rejudging; raises BadRequest with every fault."""
    author = versions.Author(viewer.account_id, note)
    try:
        with service.database.write(quiet=how.preview) as session:
            row = problems.existing(session, data.problem_id)
            outcome = change(session, row.id, lambda: testdata.write(session, data), author, how)
            stored = packages.one(session, data.problem_id) if outcome is None else outcome
    except PackageErrors as faults:
        raise _refusal(faults) from None
    if isinstance(stored, RejudgingView):
        service.engine.wake(rejudging=True)
    return stored


def _refusal(faults: PackageErrors) -> BadRequest:
    first, count = faults.errors[0], len(faults.errors)
    message = (
        N_("the test cases have 1 fault: %(fault)s")
        if count == 1
        else N_("the test cases have %(count)s faults: %(fault)s")
    )
    return BadRequest(message, count=count, fault=first, errors=[each.as_data() for each in faults.errors])


def check_cases(
    service: Service, row: ProblemRow, cases: Sequence[texts.SentCase], faults: Faults
) -> Mapping[str, FoundScore]:
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
        except NotJudged as failed:
            raise Unavailable(
                N_("%(path)s.in could not be checked: %(failed)s"), SECONDS_UNTIL_BACK, path=case.path, failed=failed
            ) from None
        except JudgeFailed as failed:
            faults.add(f"{case.path}.in", N_("the checker failed: %(failed)s"), failed=failed)
            continue
        for fault in validated.faults:
            if program is not None and fault["file"] == "answer":
                continue  # a package's own checker may want other files as `.ans` than answers
            faults.add(f"{case.path}{'.in' if fault['file'] == 'input' else '.ans'}", fault["text"])
        if validated.score is not None:
            scores[case.name] = validated.score
    return scores

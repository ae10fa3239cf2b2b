"""Test cases: what contestants may read of them, and how an admin puts and takes away single ones."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.api.auth import Viewer
from app.api.changes import RESPONSES, Joins, RejudgingView, accepted, change
from app.api.clics import number
from app.api.deps import AdminOnly, CurrentViewer, Reading, TheService, Writing, after_commit
from app.api.downloads import ARCHIVE, BYTES, PART, TEXT, WORDS, ZIP, file, form, stored_file, type_for
from app.api.errors import BadRequest, Conflict, NotFound
from app.api.forms import Expected, open_form
from app.api.gated import GatedRoute
from app.api.jobs import ReferenceRunRequest, queue_run
from app.api.named import did_you_mean
from app.api.packages import CaseView, details, existing
from app.api.standings import TheStanding, the_problem
from app.domain.clock import utc_now
from app.domain.contests import CaseKind, ScoredProblem
from app.domain.scoring import phase_scale
from app.grading.boards import Standing
from app.grading.messages import Validate
from app.grading.questions import JudgeFailed
from app.packages.errors import Faults
from app.packages.files import BAD_NAME, NAME
from app.packages.texts import check_texts
from app.packages.zips import kept_zip
from app.service import Service
from app.storage import participations, problems, rejudging_changes, testcases
from app.storage.judgements import FoundScore
from app.storage.problems import ProblemInUse
from app.storage.tables import ProblemRow, TestCaseRow
from app.storage.testcases import NewCase

METHOD = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
router = APIRouter(route_class=GatedRoute, tags=["test cases"])
PLACE = "/problems/{problem_id}/testcases/{group:path}/{name}"
OPTIONS = frozenset({"method", "seconds", "seed"})
PARTS = Expected(texts=OPTIONS, files=frozenset({"input", "answer"}), parts=10)
"""How a reference run is to make the answer; kept beside the case until then."""
FORM = form(
    "TestCaseForm",
    ["input"],
    {
        "input": file("the input"),
        "answer": file("the expected answer"),
        "method": {"type": "string", "description": "the solver's method"},
        "seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 3600, "description": "how long it may take"},
        "seed": {"type": "integer", "minimum": 0, "description": "the solver's seed"},
    },
)


class TestCase(BaseModel):
    """A test case as a contest shows it; `best_raw` is the best raw score that counts, None where there is none."""

    __test__ = False

    name: str
    group: str
    kind: str
    ordinal: int
    size: int
    sha256: str
    max_points: float
    best_raw: int | float | None = None
    href: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A row with the case it is in the rules."""

    row: TestCaseRow
    kind: CaseKind


def _shown(viewer: Viewer, standing: Standing, session: Session, problem: ScoredProblem) -> list[Shown]:
    """Samples and provisional cases for everybody, those without an expected answer for judges.

    Final ones for those who may have their inputs: the contest's standing knows of none where nobody may.
    """
    kinds = {group.name: group.kind for group in problem.groups}
    rows = problems.test_cases(session, problem.id)
    found = [Shown(row, kinds.get(row.group_name, CaseKind.FINAL)) for row in rows]
    if viewer.sees_all:
        return found
    final = finals_shown(viewer, standing, session, problem)
    open_ = [each for each in found if each.row.answer_sha256 is not None]
    return [each for each in open_ if final or each.kind is not CaseKind.FINAL]


def finals_shown(viewer: Viewer, standing: Standing, session: Session, problem: ScoredProblem) -> bool:
    """May the viewer have the final inputs of a problem?"""
    contest = standing.contest
    asked = None
    if viewer.team_id is not None and contest.finals.window is not None:
        asked = participations.asked(session, contest.id, viewer.team_id, problem.id)
    return contest.finals.shown(contest.clock, utc_now(), asked)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/testcases",
    response_model=list[TestCase],
    response_model_exclude_unset=True,
    summary="A problem's test cases",
)
def list_testcases(problem_id: str, viewer: CurrentViewer, standing: TheStanding, session: Reading) -> Any:
    """In order. The best raw scores stand still while the board is frozen."""
    problem = the_problem(standing, problem_id)
    return [_document(viewer, standing, problem, each) for each in _shown(viewer, standing, session, problem)]


def _document(viewer: Viewer, standing: Standing, problem: ScoredProblem, each: Shown) -> dict[str, Any]:
    row = each.row
    counts = each.kind in problem.counting(standing.phase)
    scale = phase_scale(problem, standing.phase)
    shows_best = viewer.sees_all or standing.contest.settings.get("show_best", True)
    best = standing.bests(problem).best
    return {
        "name": row.name,
        "group": row.group_name,
        "kind": each.kind.value,
        "ordinal": row.ordinal,
        "size": row.input_size,
        "sha256": row.input_sha256,
        "max_points": row.points_num / row.points_den * scale if counts else 0.0,
        **({"best_raw": number(best.get(row.name))} if shows_best else {}),
        "href": f"contests/{standing.contest.id}/problems/{row.problem_id}/testcases/{row.name}/input",
    }


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/testcases/{name}/input",
    response_class=Response,
    responses={200: {"content": {TEXT: WORDS}}},
    summary="The input of a test case",
)
def get_testcase_input(
    problem_id: str, name: str, viewer: CurrentViewer, standing: TheStanding, session: Reading, service: TheService
) -> Response:
    """The bytes as they are judged."""
    problem = the_problem(standing, problem_id)
    rows = {each.row.name: each.row for each in _shown(viewer, standing, session, problem)}
    row = rows.get(name)
    if row is None:
        raise NotFound(f"problem {problem_id!r} has no test case {name!r}{did_you_mean(name, rows)}")
    headers = {"Content-Disposition": f'attachment; filename="{name}.in"', "ETag": f'"{row.input_sha256}"'}
    return stored_file(service.files, row.input_sha256, row.input_size, "text/plain; charset=utf-8", headers)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/inputs.zip",
    response_class=FileResponse,
    responses={**ARCHIVE, **PART},
    summary="All inputs of a problem",
)
def get_inputs_zip(
    request: Request,
    problem_id: str,
    viewer: CurrentViewer,
    standing: TheStanding,
    session: Reading,
    service: TheService,
) -> FileResponse:
    """Every input the viewer may read, as NAME.in; the same bytes each time, made once and kept."""
    problem = the_problem(standing, problem_id)
    shown = _shown(viewer, standing, session, problem)
    rows = {f"{each.row.name}.in": each.row.input_sha256 for each in shown}
    key = hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:32]
    path = service.settings.home / "cache" / f"inputs-{problem_id}-{key}.zip"
    kept_zip(path, rows, lambda name: service.files.load(rows[name]))
    return FileResponse(path, media_type=type_for(request, ZIP, BYTES), filename=f"{problem_id}-inputs.zip")


@router.put(
    PLACE,
    response_model=CaseView,
    responses={201: {"model": CaseView, "description": "It is new"}, **RESPONSES},
    openapi_extra={"requestBody": {"required": True, "content": FORM}},
    summary="Put a test case",
)
async def put_testcase(
    request: Request,
    response: Response,
    problem_id: str,
    group: str,
    name: str,
    viewer: AdminOnly,
    service: TheService,
    joins: Joins = None,
) -> Any:
    """Form: the file `input`, perhaps the file `answer`; else `method`, `seconds`, `seed` of the reference run that is
    started to make it (`reference_run` in the reply), where the problem names a solver.

    Everything is checked before anything is stored, and all faults are listed at once. Where it would change what
    anybody has, the change becomes a rejudging (202), to be applied.
    """
    async with open_form(request, PARTS) as form:
        given, expected = form.read("input"), form.read("answer")
    new = await run_sync(_checked, service, problem_id, group, name, form.texts, given, expected)
    made = await run_sync(_store, service, *new, viewer.account_id, joins)
    if isinstance(made, RejudgingView):
        return accepted(made)
    case, created = made
    response.status_code = 201 if created else 200
    return case


def _checked(
    service: Service,
    problem_id: str,
    group: str,
    name: str,
    fields: Mapping[str, str],
    given: bytes | None,
    expected: bytes | None,
) -> tuple[NewCase, FoundScore | None]:
    with service.database.read() as session:
        row = existing(session, problem_id)
        groups = [each.name for each in problems.groups(session, problem_id)]
    faults = _name_faults(group, name, groups)
    options = _options(fields, faults)
    score = None
    if given is None:
        faults.add("input", "expected a file, found nothing")
    else:
        score = _check(service, row, f"data/{group}/{name}", given, expected, faults)
    if faults.found:
        errors = [{"file": each.file, "where": each.where, "message": each.message} for each in faults.found]
        raise BadRequest("; ".join(str(each) for each in faults.found), errors=errors)
    assert given is not None  # else there is a fault
    provenance = {"from": "admin", **({"reference": options} if options else {})}
    return NewCase(problem_id, group, name, given, expected, provenance), score


def _store(
    service: Service, new: NewCase, score: FoundScore | None, account_id: str | None, joins: int | None
) -> tuple[CaseView, bool] | RejudgingView:
    for data in (new.input, new.answer):
        if data is not None:
            service.files.keep(data)  # before the first query: other writers do not wait for the disk
    created = False

    def write() -> None:
        nonlocal created
        _, created = testcases.put_case(session, service.files, new, score)

    try:
        with service.database.write() as session:
            reason = f"test case {new.name} of {new.problem_id} has been put"
            made = change(session, new.problem_id, write, reason, account_id, joins=joins)
            job_id = _start_reference_run(session, new, account_id)
            found = details(session, existing(session, new.problem_id))
    except ProblemInUse as used:
        raise Conflict(str(used)) from None
    if job_id is not None:
        service.jobs.wake(job_id)
    if made is not None:
        service.engine.take_up()
        return made.model_copy(update={"reference_run": job_id})
    case = next(case for case in found.testcases if case.name == new.name)
    return case.model_copy(update={"reference_run": job_id}), created


def _start_reference_run(session: Session, new: NewCase, account_id: str | None) -> str | None:
    """Queue the job that makes the case's expected answer; None where it has one, or the problem names no solver."""
    wanted = rejudging_changes.wanted(session, new.problem_id)
    answered = wanted["cases"][new.name]["answer_sha256"] is not None
    if answered or wanted["columns"]["settings"].get("reference") is None:
        return None
    asked = ReferenceRunRequest(testcases=[new.name])
    return queue_run(session, existing(session, new.problem_id), asked, account_id).id


def _name_faults(group: str, name: str, groups: list[str]) -> Faults:
    faults = Faults()
    if not NAME.fullmatch(name) or name == "test_group":
        faults.add("name", BAD_NAME)
    if group not in {"sample", *groups}:
        faults.expect("group", "", expected=f"one of {', '.join(dict.fromkeys(['sample', *groups]))}", found=group)
    return faults


def _options(fields: Mapping[str, str], faults: Faults) -> dict[str, Any]:
    """How a reference run shall make the answer, each value checked."""
    options: dict[str, Any] = {}
    if (method := fields.get("method")) is not None:
        if METHOD.fullmatch(method):
            options["method"] = method
        else:
            faults.expect("method", "", expected="a method's name", found=repr(method[:80]))
    for key, kind, most in (("seconds", float, 3600), ("seed", int, 2**63 - 1)):
        if (text := fields.get(key)) is not None:
            try:
                value = kind(text)
            except ValueError:
                value = kind(-1)
            if 0 <= value <= most and (key == "seed" or value > 0):
                options[key] = value
            else:
                faults.expect(key, "", expected=f"a number up to {most}", found=repr(text[:80]))
    return options


def _check(
    service: Service, row: ProblemRow, path: str, given: bytes, expected: bytes | None, faults: Faults
) -> FoundScore | None:
    """Hold the files against the package's rules for texts, the problem's bounds and its checker."""
    files = {f"{path}.in": given, **({f"{path}.ans": expected} if expected is not None else {})}
    check_texts(files, faults)
    limit = row.settings["inputs"]["limit"]
    if len(given) > limit:
        faults.expect(f"{path}.in", "", expected=f"at most {limit} bytes", found=str(len(given)))
        return None
    question = Validate(row.settings["checker"], given, expected=expected)
    try:
        validated = service.engine.validate(question).result()
    except JudgeFailed as failed:
        faults.add(f"{path}.in", f"the checker failed by itself: {failed}")
        return None
    for fault in validated.faults:
        suffix = ".in" if fault["file"] == "input" else ".ans"
        faults.add(f"{path}{suffix}", fault["text"])
    return validated.score


@router.delete(PLACE, status_code=204, response_model=None, responses=RESPONSES, summary="Delete a test case")
def delete_testcase(
    problem_id: str,
    group: str,
    name: str,
    viewer: AdminOnly,
    session: Writing,
    service: TheService,
    joins: Joins = None,
) -> Response:
    """Only while its group keeps another. Where it would change what anybody has, it becomes a rejudging (202)."""
    existing(session, problem_id)

    def write() -> None:
        if not testcases.delete_case(session, problem_id, group, name):
            raise NotFound(f"problem {problem_id!r} has no test case {name!r} in {group!r}")

    try:
        reason = f"test case {name} of {problem_id} has been deleted"
        made = change(session, problem_id, write, reason, viewer.account_id, joins=joins)
    except ProblemInUse as used:
        raise Conflict(str(used)) from None
    if made is None:
        return Response(status_code=204)
    after_commit(session, service.engine.take_up)
    return accepted(made)

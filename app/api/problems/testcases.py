"""HTTP routes: test cases: what contestants may read of them, and how an admin puts and takes away single ones."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from app.api.http.deps import AdminOnly, CurrentViewer, Reading, TheService, Writing
from app.api.http.downloads import ARCHIVE, BYTES, PART, TEXT, WORDS, ZIP, file, form, stored_file, type_for
from app.api.http.forms import Expected, open_form
from app.api.http.gated import GatedRoute
from app.api.http.snapshot import TheSnapshot
from app.api.rejudgings.problem_changes import Joins, accepted
from app.packages.zips import kept_zip
from app.services.errors import Conflict, NotFound
from app.services.names import did_you_mean
from app.services.problems.packages import CaseView, existing
from app.services.problems.testcases import TestCase, checked, document, shown_cases, store
from app.services.rejudgings.problem_changes import RESPONSES, RejudgingView, change
from app.services.transactions import after_commit
from app.services.visibility import the_problem
from app.storage import testcases
from app.storage.problems import ProblemInUse

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


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/testcases",
    response_model=list[TestCase],
    response_model_exclude_unset=True,
    summary="A problem's test cases",
)
def list_testcases(problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> Any:
    """In order. The best raw scores stand still while the board is frozen."""
    problem = the_problem(snapshot, problem_id)
    return [document(viewer, snapshot, problem, each) for each in shown_cases(viewer, snapshot, session, problem)]


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/testcases/{name}/input",
    response_class=Response,
    responses={200: {"content": {TEXT: WORDS}}},
    summary="The input of a test case",
)
def get_testcase_input(
    problem_id: str, name: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, service: TheService
) -> Response:
    """The bytes as they are judged."""
    problem = the_problem(snapshot, problem_id)
    rows = {each.row.name: each.row for each in shown_cases(viewer, snapshot, session, problem)}
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
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> FileResponse:
    """Every input the viewer may read, as NAME.in; the same bytes each time, made once and kept."""
    problem = the_problem(snapshot, problem_id)
    shown = shown_cases(viewer, snapshot, session, problem)
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
    new = await run_sync(checked, service, problem_id, group, name, form.texts, given, expected)
    made = await run_sync(store, service, *new, viewer.account_id, joins)
    if isinstance(made, RejudgingView):
        return accepted(made)
    case, created = made
    response.status_code = 201 if created else 200
    return case


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

"""HTTP routes: test cases: what contestants may read of them, and how an admin puts and takes away single ones."""

from __future__ import annotations

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from app.authoring.service.packages import CaseView
from app.authoring.service.testcases import (
    CaseRequest,
    TestCase,
    case_input,
    delete_case,
    inputs_zip,
    list_cases,
    put_case,
)
from app.core.http.deps import CurrentViewer, Reading, TheService, Writing
from app.core.http.downloads import ARCHIVE, BYTES, PART, TEXT, WORDS, ZIP, file, form, stored_file, type_for
from app.core.http.forms import Expected, open_form
from app.core.http.gated import GatedRoute
from app.core.http.snapshot import TheSnapshot
from app.judging.routes.problem_changes import PREVIEWED, RESPONSES, TheHow, accepted
from app.judging.service.rejudgings.previews import Preview
from app.judging.service.rejudgings.problem_changes import RejudgingView

router = APIRouter(route_class=GatedRoute, tags=["test cases"])
PLACE = "/problems/{problem_id}/testcases/{group:path}/{name}"
PARTS = Expected(texts=frozenset({"method", "seconds", "seed"}), files=frozenset({"input", "answer"}), parts=10)
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
    response_model_exclude_unset=True,
    summary="A problem's test cases",
)
def list_testcases(problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> list[TestCase]:
    """In order. The best raw scores stand still while the board is frozen."""
    return list_cases(viewer, snapshot, session, problem_id)


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
    row = case_input(viewer, snapshot, session, problem_id, name)
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
    path = inputs_zip(service, viewer, snapshot, session, problem_id)
    headers = {"ETag": f'"{path.stem}"'}  # of what is in it: each server makes a file of its own, at another time
    name = f"{problem_id}-inputs.zip"
    return FileResponse(path, media_type=type_for(request, ZIP, BYTES), filename=name, headers=headers)


@router.put(
    PLACE,
    response_model=CaseView,
    responses={**PREVIEWED, 201: {"model": CaseView, "description": "It is new"}, **RESPONSES},
    openapi_extra={"requestBody": {"required": True, "content": FORM}},
    summary="Put a test case",
)
async def put_testcase(
    request: Request,
    response: Response,
    problem_id: str,
    group: str,
    name: str,
    viewer: CurrentViewer,
    service: TheService,
    how: TheHow,
) -> CaseView | Response:
    """Form: the file `input`, perhaps the file `answer`; else `method`, `seconds`, `seed` of the reference run that is
    started to make it (`reference_run` in the reply), where the problem names a solver.

    Everything is checked before anything is stored, and all faults are listed at once. Where it would change what
    anybody has, the change becomes a rejudging (202), to be applied.
    """
    async with open_form(request, PARTS) as form:
        asked = CaseRequest(problem_id, group, name, form.read("input"), form.read("answer"), form.texts)
    outcome = await run_sync(put_case, service, viewer, asked, how)
    if isinstance(outcome, (RejudgingView, Preview)):
        return accepted(outcome)
    response.status_code = 201 if outcome.is_new else 200
    return outcome.case


@router.delete(
    PLACE,
    status_code=204,
    response_model=None,
    responses={**PREVIEWED, **RESPONSES},
    summary="Delete a test case",
)
def delete_testcase(
    problem_id: str,
    group: str,
    name: str,
    viewer: CurrentViewer,
    session: Writing,
    service: TheService,
    how: TheHow,
) -> Response:
    """Only while its group keeps another. Where it would change what anybody has, it becomes a rejudging (202)."""
    opened = delete_case(service, viewer, session, (problem_id, group, name), how)
    return Response(status_code=204) if opened is None else accepted(opened)

"""HTTP routes: test cases: what contestants may read of them, and how an admin puts and takes away single ones.

- HTTP routes: problems as such, in whatever contest: their packages come and go here.
- HTTP routes: many test cases of a problem put at once by a zip, and its groups.
"""

from contextlib import AsyncExitStack
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Query, Request, Response
from fastapi.responses import FileResponse, JSONResponse

from app.accounts.routes.accounts import WritingAccounts
from app.authoring.service import contest_problems, editing, packages, testcases, versions
from app.authoring.service.packages import BroughtIn, CaseView, JudgeFormat, ProblemDetails, ProblemView, SentPackage
from app.contests.schemas import ContestView
from app.core.faults import Steps
from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheAuthenticator, TheService, TheSnapshot
from app.core.http.downloads import (
    ARCHIVE,
    BYTES,
    PART,
    TEXT,
    TOLD,
    UPLOADED_ZIP,
    WORDS,
    ZIP,
    ProgressReply,
    TemporaryFileReply,
    file,
    form,
    stored_file,
    type_for,
    wants_progress,
)
from app.core.http.errors import ErrorBody, zip_body
from app.core.http.forms import Expected, open_form
from app.core.http.middleware import API
from app.judging.routes import PREVIEWED, RESPONSES, TheHow, accepted
from app.judging.service.problem_changes import Preview, RejudgingView
from app.problems.service import shown_cases

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
def list_testcases(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> list[shown_cases.TestCase]:
    """In order. The best raw scores stand still while the board is frozen."""
    return shown_cases.list_cases(viewer, snapshot, session, problem_id)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/testcases/{name}/input",
    response_class=Response,
    responses={200: {"content": {TEXT: WORDS}}},
    summary="The input of a test case",
)
def get_testcase_input(
    problem_id: str, name: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, service: TheService
) -> Response:
    """The judged bytes."""
    row = shown_cases.case_input(viewer, snapshot, session, problem_id, name)
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
    path = shown_cases.inputs_zip(service, viewer, snapshot, session, problem_id)
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
    """Form: the file `input`, optionally the file `answer`, or `method`, `seconds`, `seed` of the reference run that is
    started to make it (`reference_run` in the reply), where the problem names a solver.

    Everything is checked before anything is stored, and all faults are listed at once. A change that affects points
    becomes a rejudging (202), to be applied.
    """
    async with open_form(request, PARTS) as form:
        asked = testcases.CaseRequest(problem_id, group, name, form.read("input"), form.read("answer"), form.texts)
    outcome = await run_sync(testcases.put_case, service, viewer, asked, how)
    if isinstance(outcome, (RejudgingView, Preview)):
        return accepted(outcome)
    case, is_new = outcome
    response.status_code = 201 if is_new else 200
    return case


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
    service: TheService,
    how: TheHow,
) -> Response:
    """A group that loses its last case goes. If it affects points, it becomes a rejudging (202)."""
    outcome = testcases.delete_case(service, viewer, (problem_id, group, name), how)
    return Response(status_code=204) if isinstance(outcome, ProblemDetails) else accepted(outcome)


packages_router = APIRouter(route_class=GatedRoute, tags=["problems"])


@packages_router.get("/problems", summary="All problems")
def list_problems(viewer: CurrentViewer, session: Reading) -> list[ProblemView]:
    """By id, whether they are in a contest or not. Organisers see those at which they have a role."""
    return packages.listed(session, viewer)


@packages_router.get("/problems/{problem_id}", summary="One problem with its test cases")
def get_problem(problem_id: str, _viewer: CurrentViewer, session: Reading, response: Response) -> ProblemDetails:
    """Settings, groups, test cases and where it is used. The ETag is its version, for If-Match of changes."""
    shown = packages.one(session, problem_id)
    response.headers["ETag"] = f'"{shown.version}"'
    return shown


@packages_router.get(
    "/problems/{problem_id}/package.zip",
    response_class=Response,
    responses={**ARCHIVE, 409: {"model": ErrorBody, "description": "No package can hold the problem as it is"}},
    summary="The problem as a package",
)
def get_problem_package(
    request: Request, problem_id: str, _viewer: CurrentViewer, session: Reading, service: TheService
) -> Response:
    """A Kattis 2025-09 package with the current test cases; 409 while no secret one has an expected answer."""
    packed = versions.package_zip(service, session, problem_id)
    return TemporaryFileReply(packed, type_for(request, ZIP, BYTES), f"{problem_id}.zip")


@packages_router.delete("/problems/{problem_id}", status_code=204, summary="Delete a problem")
def delete_problem(problem_id: str, _viewer: CurrentViewer, session: WritingAccounts) -> None:
    """Only while it is in no contest and has no submissions; its jobs are cancelled."""
    packages.delete(session, problem_id)


@packages_router.post(
    "/problems",
    status_code=201,
    response_model=BroughtIn,
    responses={**PREVIEWED, **RESPONSES, 200: {**PREVIEWED[200], **TOLD[200]}},
    openapi_extra={"requestBody": {"required": True, "content": UPLOADED_ZIP}},
    summary="Import a problem package",
)
async def import_problem(
    request: Request,
    viewer: CurrentViewer,
    service: TheService,
    authenticator: TheAuthenticator,
    how: TheHow,
    id: Annotated[str | None, Query(description="the problem's id where the zip has no top folder")] = None,
    format: Annotated[JudgeFormat | None, Query(description="the judge that the zip is of; told by its files")] = None,
) -> Response:
    """A zip as the body. A problem of that id is replaced; all errors at once.

    A zip of another judge is turned into a package, and the warnings say how.

    If it affects points, the new version becomes a rejudging (202), to be applied. With `Accept:
    application/x-ndjson` there are lines of progress, the last one with the status and the body of the reply.
    """
    async with AsyncExitStack() as undo:
        path = await undo.enter_async_context(zip_body(request, service.settings.max_package))
        sent = SentPackage(path, id, format=format)

        def work(steps: Steps) -> Response:
            outcome = packages.bring_in(service, viewer, sent, how, steps)
            authenticator.forget(viewer.account_id)  # it may own a problem more
            if isinstance(outcome, (RejudgingView, Preview)):
                return accepted(outcome)
            return JSONResponse(outcome.model_dump(mode="json"), 201, {"Location": f"{API}/problems/{outcome.id}"})

        if wants_progress(request):
            return ProgressReply(request, work, undo.pop_all())
        return await run_sync(work, Steps())


@packages_router.post("/problems/new", status_code=201, summary="Create a problem")
def create_problem(
    viewer: CurrentViewer, service: TheService, authenticator: TheAuthenticator, asked: editing.NewProblem
) -> BroughtIn:
    """A small example problem with the chosen scoring and checker, or an outline; both verify."""
    created = editing.create(service, viewer, asked)
    authenticator.forget(viewer.account_id)  # it owns a problem more
    return created


@packages_router.post("/problems/{problem_id}/trials", summary="Try an answer to a test case")
def create_trial(
    problem_id: str, _viewer: CurrentViewer, service: TheService, asked: editing.TrialRequest
) -> editing.Trial:
    """The newest version's checker scores it; nothing is stored."""
    return editing.try_answer(service, problem_id, asked)


@packages_router.post("/contests/predictions", summary="Create a prediction contest", status_code=201)
def create_prediction_contest(
    viewer: CurrentViewer,
    service: TheService,
    authenticator: TheAuthenticator,
    asked: Annotated[contest_problems.TableBody, Query()],
    table: Annotated[bytes, Body(media_type="application/octet-stream", description="a CSV table")],
) -> ContestView:
    """The rows of the table become training rows, which teams get with their truth, public rows and private rows.

    The contest has one problem, and no start yet. A team's last submission counts, unless it chooses another one.
    """
    made = contest_problems.create_predictions(service, viewer, table, asked)
    authenticator.forget(viewer.account_id)  # it owns a contest and a problem more
    return made


TEST_DATA_PLACE = "/problems/{problem_id}/testcases"


@router.post(
    TEST_DATA_PLACE,
    response_model=ProblemDetails,
    responses=RESPONSES,
    openapi_extra={"requestBody": {"required": True, "content": UPLOADED_ZIP}},
    summary="Put many test cases",
)
async def import_testcases(
    request: Request,
    problem_id: str,
    viewer: CurrentViewer,
    service: TheService,
    how: TheHow,
    only: Annotated[bool, Query(description="delete all test cases that the zip does not have")] = False,
) -> ProblemDetails | Response:
    """The body is a zip.

    `secret/NAME.in` or `secret/GROUP/NAME.in`, optionally with `NAME.ans` (the expected answer) and `NAME.yaml`
    (`output_validator_args`). In a group's folder `test_group.yaml` makes or changes it (`max_score`,
    `score_aggregation`, `require_pass`).

    All of it is one version; a case in another group than before moves. All faults at once, each with its entry.
    """
    async with zip_body(request, service.settings.max_upload) as path:
        outcome = await run_sync(lambda: testcases.put_cases(service, viewer, problem_id, path, how, only=only))
    return outcome if isinstance(outcome, ProblemDetails) else accepted(outcome)


@router.patch(
    TEST_DATA_PLACE, response_model=ProblemDetails, responses=RESPONSES, summary="Change groups and move test cases"
)
def change_testcases(
    problem_id: str, viewer: CurrentViewer, service: TheService, body: testcases.DataBody, how: TheHow
) -> ProblemDetails | Response:
    """Groups are made, renamed, given points and aggregation, cases moved between them and deleted: all as one version.

    A group that loses its last case is taken out. Points of a group with `sum` are shared equally by its cases.
    """
    outcome = testcases.arrange(service, viewer, problem_id, body, how)
    return outcome if isinstance(outcome, ProblemDetails) else accepted(outcome)

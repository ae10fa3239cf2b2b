"""HTTP routes: many test cases of a problem put at once by a zip, and its groups."""

from __future__ import annotations

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from app.authoring.service.packages import ProblemDetails
from app.authoring.service.test_data import DataBody, arrange, put_cases
from app.core.errors import BadRequest, UnsupportedMedia
from app.core.http.deps import CurrentViewer, TheService
from app.core.http.downloads import UPLOADED_ZIP, file, form
from app.core.http.forms import Expected, open_form
from app.core.http.gated import GatedRoute
from app.core.http.uploads import ZIPS, body_file, content_type
from app.core.messages import N_
from app.judging.routes.problem_changes import RESPONSES, TheHow, accepted

router = APIRouter(route_class=GatedRoute, tags=["test cases"])
PLACE = "/problems/{problem_id}/testcases"
PARTS = Expected(texts=frozenset(), files=frozenset({"cases"}), parts=2)
FORM = form("TestCasesForm", ["cases"], {"cases": file("the test cases, zipped")})


@router.post(
    PLACE,
    response_model=ProblemDetails,
    responses=RESPONSES,
    openapi_extra={"requestBody": {"required": True, "content": {**FORM, **UPLOADED_ZIP}}},
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
    """A zip as the body, or as the file `cases` of a form: `secret/NAME.in` or `secret/GROUP/NAME.in`, beside each
    perhaps `NAME.ans` (the expected answer) and `NAME.yaml` (`hint`, `description`, `output_validator_args`). In a
    group's folder `test_group.yaml` makes or changes it (`max_score`, `score_aggregation`, `require_pass`).

    All of it is one version; a case in another group than before moves. All faults at once, each with its entry.
    """
    kind = content_type(request)
    if kind == "multipart/form-data":
        async with open_form(request, PARTS) as sent:
            data = sent.read("cases")
        if data is None:
            raise BadRequest(N_("expected a zip file, found nothing"), where="cases")
        outcome = await run_sync(lambda: put_cases(service, viewer, problem_id, data, how, only=only))
    elif kind in ZIPS:
        async with body_file(request, service.settings.max_upload) as path:
            outcome = await run_sync(lambda: put_cases(service, viewer, problem_id, path, how, only=only))
    else:
        raise UnsupportedMedia(
            N_("expected application/zip or multipart/form-data, found %(found)s"),
            where="Content-Type",
            found=kind or "none",
        )
    return outcome if isinstance(outcome, ProblemDetails) else accepted(outcome)


@router.patch(PLACE, response_model=ProblemDetails, responses=RESPONSES, summary="Change groups and move test cases")
def change_testcases(
    problem_id: str, viewer: CurrentViewer, service: TheService, body: DataBody, how: TheHow
) -> ProblemDetails | Response:
    """Groups are made, renamed, given points and aggregation, cases moved between them and deleted: all as one version.

    A group that loses its last case is taken out. Points of a group with `sum` are shared equally by its cases.
    """
    outcome = arrange(service, viewer, problem_id, body, how)
    return outcome if isinstance(outcome, ProblemDetails) else accepted(outcome)

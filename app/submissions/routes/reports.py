"""HTTP routes: the report on a submission: what became of every file, every case and every group, and why.

- HTTP routes: the inputs of final cases, where each team asks for them and has so many minutes from then on.
- HTTP routes: how often a team may still submit to a problem, and when.
- HTTP routes: the submission a team wants to be judged by after the end, in place of its last or best one.
- HTTP routes: the sources a team attached to a submission: kept and not judged, for the team itself and for judges.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheService, TheSnapshot
from app.core.http.downloads import ANY_FILE, OCTETS, stored_file
from app.submissions.service.chosen import (
    Chosen,
    ChosenBody,
    FinalInputs,
    QuotaView,
    ask,
    choose,
    chosen,
    final_inputs,
    quota_of,
)
from app.submissions.service.report_bodies import Report, SourceFile, source, sources
from app.submissions.service.reports import image, report

router = APIRouter(route_class=GatedRoute, tags=["submissions"])


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/report",
    summary="What became of a submission",
    response_model_exclude_unset=True,
)
def get_report(
    contest_id: str, submission_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> Report:
    """Per file whether it was taken; per case verdict, raw score, points and message; per group its points."""
    return report(viewer, snapshot, session, submission_id)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/images/{case_name}/{image_name}",
    response_class=Response,
    responses={**ANY_FILE, 304: {"description": "the client has it already"}},
    summary="An image that a checker left",
)
def get_image(
    request: Request,
    contest_id: str,
    submission_id: str,
    case_name: str,
    image_name: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """One that the report lists for this viewer. An SVG, which may hold scripts, comes as a download."""
    shown = image(viewer, snapshot, session, submission_id, case_name, image_name)
    kind = "attachment" if shown["mime"] == "image/svg+xml" else "inline"
    headers = {
        "ETag": f'"{shown["sha256"]}"',
        "Cache-Control": "private, no-cache",  # asked for again each time: the reader may have lost the right to it
        "Vary": "Authorization",
        "Content-Disposition": f'{kind}; filename="{shown["name"]}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    if shown["sha256"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(service.files.load(shown["sha256"]), media_type=shown["mime"], headers=headers)


final_inputs_router = APIRouter(route_class=GatedRoute, tags=["test cases"])


@final_inputs_router.get(
    "/contests/{contest_id}/problems/{problem_id}/inputs", summary="Until when final answers are taken"
)
def get_final_inputs(problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> FinalInputs:
    """Of one's own team; nothing before it has asked for them."""
    return final_inputs(viewer, snapshot, session, problem_id)


@final_inputs_router.post(
    "/contests/{contest_id}/problems/{problem_id}/inputs", summary="Ask for the final inputs", status_code=201
)
def ask_for_final_inputs(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, service: TheService, response: Response
) -> FinalInputs:
    """Starts the team's timer, once: asked again, it tells of the one that runs."""
    started = ask(service, viewer, snapshot, problem_id)
    response.status_code = 201 if started.is_new else 200
    return started.inputs


@router.get("/contests/{contest_id}/problems/{problem_id}/quota", summary="How often one may still submit")
def get_quota(
    problem_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    team_id: Annotated[str | None, Query(description="for judges: the team")] = None,
) -> QuotaView:
    """Of one's own team. A submission the judge failed on does not count, nor one that an admin made for the team."""
    return quota_of(viewer, snapshot, session, problem_id, team_id)


PLACE = "/contests/{contest_id}/problems/{problem_id}/chosen"


@router.get(PLACE, summary="The submission one's own team has chosen")
def get_chosen_submission(problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> Chosen:
    """Null while it has chosen none."""
    return chosen(viewer, snapshot, session, problem_id)


@router.put(PLACE, summary="Choose the submission that shall count after the end")
def choose_submission(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, service: TheService, body: ChosenBody
) -> Chosen:
    """Until the end, as often as one likes. The board follows the contest's rule until then."""
    return choose(service, viewer, snapshot, problem_id, body)


@router.delete(PLACE, summary="Choose none")
def clear_chosen_submission(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, service: TheService
) -> Chosen:
    """The contest's rule says then what counts."""
    return choose(service, viewer, snapshot, problem_id, None)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/sources",
    summary="The sources of a submission",
)
def list_sources(
    contest_id: str, submission_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> list[SourceFile]:
    """Their names and sizes, and where each can be had."""
    return list(sources(viewer, snapshot, session, submission_id).values())


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/sources/{name:path}",
    response_class=Response,
    responses=OCTETS,
    summary="One source file",
)
def get_source(
    name: str,
    contest_id: str,
    submission_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """As it was sent."""
    file = source(viewer, snapshot, session, submission_id, name)
    headers = {"Content-Disposition": "attachment"}  # never shown by a browser: it is somebody's file
    return stored_file(service.files, file.sha256, file.size, "application/octet-stream", headers)

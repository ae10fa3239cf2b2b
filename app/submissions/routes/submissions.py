"""HTTP routes: what became of submissions: the CLICS list, files, judgements and runs, and reports on each of them.

- The inputs of final cases, where each team asks for them and has so many minutes from then on.
- How often a team may still submit to a problem, and which submission it wants to be judged by after the end.
- The sources a team attached to a submission: kept and not judged, for the team itself and for judges.
"""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.contests.service.capabilities import problem_called
from app.core.http import downloads, lists
from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheService, TheSnapshot
from app.feed.service.collections import BY_NAME
from app.submissions.service import chosen, judgements, submissions
from app.submissions.service.reports import Report, image, report
from app.submissions.service.submission_form import Submission
from app.submissions.service.submissions import answer, files_zip, numbered, submission

router = APIRouter(route_class=GatedRoute, tags=["submissions"])
SUBMISSIONS = lists.Large(BY_NAME["submissions"], numbered)


@router.get("/contests/{contest_id}/submissions", response_model=list[Submission], summary="All submissions")
async def list_submissions(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: lists.TheLists,
    team_id: Annotated[str | None, Query()] = None,
    problem_id: Annotated[str | None, Query()] = None,
    language_id: Annotated[str | None, Query()] = None,
    account_id: Annotated[str | None, Query()] = None,
) -> Response:
    """Those the viewer may know of, in order."""
    problem_id = problem_id and problem_called(snapshot, problem_id)
    wanted = {"team_id": team_id, "problem_id": problem_id, "language_id": language_id, "account_id": account_id}
    return await lists.large(SUBMISSIONS, viewer, snapshot, **wanted)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}", summary="One submission", response_model_exclude_unset=True
)
def get_submission(submission_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> Submission:
    """Its metadata, with its files if the account may read them."""
    return submission(viewer, snapshot, session, submission_id)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/files",
    response_class=Response,
    responses=downloads.ARCHIVE,
    summary="The answer files of a submission",
)
def get_submission_files(
    request: Request,
    submission_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """The files that were taken as answers, as a zip (the same bytes each time), and the sources below `sources/`.

    The sources are there for the team itself and judges only.
    """
    headers = {"Content-Disposition": f'attachment; filename="{submission_id}.zip"'}
    data = files_zip(service, viewer, snapshot, session, submission_id)
    return Response(data, media_type=downloads.type_for(request, downloads.ZIP, downloads.BYTES), headers=headers)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/answers/{case_name}",
    response_class=Response,
    responses=downloads.OCTETS,
    summary="The answer that counts for a case",
)
def get_answer(
    case_name: str,
    submission_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """One case's answer file as it counts for this submission; the header Jurado-Submission says who brought it."""
    data, brought_by = answer(service, viewer, snapshot, session, submission_id, case_name)
    headers = {
        "Jurado-Submission": brought_by,
        "Content-Disposition": f'attachment; filename="{case_name}.out"',
    }
    return Response(data, media_type="application/octet-stream", headers=headers)


judgements_router = APIRouter(route_class=GatedRoute, tags=["judgements"])
JUDGEMENTS = lists.Large(BY_NAME["judgements"], judgements.numbered_judgements)
RUNS = lists.Large(BY_NAME["runs"], judgements.numbered_runs, teams=judgements.whose_runs, objects=16)


@judgements_router.get(
    "/contests/{contest_id}/judgements",
    response_model=list[judgements.Judgement],
    response_model_exclude_unset=True,
    summary="All judgements",
)
async def list_judgements(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: lists.TheLists,
    submission_id: Annotated[str | None, Query()] = None,
    judgement_type_id: Annotated[str | None, Query()] = None,
) -> Response | list[judgements.Judgement]:
    """Those the viewer may know of, by submission and in order."""
    if submission_id:
        return await lists.few(partial(judgements.judgements_of, viewer, snapshot, submission_id, judgement_type_id))
    # An empty id asks for those without one, of which there are none.
    return await lists.large(
        JUDGEMENTS, viewer, snapshot, submission_id=submission_id, judgement_type_id=judgement_type_id
    )


@judgements_router.get(
    "/contests/{contest_id}/judgements/{judgement_id}",
    response_model_exclude_unset=True,
    summary="One judgement",
)
def get_judgement(
    judgement_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> judgements.Judgement:
    """Its verdict and its points."""
    return judgements.judgement(viewer, snapshot, session, judgement_id)


@judgements_router.get("/contests/{contest_id}/runs", response_model=list[judgements.JudgedCase], summary="All runs")
async def list_runs(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: lists.TheLists,
    judgement_id: Annotated[str | None, Query()] = None,
    judgement_type_id: Annotated[str | None, Query()] = None,
) -> Response | list[judgements.JudgedCase]:
    """Teams see their own, judges all, others none unless the contest shows answers."""
    if judgement_id:
        return await lists.few(partial(judgements.runs_of, viewer, snapshot, judgement_id, judgement_type_id))
    return await lists.large(RUNS, viewer, snapshot, judgement_id=judgement_id, judgement_type_id=judgement_type_id)


@judgements_router.get("/contests/{contest_id}/runs/{run_id}", summary="One run")
def get_run(run_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> judgements.JudgedCase:
    """What the checker found for one case of one judgement."""
    return judgements.run(viewer, snapshot, session, run_id)


reports_router = APIRouter(route_class=GatedRoute, tags=["submissions"])


@reports_router.get(
    "/contests/{contest_id}/submissions/{submission_id}/report",
    summary="The report on a submission",
    response_model_exclude_unset=True,
)
def get_report(submission_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> Report:
    """Per file whether it was taken; per case verdict, raw score, points and message; per group its points."""
    return report(viewer, snapshot, session, submission_id)


@reports_router.get(
    "/contests/{contest_id}/submissions/{submission_id}/images/{case_name}/{image_name}",
    response_class=Response,
    responses={**downloads.ANY_FILE, 304: {"description": "the client has it already"}},
    summary="An image that a checker left",
)
def get_image(
    request: Request,
    submission_id: str,
    case_name: str,
    image_name: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """An image that the report lists. An SVG, which may contain scripts, is a download."""
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
def get_final_inputs(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> chosen.FinalInputs:
    """Of one's own team; nothing before it has asked for them."""
    return chosen.final_inputs(viewer, snapshot, session, problem_id)


@final_inputs_router.post(
    "/contests/{contest_id}/problems/{problem_id}/inputs", summary="Ask for the final inputs", status_code=201
)
def ask_for_final_inputs(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, service: TheService, response: Response
) -> chosen.FinalInputs:
    """Starts the team's timer once; again, it returns the running one."""
    inputs, is_new = chosen.ask(service, viewer, snapshot, problem_id)
    response.status_code = 201 if is_new else 200
    return inputs


@reports_router.get("/contests/{contest_id}/problems/{problem_id}/quota", summary="How often one may still submit")
def get_quota(
    problem_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    team_id: Annotated[str | None, Query(description="for judges: the team")] = None,
) -> chosen.QuotaView:
    """For the own team. Submissions with a judge error and submissions by admins do not count."""
    return chosen.quota_of(viewer, snapshot, session, problem_id, team_id)


PLACE = "/contests/{contest_id}/problems/{problem_id}/chosen"


@reports_router.get(PLACE, summary="The submission one's own team has chosen")
def get_chosen_submission(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> chosen.Chosen:
    """Null while it has chosen none."""
    return chosen.chosen(viewer, snapshot, session, problem_id)


@reports_router.put(PLACE, summary="Choose the submission that shall count after the end")
def choose_submission(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, service: TheService, body: chosen.ChosenBody
) -> chosen.Chosen:
    """Until the end, as often as one likes. The board follows the contest's rule until then."""
    return chosen.choose(service, viewer, snapshot, problem_id, body)


@reports_router.delete(PLACE, summary="Choose none")
def clear_chosen_submission(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, service: TheService
) -> chosen.Chosen:
    """The contest's rule says then what counts."""
    return chosen.choose(service, viewer, snapshot, problem_id, None)


@reports_router.get(
    "/contests/{contest_id}/submissions/{submission_id}/sources",
    summary="The sources of a submission",
)
def list_sources(
    submission_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> list[submissions.SourceFile]:
    """Their names and sizes, and where each can be had."""
    return list(submissions.sources(viewer, snapshot, session, submission_id).values())


@reports_router.get(
    "/contests/{contest_id}/submissions/{submission_id}/sources/{name:path}",
    response_class=Response,
    responses=downloads.OCTETS,
    summary="One source file",
)
def get_source(
    name: str,
    submission_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """The submitted bytes."""
    file = submissions.source(viewer, snapshot, session, submission_id, name)
    headers = {"Content-Disposition": "attachment"}  # never shown by a browser: it is someone's file
    return downloads.stored_file(service.files, file.sha256, file.size, "application/octet-stream", headers)

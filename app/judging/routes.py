"""Changes of problems: how a request wants them made, and the reply where one waits as a rejudging or is previewed.

- HTTP routes: rejudgings, opened, previewed, applied and undone.
"""

import re
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Query, Response
from fastapi.responses import JSONResponse

from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheService, Writing
from app.core.http.errors import ErrorBody
from app.core.http.middleware import API
from app.core.messages import N_, BadRequest
from app.judging.service import problem_changes, rejudging_difference, rejudgings
from app.judging.service.problem_changes import How, Preview, RejudgingView
from app.judging.service.rejudgings import ApplyBody, RejudgingBody

VERSION = re.compile(r'(?:W/)?"?([0-9]{1,9})"?')
RESPONSES: dict[int | str, dict[str, object]] = {
    **problem_changes.RESPONSES,
    412: {"model": ErrorBody, "description": "the problem is no longer the version that If-Match names"},
}
PREVIEWED: dict[int | str, dict[str, object]] = {
    200: {"model": Preview, "description": "what the change would do (preview=true)"}
}


def _how(
    contests: Annotated[
        Literal["follow", "keep"],
        Query(description="follow: contests with submissions go along, by a rejudging; keep: they keep their version"),
    ] = "follow",
    preview: Annotated[bool, Query(description="only say what the change would do (200); nothing is stored")] = False,
    if_match: Annotated[
        str | None, Header(description="the problem version (its ETag) to change; 412 if there is a newer one")
    ] = None,
) -> How:
    """The options of a change of a problem."""
    return How(contests == "keep", preview, None if if_match is None else _version(if_match))


def _version(text: str) -> int:
    match = VERSION.fullmatch(text.strip())
    if match is None:
        raise BadRequest(
            N_('expected the number of a version, such as "3", found %(found)r'), where="If-Match", found=text[:80]
        )
    return int(match[1])


TheHow = Annotated[How, Depends(_how)]


def accepted(outcome: RejudgingView | Preview) -> JSONResponse:
    """The reply where a change has become a rejudging, or was only previewed."""
    if isinstance(outcome, Preview):
        return JSONResponse(outcome.model_dump())
    return JSONResponse(outcome.model_dump(), 202, {"Location": f"{API}/{outcome.href}"})


router = APIRouter(route_class=GatedRoute, tags=["rejudgings"])
PLACE = "/contests/{contest_id}/rejudgings/{rejudging_id}"


@router.post("/contests/{contest_id}/rejudgings", status_code=201, summary="Judge submissions again")
def create_rejudging(
    viewer: CurrentViewer,
    session: Writing,
    service: TheService,
    contest_id: str,
    body: RejudgingBody,
    response: Response,
) -> RejudgingView:
    """In the background; nothing changes until it is applied."""
    opened = rejudgings.create(session, service, viewer, contest_id, body)
    response.headers["Location"] = f"{API}/{opened.href}"
    return opened


@router.get("/contests/{contest_id}/rejudgings", summary="All rejudgings")
def list_rejudgings(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[RejudgingView]:
    """The contest's rejudgings, oldest first, including applied, undone and cancelled ones."""
    return rejudgings.listed(session, contest_id)


@router.get(PLACE, summary="One rejudging")
def get_rejudging(_viewer: CurrentViewer, session: Reading, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Its state, and how many of its judgements are done."""
    return rejudgings.one(session, contest_id, rejudging_id)


@router.get(f"{PLACE}/difference", summary="What a rejudging changes")
def get_rejudging_difference(
    _viewer: CurrentViewer,
    session: Reading,
    contest_id: str,
    rejudging_id: str,
    everything: Annotated[bool, Query(alias="all", description="also unchanged results")] = False,
) -> rejudging_difference.DifferenceView:
    """In this contest: per case verdict and raw score, per submission type and points, per team points and rank.

    Before and after it is applied. Submissions that are not rejudged yet are shown unchanged.
    """
    return rejudgings.preview(session, contest_id, rejudging_id, everything=everything)


@router.post(f"{PLACE}/apply", summary="Apply a rejudging")
def apply_rejudging(
    viewer: CurrentViewer, service: TheService, contest_id: str, rejudging_id: str, body: ApplyBody | None = None
) -> RejudgingView:
    """All of it in one transaction. Submissions of the last ten seconds that are not judged yet are judged after it.

    409 with Retry-After while older ones are not judged. An undone rejudging may be applied again.
    """
    return rejudgings.apply(service, viewer, contest_id, rejudging_id, body or ApplyBody())


@router.post(f"{PLACE}/cancel", summary="Cancel a rejudging")
def cancel_rejudging(viewer: CurrentViewer, service: TheService, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Nothing of it is seen anywhere; what is not judged yet will not be."""
    return rejudgings.cancel(service, viewer, contest_id, rejudging_id)


@router.post(f"{PLACE}/undo", summary="Undo a rejudging")
def undo_rejudging(viewer: CurrentViewer, service: TheService, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Restores the state before it was applied; later submissions to a changed problem are judged again."""
    return rejudgings.undo(service, viewer, contest_id, rejudging_id)

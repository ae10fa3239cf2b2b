"""HTTP routes: rejudgings, opened, previewed, applied and undone."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.core.http.deps import CurrentViewer, Reading, TheService, Writing
from app.core.http.gated import GatedRoute
from app.core.http.middleware import API
from app.judging.service.rejudgings import commands
from app.judging.service.rejudgings.difference import DifferenceView
from app.judging.service.rejudgings.problem_changes import RejudgingView
from app.judging.service.rejudgings.rejudgings import ApplyBody, RejudgingBody

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
    """Silently and in the background: nothing changes for anybody until it is applied."""
    opened = commands.create(session, service, viewer, contest_id, body)
    response.headers["Location"] = f"{API}/{opened.href}"
    return opened


@router.get("/contests/{contest_id}/rejudgings", summary="All rejudgings")
def list_rejudgings(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[RejudgingView]:
    """Those that concern the contest, oldest first, also those that are applied, undone or cancelled."""
    return commands.listed(session, contest_id)


@router.get(PLACE, summary="One rejudging")
def get_rejudging(_viewer: CurrentViewer, session: Reading, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Its state, and how many of its judgements are done."""
    return commands.one(session, contest_id, rejudging_id)


@router.get(f"{PLACE}/difference", summary="What a rejudging changes")
def get_rejudging_difference(
    _viewer: CurrentViewer,
    session: Reading,
    contest_id: str,
    rejudging_id: str,
    everything: Annotated[bool, Query(alias="all", description="also what stays as it is")] = False,
    since: Annotated[str | None, Query(description="a version: newcomers are those that came after it")] = None,
) -> DifferenceView:
    """In this contest: per case verdict and raw score, per submission type and points, per team points and rank.

    Before and after applying it; of one that is applied, before and after that. What is not judged yet is as it was.
    """
    return commands.preview(session, contest_id, rejudging_id, everything=everything, since=since)


@router.post(f"{PLACE}/apply", summary="Apply a rejudging")
def apply_rejudging(
    viewer: CurrentViewer, service: TheService, contest_id: str, rejudging_id: str, body: ApplyBody | None = None
) -> RejudgingView:
    """All of it in one transaction, with what was submitted meanwhile: the last few submissions to a changed problem
    are judged in this step, while others to it wait. 409 with Retry-After while more is to be judged; one that was
    undone may be applied once more.
    """
    return commands.apply(service, viewer, contest_id, rejudging_id, body or ApplyBody(), API)


@router.post(f"{PLACE}/cancel", summary="Give a rejudging up")
def cancel_rejudging(viewer: CurrentViewer, service: TheService, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Nothing of it is seen anywhere; what is not judged yet will not be."""
    return commands.cancel(service, viewer, contest_id, rejudging_id)


@router.post(f"{PLACE}/undo", summary="Undo a rejudging")
def undo_rejudging(viewer: CurrentViewer, service: TheService, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Everything is as it was before it was applied; what was submitted since to a changed problem is judged again."""
    return commands.undo(service, viewer, contest_id, rejudging_id)

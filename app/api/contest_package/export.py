"""HTTP routes: a contest as a contest package."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from sqlalchemy.orm import Session

from app.api.contests import contests
from app.api.http.deps import AdminOnly, TheService
from app.api.http.downloads import ARCHIVE, BYTES, ZIP, type_for
from app.api.http.gated import GatedRoute
from app.api.http.growing import GrowingFile, GrowingResponse, Sink
from app.grading.contest_snapshot import ContestSnapshot
from app.packages.zips import write_zip
from app.service import Service
from app.services.collections import IN_REFERENCE_ORDER
from app.services.contest_package import board, judging, own
from app.services.contest_package.export import (
    Parcel,
    add_images,
    add_problems,
    answers,
    files_of,
    notifications,
    shown_document,
    snapshot_now,
)
from app.services.contests.contests import contest_of
from app.services.scoreboard import row_renderer
from app.services.submissions.whole import batched
from app.services.viewer import Viewer
from app.storage import events, submission_queries

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get(
    "/contests/{contest_id}/package.zip",
    response_class=StreamingResponse,
    responses={**ARCHIVE},
    summary="The contest as a contest package",
)
def export_contest(request: Request, viewer: AdminOnly, service: TheService, contest_id: str) -> GrowingResponse:
    """All of it, with the problems' packages, the submissions' files and every image. No passwords are in it.

    Where the server's own files are damaged, all else is in it, and `unreadable.json` names what is not, and why.
    """
    made = GrowingFile(partial(write_package, viewer, service, contest_id))
    try:
        made.wait_for_first()
    except BaseException:
        made.close()
        raise
    return GrowingResponse(made, type_for(request, ZIP, BYTES), f"{contest_id}.zip")


def write_package(viewer: Viewer, service: Service, contest_id: str, target: Sink) -> None:
    """Write a contest's package, from one snapshot; raises NotFound, before anything is written."""
    with service.database.read() as session:
        snapshot, moment = snapshot_now(session, contest_id)
        parcel = Parcel()
        try:
            write_zip(target, files_of(parcel, collect(parcel, viewer, session, service, snapshot, moment)))
        finally:
            parcel.close()


def collect(
    parcel: Parcel, viewer: Viewer, session: Session, service: Service, snapshot: ContestSnapshot, moment: datetime
) -> Iterator[None]:
    """Put everything the viewer may read of the contest into a parcel, step by step: all of it as of one moment."""
    contest_id = snapshot.contest.id
    parcel.add_json("api.json", contests.information().model_dump())
    yield
    for collection in IN_REFERENCE_ORDER:
        documents = collection.documents(viewer, snapshot, session)
        shown = (shown_document(collection, each) for each in documents)
        parcel.add_lines(collection.name, shown, single=collection.single)
        yield
    parcel.pieces["event-feed.ndjson"] = partial(notifications, parcel)
    parcel.add_json(own.FILE, own.document(session, contest_of(session, contest_id)))
    parcel.add(board.FILE, row_renderer.dump(board.document(snapshot)))
    parcel.add_json(judging.FILE, judging.document(session, snapshot, moment))
    add_images(parcel, snapshot, session, service)
    add_problems(parcel, snapshot, session, service)
    yield
    for ids in batched(events.submission_ids(session, contest_id)):
        for number, shown_id in submission_queries.shown_ids(session, ids).items():
            parcel.files[f"submissions/{shown_id}/{shown_id}.zip"] = answers(session, service, number)
        yield

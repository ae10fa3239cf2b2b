"""HTTP routes: commentary: what analysts say about what happens in a contest."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from app.api.http.deps import CurrentViewer, LoggedIn, Reading, Writing
from app.api.http.gated import GatedRoute
from app.api.http.lists.reply import Small, TheLists
from app.api.http.middleware import API
from app.api.http.snapshot import TheSnapshot
from app.domain.clock import utc_now
from app.domain.settings import read_settings
from app.services.bodies import found, refuse
from app.services.contests.capabilities import capabilities, need
from app.services.contests.contests import contest_of
from app.services.errors import NotFound
from app.services.messages.commentary import (
    LINKS,
    CommentaryBody,
    CommentaryView,
    commentary_document,
    documents,
    persons_of,
    source,
    visible_ids,
)
from app.storage import clarifications as stored
from app.storage.scoring_input import clock
from app.storage.tables import CommentaryRow

router = APIRouter(route_class=GatedRoute, tags=["commentary"])


@router.get(
    "/contests/{contest_id}/commentary",
    summary="What is said of the contest",
    response_model=list[CommentaryView],
)
async def list_commentary(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    source_id: Annotated[str | None, Query(description="only what this person said; empty: nobody known")] = None,
) -> Any:
    """All of it that speaks of nothing the client may not see, oldest first."""
    return await lists.small(COMMENTARY, viewer, snapshot, source_id=source_id)


@router.get(
    "/contests/{contest_id}/commentary/{commentary_id}",
    summary="One comment",
    response_model=CommentaryView,
)
def get_commentary(viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, commentary_id: str) -> Any:
    """404 for what the client may not see."""
    for each in documents(viewer, snapshot, session):
        if each["id"] == commentary_id:
            return each
    raise NotFound(f"no commentary {commentary_id!r} in contest {snapshot.contest.id!r}")


@router.post(
    "/contests/{contest_id}/commentary",
    summary="Say something",
    status_code=201,
    response_model=CommentaryView,
)
def create_commentary(
    viewer: LoggedIn,
    snapshot: TheSnapshot,
    session: Writing,
    contest_id: str,
    body: CommentaryBody,
    response: Response,
) -> Any:
    """Analysts and admins; the time, and who says it, are the server's to know."""
    contest = contest_of(session, contest_id)
    need(viewer, capabilities(viewer, read_settings(contest.settings), takes_part=False), "post_comment")
    known = visible_ids(viewer, snapshot, session)
    links = {name: list(dict.fromkeys(ids)) for name in LINKS if (ids := getattr(body, name)) is not None}
    missing = [(name, each) for name, ids in links.items() for each in ids if each not in known[name]]
    refuse([found(name, f"what is in contest {contest_id}", repr(each)) for name, each in missing])
    now = utc_now()
    row = CommentaryRow(
        id=stored.next_id(session, CommentaryRow, contest_id),
        contest_id=contest_id,
        account_id=viewer.account_id,
        message=body.message,
        details={"tags": list(dict.fromkeys(body.tags)), **links, **source(session, viewer)},
        time=now,
        contest_time_ms=clock(contest).contest_time(now) // timedelta(milliseconds=1),
    )
    session.add(row)
    session.flush()
    response.headers["Location"] = f"{API}/contests/{contest_id}/commentary/{row.id}"
    return commentary_document(row, persons_of(session, snapshot))


COMMENTARY = Small("commentary", CommentaryView, documents, sparse=True, of_board=True, filters=("source_id",))

"""Commentary: what analysts say about what happens in a contest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.api.auth import Viewer
from app.api.bodies import Body, Line, Sparse, found, refuse
from app.api.capabilities import capabilities, need
from app.api.clarifications import Message
from app.api.clics import Id, format_reltime, format_time
from app.api.contests import contest_of
from app.api.deps import CurrentViewer, LoggedIn, Reading, Writing
from app.api.errors import NotFound
from app.api.gated import GatedRoute
from app.api.lists.reply import Small, TheLists
from app.api.middleware import API
from app.api.standings import TheStanding, may_see
from app.api.teams import visible
from app.domain.clock import utc_now
from app.grading.boards import Standing
from app.storage import accounts, directory, judged
from app.storage import clarifications as stored
from app.storage.scored import clock
from app.storage.tables import CommentaryRow

router = APIRouter(route_class=GatedRoute, tags=["commentary"])
LINKS = ("team_ids", "problem_ids", "submission_ids")


class CommentaryBody(Body):
    """Something to be said. In the text `{teams:ID}` and `{problems:ID}` stand for what they name."""

    message: Message
    tags: list[Line] = Field(default_factory=list, max_length=100)
    team_ids: list[Id] | None = None
    problem_ids: list[Id] | None = None
    submission_ids: list[Id] | None = None


class CommentaryView(Sparse):
    """What was said, and what of."""

    id: str
    time: str
    contest_time: str
    message: str
    tags: list[str]
    source_id: str | None = None
    team_ids: list[str] | None = None
    problem_ids: list[str] | None = None
    submission_ids: list[str] | None = None


@router.get(
    "/contests/{contest_id}/commentary",
    summary="What is said of the contest",
    response_model=list[CommentaryView],
)
async def list_commentary(
    viewer: CurrentViewer,
    standing: TheStanding,
    lists: TheLists,
    source_id: Annotated[str | None, Query(description="only what this person said; empty: nobody known")] = None,
) -> Any:
    """All of it that speaks of nothing the client may not see, oldest first."""
    return await lists.small(COMMENTARY, viewer, standing, source_id=source_id)


@router.get(
    "/contests/{contest_id}/commentary/{commentary_id}",
    summary="One comment",
    response_model=CommentaryView,
)
def get_commentary(viewer: CurrentViewer, standing: TheStanding, session: Reading, commentary_id: str) -> Any:
    """404 for what the client may not see."""
    for each in documents(viewer, standing, session):
        if each["id"] == commentary_id:
            return each
    raise NotFound(f"no commentary {commentary_id!r} in contest {standing.contest.id!r}")


@router.post(
    "/contests/{contest_id}/commentary",
    summary="Say something",
    status_code=201,
    response_model=CommentaryView,
)
def create_commentary(
    viewer: LoggedIn,
    standing: TheStanding,
    session: Writing,
    contest_id: str,
    body: CommentaryBody,
    response: Response,
) -> Any:
    """Analysts and admins; the time, and who says it, are the server's to know."""
    contest = contest_of(session, contest_id)
    need(viewer, capabilities(viewer, contest.settings, takes_part=False), "post_comment")
    known = _visible_ids(viewer, standing, session)
    links = {name: list(dict.fromkeys(ids)) for name in LINKS if (ids := getattr(body, name)) is not None}
    missing = [(name, each) for name, ids in links.items() for each in ids if each not in known[name]]
    refuse([found(name, f"what is in contest {contest_id}", repr(each)) for name, each in missing])
    now = utc_now()
    row = CommentaryRow(
        id=stored.next_id(session, CommentaryRow, contest_id),
        contest_id=contest_id,
        account_id=viewer.account_id,
        message=body.message,
        details={"tags": list(dict.fromkeys(body.tags)), **links, **_source(session, viewer)},
        time=now,
        contest_time_ms=clock(contest).contest_time(now) // timedelta(milliseconds=1),
    )
    session.add(row)
    session.flush()
    response.headers["Location"] = f"{API}/contests/{contest_id}/commentary/{row.id}"
    return _document(row, _persons(session, standing))


def documents(viewer: Viewer, standing: Standing, session: Session) -> list[Mapping[str, Any]]:
    """What the viewer may read, oldest first: nothing that speaks of what they may not see."""
    rows = stored.commentary(session, standing.contest.id)
    if not rows:
        return []
    known = _visible_ids(viewer, standing, session)
    persons = _persons(session, standing)
    return [
        _document(row, persons)
        for row in rows
        if all(known[name].issuperset(row.details.get(name) or ()) for name in LINKS)
    ]


COMMENTARY = Small("commentary", CommentaryView, documents, sparse=True, of_board=True, filters=("source_id",))


def _document(row: CommentaryRow, persons: set[str]) -> dict[str, Any]:
    document: dict[str, Any] = {
        "id": row.id,
        "time": format_time(row.time),
        "contest_time": format_reltime(timedelta(milliseconds=row.contest_time_ms)),
        "message": row.message,
        "tags": row.details.get("tags", []),
    }
    if row.details.get("source_id") in persons:
        document["source_id"] = row.details["source_id"]
    return document | {name: row.details[name] for name in LINKS if name in row.details}


def _source(session: Session, viewer: Viewer) -> dict[str, str]:
    """The person who speaks, if the account is a person's."""
    account = accounts.get(session, str(viewer.account_id))
    return {"source_id": account.person_id} if account is not None and account.person_id is not None else {}


def _persons(session: Session, standing: Standing) -> set[str]:
    return {row.id for row in directory.persons(session, contest_of(session, standing.contest.id))}


def _visible_ids(viewer: Viewer, standing: Standing, session: Session) -> dict[str, set[str]]:
    contest = contest_of(session, standing.contest.id)
    rows = judged.submissions(session, contest.id)
    return {
        "team_ids": {row.id for row in visible(session, viewer, contest)},
        "problem_ids": {problem.id for problem in standing.problems},
        "submission_ids": {row.shown_id for row in rows if may_see(viewer, standing, row)},
    }

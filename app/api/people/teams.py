"""HTTP routes: teams: those there are, and those that take part in a contest."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from app.api.http import file_replies
from app.api.http.deps import AdminOnly, CurrentViewer, JudgeOrAdmin, Reading, TheBoards, TheService, Writing
from app.api.http.downloads import ANY_FILE
from app.api.http.gated import GatedRoute
from app.api.http.lists.reply import Small, TheLists, hidden
from app.api.http.snapshot import TheSnapshot
from app.services.bodies import found, refuse, same_id
from app.services.contests.changes import refuse_final
from app.services.contests.contests import contest_of, refuse_overlaps
from app.services.errors import Conflict, NotFound
from app.services.people.teams import (
    FILES,
    OF_JUDGES,
    Enrolment,
    TeamBody,
    TeamChange,
    TeamView,
    document,
    documents,
    fill,
    is_null,
    links_of,
    missing_links,
    put,
    refuse_hiding,
    team_of,
    visible_team,
)
from app.services.transactions import after_commit
from app.storage import contests
from app.storage import teams as stored

router = APIRouter(route_class=GatedRoute, tags=["teams"])


@router.get("/teams", summary="All teams", response_model=list[TeamView])
def list_teams(viewer: JudgeOrAdmin, session: Reading) -> Any:
    """Of every contest and of none. Their files are shown in their contests."""
    return [document(viewer, row) for row in stored.teams(session)]


@router.get("/teams/{team_id}", summary="One team", response_model=TeamView)
def get_team(viewer: JudgeOrAdmin, session: Reading, team_id: str) -> Any:
    """Whether it takes part anywhere or not."""
    return document(viewer, team_of(session, team_id))


@router.put(
    "/teams/{team_id}",
    summary="Make or replace a team",
    response_model=TeamView,
)
def put_team(
    viewer: AdminOnly, session: Writing, service: TheService, boards: TheBoards, team_id: str, body: TeamBody
) -> Any:
    """The body is the whole team, its id included; files that it does not name stay."""
    same_id(team_id, body.id)
    refuse(missing_links(links_of(session, body), body, "body"))
    row, faults = put(session, service.files, body, stored.get(session, team_id), "body")
    refuse(faults)
    after_commit(session, boards.all_changed)
    return document(viewer, row)


@router.patch("/teams/{team_id}", summary="Change a team", response_model=TeamView)
def change_team(
    viewer: AdminOnly, session: Writing, service: TheService, boards: TheBoards, team_id: str, body: TeamChange
) -> Any:
    """What is left out stays."""
    row = team_of(session, team_id)
    same_id(team_id, body.id)
    named = body.model_fields_set - {"id"}
    refuse([found(name, "a value", "null") for name in ("name", "label", "hidden") if is_null(body, name)])
    refuse(missing_links(links_of(session, body), body, "body"))
    hidden = row.hidden
    refuse(fill(service.files, row, body, named, "body"))
    refuse_hiding(session, row, hidden)
    after_commit(session, boards.all_changed)
    return document(viewer, row)


@router.delete("/teams/{team_id}", summary="Delete a team", status_code=204)
def delete_team(_viewer: AdminOnly, session: Writing, boards: TheBoards, team_id: str) -> None:
    """Only one without accounts and submissions."""
    team_of(session, team_id)
    if uses := stored.uses(session, team_id):
        raise Conflict(f"the team has {', '.join(f'{count} {name}' for name, count in uses.items())}")
    stored.remove(session, team_id)
    after_commit(session, boards.all_changed)


@router.get(
    "/contests/{contest_id}/teams",
    summary="The teams of a contest",
    response_model=list[TeamView],
)
async def list_contest_teams(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    organization_id: Annotated[str | None, Query(description="only those of this organization; empty: of none")] = None,
) -> Any:
    """Hidden ones only for judges, and for themselves."""
    return await lists.small(TEAMS, viewer, snapshot, organization_id=organization_id)


@router.get(
    "/contests/{contest_id}/teams/{team_id}",
    summary="One team of a contest",
    response_model=TeamView,
)
def get_contest_team(viewer: CurrentViewer, session: Reading, contest_id: str, team_id: str) -> Any:
    """404 where it does not take part, or is hidden."""
    row = visible_team(session, viewer, contest_id, team_id)
    return document(viewer, row, contest_id, stored.disqualified(session, contest_id))


@router.get(
    "/contests/{contest_id}/teams/{team_id}/{name}/{file_name}",
    response_class=Response,
    responses=ANY_FILE,
    summary="A file of a team, such as its photo",
)
def get_team_file(
    viewer: CurrentViewer,
    session: Reading,
    service: TheService,
    contest_id: str,
    team_id: str,
    name: str,
    file_name: str,
) -> Response:
    """With its type; images only draw."""
    row = visible_team(session, viewer, contest_id, team_id)
    shown = name in FILES and (viewer.sees_all or name not in OF_JUDGES)
    return file_replies.reply(service.files, row.details.get(name, []) if shown else [], file_name)


TEAMS = Small("teams", TeamView, documents, sparse=True, special=hidden, filters=("organization_id",))


@router.post(
    "/contests/{contest_id}/teams",
    summary="Let teams take part",
    response_model=list[TeamView],
)
def enrol_teams(viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str, body: Enrolment) -> Any:
    """Those that do already are left alone; the answer is all the contest's teams."""
    contest = contest_of(session, contest_id)
    refuse_final(contest)
    known = stored.known(session, body.team_ids)
    missing = [at for at, team_id in enumerate(body.team_ids) if team_id not in known]
    refuse([found(f"team_ids[{at}]", "a team that exists", repr(body.team_ids[at])) for at in missing])
    refuse_overlaps(session, contest, body.team_ids)
    stored.enrol(session, contest_id, body.team_ids)
    after_commit(session, lambda: boards.changed(contest_id))
    out = stored.disqualified(session, contest_id)
    return [document(viewer, row, contest_id, out) for row in stored.taking_part(session, contest)]


@router.delete("/contests/{contest_id}/teams/{team_id}", summary="Let a team take part no more", status_code=204)
def withdraw_team(_viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str, team_id: str) -> None:
    """Only while it has not submitted anything there; hide it else."""
    refuse_final(contest_of(session, contest_id))
    if count := contests.submission_count(session, contest_id, team_id=team_id):
        raise Conflict(f"the team has {count} submissions in this contest; hide it instead")
    if not stored.withdraw(session, contest_id, team_id):
        raise NotFound(f"team {team_id!r} is not enrolled in contest {contest_id!r}")
    after_commit(session, lambda: boards.changed(contest_id))

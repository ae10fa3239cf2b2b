"""HTTP routes: teams: those there are, and those that take part in a contest."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.core.clics import JsonObject
from app.core.http import file_replies
from app.core.http.deps import CurrentViewer, Reading, TheService, Writing
from app.core.http.downloads import ANY_FILE
from app.core.http.gated import GatedRoute
from app.core.http.lists.reply import TheLists
from app.core.http.snapshot import TheSnapshot
from app.feed.service.collections import BY_NAME
from app.teams.service import team_changes
from app.teams.service.teams import Enrolment, TeamBody, TeamChange, TeamView

router = APIRouter(route_class=GatedRoute, tags=["teams"])


@router.get("/teams", summary="All teams", response_model=list[TeamView])
def list_teams(viewer: CurrentViewer, session: Reading) -> list[JsonObject]:
    """Of every contest and of none. Their files are shown in their contests."""
    return team_changes.listed(session, viewer)


@router.get("/teams/{team_id}", summary="One team", response_model=TeamView)
def get_team(viewer: CurrentViewer, session: Reading, team_id: str) -> JsonObject:
    """Whether it takes part anywhere or not."""
    return team_changes.one(session, viewer, team_id)


@router.put(
    "/teams/{team_id}",
    summary="Make or replace a team",
    response_model=TeamView,
)
def put_team(viewer: CurrentViewer, session: Writing, service: TheService, team_id: str, body: TeamBody) -> JsonObject:
    """The body is the whole team, its id included; files that it does not name stay."""
    return team_changes.replace(session, service, viewer, team_id, body)


@router.patch("/teams/{team_id}", summary="Change a team", response_model=TeamView)
def change_team(
    viewer: CurrentViewer, session: Writing, service: TheService, team_id: str, body: TeamChange
) -> JsonObject:
    """What is left out stays."""
    return team_changes.change(session, service, viewer, team_id, body)


@router.delete("/teams/{team_id}", summary="Delete a team", status_code=204)
def delete_team(viewer: CurrentViewer, session: Writing, service: TheService, team_id: str) -> None:
    """Only one without accounts and submissions."""
    team_changes.delete(session, service, viewer, team_id)


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
) -> Response:
    """Hidden ones only for judges, and for themselves."""
    return await lists.small(BY_NAME["teams"], viewer, snapshot, organization_id=organization_id)


@router.get(
    "/contests/{contest_id}/teams/{team_id}",
    summary="One team of a contest",
    response_model=TeamView,
)
def get_contest_team(viewer: CurrentViewer, session: Reading, contest_id: str, team_id: str) -> JsonObject:
    """404 where it does not take part, or is hidden."""
    return team_changes.one_of_contest(session, viewer, contest_id, team_id)


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
    return file_replies.reply(
        service.files, team_changes.files_of(session, viewer, contest_id, team_id, name), file_name
    )


@router.post(
    "/contests/{contest_id}/teams",
    summary="Let teams take part",
    response_model=list[TeamView],
)
def enrol_teams(
    viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str, body: Enrolment
) -> list[JsonObject]:
    """Those that do already are left alone; the answer is all the contest's teams."""
    return team_changes.enrol(session, service, viewer, contest_id, body)


@router.delete("/contests/{contest_id}/teams/{team_id}", summary="Let a team take part no more", status_code=204)
def withdraw_team(_viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str, team_id: str) -> None:
    """Only while it has not submitted anything there; hide it else."""
    team_changes.withdraw(session, service, contest_id, team_id)

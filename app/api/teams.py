"""Teams: those there are, and those that take part in a contest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field, model_validator
from sqlalchemy.orm import Session

from app.api import tsv
from app.api.auth import Viewer
from app.api.bodies import Body, Document, Line, TheDocument, found, openapi_body, read_items, refuse, same_id
from app.api.clics import Id
from app.api.contests import contest_of
from app.api.deps import AdminOnly, CurrentViewer, JudgeOrAdmin, Reading, TheBoards, Writing, after_commit
from app.api.errors import Conflict, NotFound
from app.api.middleware import API
from app.storage import contests
from app.storage import teams as stored
from app.storage.tables import ContestRow, TeamRow

router = APIRouter(tags=["teams"])
NOT_KEPT = frozenset(
    (
        "icpc_id",
        "organization_id",
        "group_ids",
        "location",
        "photo",
        "video",
        "backup",
        "key_log",
        "tool_data",
        "desktop",
        "webcam",
        "audio",
    )
)
"""Properties that CLICS knows and we do not."""


class TeamBody(Body):
    """A team to be kept. What CLICS knows and we do not (organizations, groups, photos) must be left out or empty."""

    id: Id
    name: Line
    label: Line | None = None
    display_name: Line | None = None
    hidden: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: entry for key, entry in value.items() if key not in NOT_KEPT or entry not in (None, [], {}, "")}


class TeamChange(Body):
    """Properties to change; what is left out stays."""

    id: Id | None = None
    name: Line | None = None
    label: Line | None = None
    display_name: Line | None = None
    hidden: bool | None = None


class Enrolment(Body):
    """Teams that are to take part."""

    team_ids: list[Id] = Field(min_length=1)


class TeamView(BaseModel):
    """A team as CLICS shows it."""

    id: str
    name: str
    label: str
    display_name: str | None
    hidden: bool


Replace = Annotated[bool, Query(description="replace those that are there already, instead of refusing them")]


@router.get("/teams", summary="All teams")
def teams(_viewer: JudgeOrAdmin, session: Reading) -> list[TeamView]:
    """Of every contest and of none."""
    return [view(row) for row in stored.teams(session)]


@router.get("/teams/{team_id}", summary="One team")
def team(_viewer: JudgeOrAdmin, session: Reading, team_id: str) -> TeamView:
    """Whether it takes part anywhere or not."""
    return view(team_of(session, team_id))


@router.post(
    "/teams", summary="Make or import teams", status_code=201, response_model=None, openapi_extra=openapi_body(TeamBody)
)
def make_teams(
    _viewer: AdminOnly,
    session: Writing,
    boards: TheBoards,
    document: TheDocument,
    response: Response,
    replace: Replace = False,
) -> TeamView | list[TeamView]:
    """One object or a list, in JSON or YAML, or teams.tsv. All of them or, with every fault listed, none."""
    bodies = _read(session, document, replace=replace)
    rows = [put(session, body) for body in bodies]
    after_commit(session, boards.all_changed)
    if document.many:
        return [view(row) for row in rows]
    response.headers["Location"] = f"{API}/teams/{rows[0].id}"
    return view(rows[0])


@router.put("/teams/{team_id}", summary="Make or replace a team")
def put_team(_viewer: AdminOnly, session: Writing, boards: TheBoards, team_id: str, body: TeamBody) -> TeamView:
    """The body is the whole team, its id included."""
    same_id(team_id, body.id)
    after_commit(session, boards.all_changed)
    return view(put(session, body))


@router.patch("/teams/{team_id}", summary="Change a team")
def change_team(_viewer: AdminOnly, session: Writing, boards: TheBoards, team_id: str, body: TeamChange) -> TeamView:
    """What is left out stays."""
    row = team_of(session, team_id)
    same_id(team_id, body.id)
    row.name = body.name or row.name
    row.label = body.label or row.label
    row.display_name = body.display_name if "display_name" in body.model_fields_set else row.display_name
    row.hidden = row.hidden if body.hidden is None else body.hidden
    after_commit(session, boards.all_changed)
    return view(row)


@router.delete("/teams/{team_id}", summary="Delete a team", status_code=204)
def delete_team(_viewer: AdminOnly, session: Writing, boards: TheBoards, team_id: str) -> None:
    """Only one without accounts and submissions."""
    team_of(session, team_id)
    if uses := stored.uses(session, team_id):
        raise Conflict(f"the team has {', '.join(f'{count} {name}' for name, count in uses.items())}")
    stored.remove(session, team_id)
    after_commit(session, boards.all_changed)


@router.get("/contests/{contest_id}/teams", summary="The teams of a contest")
def contest_teams(viewer: CurrentViewer, session: Reading, contest_id: str) -> list[TeamView]:
    """Hidden ones only for judges, and for themselves."""
    return [view(row) for row in visible(session, viewer, contest_of(session, contest_id))]


@router.get("/contests/{contest_id}/teams/{team_id}", summary="One team of a contest")
def contest_team(viewer: CurrentViewer, session: Reading, contest_id: str, team_id: str) -> TeamView:
    """404 where it does not take part, or is hidden."""
    contest = contest_of(session, contest_id)
    row = stored.get(session, team_id)
    if row is None or not may_see(viewer, row) or not stored.takes_part(session, contest, team_id):
        raise NotFound(f"no team {team_id!r} in contest {contest_id!r}")
    return view(row)


@router.post("/contests/{contest_id}/teams", summary="Let teams take part")
def enrol(_viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str, body: Enrolment) -> list[TeamView]:
    """Those that do already are left alone; the answer is all the contest's teams."""
    contest = contest_of(session, contest_id)
    known = stored.known(session, body.team_ids)
    missing = [at for at, team_id in enumerate(body.team_ids) if team_id not in known]
    refuse([found(f"team_ids[{at}]", "a team that exists", repr(body.team_ids[at])) for at in missing])
    stored.enrol(session, contest_id, body.team_ids)
    after_commit(session, lambda: boards.changed(contest_id))
    return [view(row) for row in stored.taking_part(session, contest)]


@router.delete("/contests/{contest_id}/teams/{team_id}", summary="Let a team take part no more", status_code=204)
def withdraw(_viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str, team_id: str) -> None:
    """Only while it has not submitted anything there; hide it else."""
    contest_of(session, contest_id)
    if count := contests.submission_count(session, contest_id, team_id=team_id):
        raise Conflict(f"the team has {count} submissions in this contest; hide it instead")
    if not stored.withdraw(session, contest_id, team_id):
        raise NotFound(f"team {team_id!r} is not enrolled in contest {contest_id!r}")
    after_commit(session, lambda: boards.changed(contest_id))


def view(row: TeamRow) -> TeamView:
    """Show a team."""
    return TeamView(id=row.id, name=row.name, label=row.label, display_name=row.display_name, hidden=row.hidden)


def may_see(viewer: Viewer, row: TeamRow) -> bool:
    """Hidden teams are seen by judges and by themselves."""
    return not row.hidden or viewer.sees_all or viewer.team_id == row.id


def visible(session: Session, viewer: Viewer, contest: ContestRow) -> list[TeamRow]:
    """The teams of a contest that this viewer may see."""
    return [row for row in stored.taking_part(session, contest) if may_see(viewer, row)]


def team_of(session: Session, team_id: str) -> TeamRow:
    """The team; raises NotFound."""
    row = stored.get(session, team_id)
    if row is None:
        raise NotFound(f"no team {team_id!r}")
    return row


def put(session: Session, body: TeamBody) -> TeamRow:
    """Make or replace a team."""
    row = stored.get(session, body.id) or TeamRow(id=body.id)
    row.name = body.name
    row.label = body.label or body.id
    row.display_name = body.display_name
    row.hidden = bool(body.hidden)
    session.add(row)
    return row


def _read(session: Session, document: Document, *, replace: bool) -> Sequence[TeamBody]:
    items = document.items if document.lines is None else tsv.teams(document.lines)
    seen: dict[str, str] = {}

    def check(body: TeamBody, where: str) -> list[dict[str, str]]:
        if body.id in seen:
            return [found(f"{where}.id", f"another id than {seen[body.id]}", repr(body.id))]
        seen[body.id] = where
        return []

    bodies = read_items(items, TeamBody, check)
    there = set() if replace else stored.known(session, seen)
    if there:
        old = [(id_, where) for id_, where in seen.items() if id_ in there]
        faults = [found(f"{where}.id", "a new team", f"{id_!r} of an old one") for id_, where in old]
        raise Conflict(f"{len(there)} of the teams exist already; replace=true replaces them", errors=faults)
    return bodies

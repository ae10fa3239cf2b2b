"""Awards: those the final board gives, and those that admins give, or give in place of one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.api.auth import Viewer
from app.api.bodies import Body, Line, found, refuse, same_id
from app.api.clics import Id
from app.api.contests import contest_of, slug
from app.api.deps import AdminOnly, CurrentViewer, Reading, Writing
from app.api.errors import NotFound
from app.api.gated import GatedRoute
from app.api.lists.reply import Small, TheLists, hidden
from app.api.middleware import API
from app.api.standings import TheStanding
from app.api.teams import visible
from app.domain.awards import MEDALS, Award, Prizes, awards, first_to_solve
from app.grading.boards import Standing
from app.storage import clarifications as stored
from app.storage import directory, teams
from app.storage.tables import AwardRow

router = APIRouter(route_class=GatedRoute, tags=["awards"])


class AwardBody(Body):
    """An award to be made, or to take the place of a computed one of its id."""

    id: Id | None = None
    citation: Line
    team_ids: list[Id]


class AwardChange(Body):
    """Properties to change; what is left out stays."""

    id: Id | None = None
    citation: Line | None = None
    team_ids: list[Id] | None = None


class AwardView(BaseModel):
    """An award; `team_ids` null: nobody is to know yet."""

    id: str
    citation: str
    team_ids: list[str] | None


@router.get("/contests/{contest_id}/awards", summary="Awards", response_model=list[AwardView])
async def list_awards(viewer: CurrentViewer, standing: TheStanding, lists: TheLists) -> Any:
    """Whom they go to is said once the results are final, and never while the board the client sees is frozen."""
    return await lists.small(AWARDS, viewer, standing)


@router.get("/contests/{contest_id}/awards/{award_id}", summary="One award", response_model=AwardView)
def get_award(viewer: CurrentViewer, standing: TheStanding, session: Reading, award_id: str) -> Any:
    """Computed or made by an admin."""
    return _one(viewer, standing, session, award_id)


@router.post("/contests/{contest_id}/awards", summary="Make an award", status_code=201, response_model=AwardView)
def create_award(
    viewer: AdminOnly, standing: TheStanding, session: Writing, contest_id: str, body: AwardBody, response: Response
) -> Any:
    """The server gives it an id made of its citation."""
    if body.id is not None:
        refuse([found("id", "none, as the server gives it", repr(body.id))])
    _check_teams(session, contest_id, body.team_ids)
    taken = {each["id"] for each in documents(viewer, standing, session)} | set(stored.awards(session, contest_id))
    award_id = slug(body.citation, taken.__contains__, "award")
    session.add(AwardRow(contest_id=contest_id, id=award_id, citation=body.citation, team_ids=_once(body.team_ids)))
    session.flush()
    response.headers["Location"] = f"{API}/contests/{contest_id}/awards/{award_id}"
    return _one(viewer, standing, session, award_id)


@router.put("/contests/{contest_id}/awards/{award_id}", summary="Make or replace an award", response_model=AwardView)
def put_award(
    viewer: AdminOnly, standing: TheStanding, session: Writing, contest_id: str, award_id: str, body: AwardBody
) -> Any:
    """A computed one is no longer computed then."""
    if body.id is None:
        refuse([found("id", "the id of the address", "nothing")])
    same_id(award_id, body.id)
    _check_teams(session, contest_id, body.team_ids)
    _keep(session, contest_id, award_id, body.citation, body.team_ids)
    return _one(viewer, standing, session, award_id)


@router.patch("/contests/{contest_id}/awards/{award_id}", summary="Change an award", response_model=AwardView)
def change_award(
    viewer: AdminOnly, standing: TheStanding, session: Writing, contest_id: str, award_id: str, body: AwardChange
) -> Any:
    """What is left out stays; a computed award is no longer computed then."""
    old = _one(viewer, standing, session, award_id)
    same_id(award_id, body.id)
    nulls = [name for name in ("citation", "team_ids") if name in body.model_fields_set and getattr(body, name) is None]
    refuse([found(name, "a value", "null") for name in nulls])
    _check_teams(session, contest_id, body.team_ids or [])
    given = body.team_ids if body.team_ids is not None else old["team_ids"]
    if given is None:
        refuse([found("team_ids", "the teams, as the results are not final", "nothing")])
    _keep(session, contest_id, award_id, body.citation or old["citation"], given or [])
    return _one(viewer, standing, session, award_id)


@router.delete("/contests/{contest_id}/awards/{award_id}", summary="Delete an award", status_code=204)
def delete_award(viewer: AdminOnly, standing: TheStanding, session: Writing, contest_id: str, award_id: str) -> None:
    """A computed one is not given; PUT gives it again."""
    old = _one(viewer, standing, session, award_id)
    if award_id in computed(standing, session):
        _keep(session, contest_id, award_id, old["citation"], [])
        stored.awards(session, contest_id)[award_id].deleted = True
    else:
        session.delete(stored.awards(session, contest_id)[award_id])


def documents(viewer: Viewer, standing: Standing, session: Session) -> list[Mapping[str, Any]]:
    """The awards as this viewer sees them: computed ones first."""
    given: dict[str, Award | AwardRow] = {**computed(standing, session), **stored.awards(session, standing.contest.id)}
    there = {row.id for row in visible(session, viewer, contest_of(session, standing.contest.id))}
    found: list[Mapping[str, Any]] = []
    for each in given.values():
        if isinstance(each, AwardRow) and each.deleted:
            continue
        hidden = standing.curtain.until is not None or (isinstance(each, Award) and standing.state.finalized is None)
        ids = None if hidden and not (viewer.sees_all and isinstance(each, AwardRow)) else each.team_ids
        shown = None if ids is None else [team_id for team_id in ids if team_id in there]
        found.append({"id": each.id, "citation": each.citation, "team_ids": shown})
    return found


AWARDS = Small("awards", AwardView, documents, special=hidden, of_board=True)


def computed(standing: Standing, session: Session) -> dict[str, Award]:
    """What the board of the viewer gives, by id; to be shown once it is final. Worked out once for each board."""
    kept: dict[str, Award] | None = standing.pages.get("awards")
    if kept is None:
        contest = standing.contest
        groups = {row.id: row.name for row in directory.groups(session, contest_of(session, contest.id))}
        tries, bests, main = standing.official(), standing.board.bests, contest.main_teams
        teams = [team for team in contest.teams if main is None or team.id in main]
        first = first_to_solve(standing.problems, teams, tries, bests, standing.curtain, standing.phase)
        found = awards(standing.main, standing.board, prizes(contest.settings), groups, contest.labels, first)
        kept = standing.pages["awards"] = {each.id: each for each in found}
    return kept


def prizes(settings: Mapping[str, Any]) -> Prizes:
    """What a contest's settings say of its awards."""
    given = settings.get("awards") or {}
    return Prizes({medal: given.get(medal, 0) for medal in MEDALS}, given.get("ranks", 0))


def _one(viewer: Viewer, standing: Standing, session: Session, award_id: str) -> Mapping[str, Any]:
    for each in documents(viewer, standing, session):
        if each["id"] == award_id:
            return each
    raise NotFound(f"no award {award_id!r} in contest {standing.contest.id!r}")


def _keep(session: Session, contest_id: str, award_id: str, citation: str, team_ids: list[str]) -> None:
    row = stored.awards(session, contest_id).get(award_id) or AwardRow(contest_id=contest_id, id=award_id)
    row.citation, row.team_ids, row.deleted = citation, _once(team_ids), False
    session.add(row)
    session.flush()


def _check_teams(session: Session, contest_id: str, team_ids: list[str]) -> None:
    there = {row.id for row in teams.taking_part(session, contest_of(session, contest_id))}
    missing = [at for at, team_id in enumerate(team_ids) if team_id not in there]
    refuse([found(f"team_ids[{at}]", f"a team of contest {contest_id}", repr(team_ids[at])) for at in missing])


def _once(team_ids: list[str]) -> list[str]:
    return list(dict.fromkeys(team_ids))

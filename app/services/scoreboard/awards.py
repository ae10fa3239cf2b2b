"""Awards: those the final board gives, and those that admins give, or give in place of one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.domain.awards import Award, awards, first_to_solve
from app.grading.scoreboard_cache import ContestSnapshot
from app.services.bodies import Body, Line, found, refuse
from app.services.clics import Id
from app.services.contests.contests import contest_of
from app.services.errors import NotFound
from app.services.people.teams import visible
from app.services.viewer import Viewer
from app.storage import clarifications as stored
from app.storage import directory, teams
from app.storage.tables import AwardRow


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


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[Mapping[str, Any]]:
    """The awards as this viewer sees them: computed ones first."""
    given: dict[str, Award | AwardRow] = {**computed(snapshot, session), **stored.awards(session, snapshot.contest.id)}
    there = {row.id for row in visible(session, viewer, contest_of(session, snapshot.contest.id))}
    found: list[Mapping[str, Any]] = []
    for each in given.values():
        if isinstance(each, AwardRow) and each.deleted:
            continue
        hidden = snapshot.freeze.until is not None or (isinstance(each, Award) and snapshot.state.finalized is None)
        ids = None if hidden and not (viewer.sees_all and isinstance(each, AwardRow)) else each.team_ids
        shown = None if ids is None else [team_id for team_id in ids if team_id in there]
        found.append({"id": each.id, "citation": each.citation, "team_ids": shown})
    return found


def computed(snapshot: ContestSnapshot, session: Session) -> dict[str, Award]:
    """What the board of the viewer gives, by id; to be shown once it is final. Worked out once for each board."""
    kept: dict[str, Award] | None = snapshot.pages.get("awards")
    if kept is None:
        contest = snapshot.contest
        groups = {row.id: row.name for row in directory.groups(session, contest_of(session, contest.id))}
        tries, bests, main = snapshot.official(), snapshot.board.bests, contest.main_teams
        teams = [team for team in contest.teams if main is None or team.id in main]
        first = first_to_solve(snapshot.problems, teams, tries, bests, snapshot.freeze, snapshot.phase)
        found = awards(snapshot.main, snapshot.board, contest.settings.prizes, groups, contest.labels, first)
        kept = snapshot.pages["awards"] = {each.id: each for each in found}
    return kept


def one(viewer: Viewer, snapshot: ContestSnapshot, session: Session, award_id: str) -> Mapping[str, Any]:
    """An award the viewer may see; raises NotFound."""
    for each in documents(viewer, snapshot, session):
        if each["id"] == award_id:
            return each
    raise NotFound(f"no award {award_id!r} in contest {snapshot.contest.id!r}")


def keep(session: Session, contest_id: str, award_id: str, citation: str, team_ids: list[str]) -> None:
    """Store an award given by hand, or one in place of a computed award."""
    row = stored.awards(session, contest_id).get(award_id) or AwardRow(contest_id=contest_id, id=award_id)
    row.citation, row.team_ids, row.deleted = citation, once(team_ids), False
    session.add(row)
    session.flush()


def check_teams(session: Session, contest_id: str, team_ids: list[str]) -> None:
    """Raise BadRequest naming every team that takes no part in the contest."""
    there = {row.id for row in teams.taking_part(session, contest_of(session, contest_id))}
    missing = [at for at, team_id in enumerate(team_ids) if team_id not in there]
    refuse([found(f"team_ids[{at}]", f"a team of contest {contest_id}", repr(team_ids[at])) for at in missing])


def once(team_ids: list[str]) -> list[str]:
    """The ids without repetitions, in order."""
    return list(dict.fromkeys(team_ids))

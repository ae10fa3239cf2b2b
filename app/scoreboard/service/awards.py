"""Awards: those the final board gives, and those that admins give, or give in place of one of them."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.queries import awards as stored
from app.contests.service.contests import contest_of, slug
from app.core.bodies import Body, Line, mismatch, refuse, same_id
from app.core.clics import Id
from app.core.errors import NotFound
from app.core.messages import N_, Message
from app.domain.awards import Award, award_id, awards, first_to_solve
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, once_a_snapshot
from app.tables import AwardRow
from app.teams.queries import directory, teams
from app.teams.service.directory_seen import groups_unseen
from app.teams.service.teams import visible


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


def award(viewer: Viewer, snapshot: ContestSnapshot, session: Session, award_id: str) -> AwardView:
    """An award the viewer may see; raises NotFound."""
    for each in documents(viewer, snapshot, session):
        if each.id == award_id:
            return each
    raise NotFound(N_("no award %(award)r in contest %(contest)r"), award=award_id, contest=snapshot.contest.id)


def make(viewer: Viewer, snapshot: ContestSnapshot, session: Session, body: AwardBody) -> AwardView:
    """Make an award, whose id is made of its citation; raises BadRequest for an id or for unknown teams."""
    contest_id = snapshot.contest.id
    if body.id is not None:
        refuse([mismatch("id", Message(N_("none, as the server gives it")), repr(body.id))])
    _check_teams(session, contest_id, body.team_ids)
    taken = {each.id for each in documents(viewer, snapshot, session)} | set(stored.awards(session, contest_id))
    award_id = slug(body.citation, taken.__contains__, "award")
    session.add(AwardRow(contest_id=contest_id, id=award_id, citation=body.citation, team_ids=_once(body.team_ids)))
    session.flush()
    return award(viewer, snapshot, session, award_id)


def put(viewer: Viewer, snapshot: ContestSnapshot, session: Session, award_id: str, body: AwardBody) -> AwardView:
    """Make or replace an award; one that was computed is computed no more. Raises BadRequest or Conflict."""
    if body.id is None:
        refuse([mismatch("id", Message(N_("the id of the address")), Message(N_("nothing")))])
    same_id(award_id, body.id)
    _check_teams(session, snapshot.contest.id, body.team_ids)
    _store(session, snapshot.contest.id, award_id, body.citation, body.team_ids)
    return award(viewer, snapshot, session, award_id)


def alter(viewer: Viewer, snapshot: ContestSnapshot, session: Session, award_id: str, body: AwardChange) -> AwardView:
    """Change what is given of an award; one that was computed is computed no more. Raises BadRequest or NotFound."""
    old = award(viewer, snapshot, session, award_id)
    same_id(award_id, body.id)
    nulls = [name for name in ("citation", "team_ids") if name in body.model_fields_set and getattr(body, name) is None]
    refuse([mismatch(name, Message(N_("a value")), Message(N_("null"))) for name in nulls])
    _check_teams(session, snapshot.contest.id, body.team_ids or [])
    team_ids = body.team_ids if body.team_ids is not None else old.team_ids
    if team_ids is None:
        refuse([mismatch("team_ids", Message(N_("the teams, as the results are not final")), Message(N_("nothing")))])
    _store(session, snapshot.contest.id, award_id, body.citation or old.citation, team_ids or [])
    return award(viewer, snapshot, session, award_id)


def delete(viewer: Viewer, snapshot: ContestSnapshot, session: Session, award_id: str) -> None:
    """Delete an award; a computed one is marked, so that it is not given. Raises NotFound."""
    old, contest_id = award(viewer, snapshot, session, award_id), snapshot.contest.id
    if award_id in computed(snapshot, session):
        _store(session, contest_id, award_id, old.citation, [])
        stored.awards(session, contest_id)[award_id].deleted = True
    else:
        session.delete(stored.awards(session, contest_id)[award_id])


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[AwardView]:
    """The awards as this viewer sees them, computed ones first; none of groups that only hidden teams have."""
    contest = contest_of(session, snapshot.contest.id)
    unseen = {award_id("group-winner", str(group)) for group in groups_unseen(viewer, session, contest)}
    given: dict[str, Award | AwardRow] = {**computed(snapshot, session), **stored.awards(session, snapshot.contest.id)}
    visible_ids = {row.id for row in visible(session, viewer, contest)}
    shown: list[AwardView] = []
    for each in given.values():
        if each.id in unseen or (isinstance(each, AwardRow) and each.deleted):
            continue
        hidden = snapshot.freeze.until is not None or (isinstance(each, Award) and snapshot.state.finalized is None)
        ids = None if hidden and not (viewer.sees_all and isinstance(each, AwardRow)) else each.team_ids
        team_ids = None if ids is None else [team_id for team_id in ids if team_id in visible_ids]
        shown.append(AwardView(id=each.id, citation=each.citation, team_ids=team_ids))
    return shown


def computed(snapshot: ContestSnapshot, session: Session) -> dict[str, Award]:
    """The awards of the viewer's board by id, shown once it is final. Computed once for each board."""
    cached = _computed(snapshot)
    if not cached:
        contest = snapshot.contest
        groups = {row.id: row.name for row in directory.groups(session, contest_of(session, contest.id))}
        tries, bests, main = snapshot.official(), snapshot.board.bests, contest.main_teams
        teams = [team for team in contest.teams if main is None or team.id in main]
        first = first_to_solve(snapshot.problems, teams, tries, bests, snapshot.freeze, snapshot.phase)
        given = awards(snapshot.main, snapshot.board, contest.settings.prizes, groups, contest.labels, first)
        cached.update({each.id: each for each in given})
    return cached


@once_a_snapshot
def _computed(_snapshot: ContestSnapshot) -> dict[str, Award]:
    """The computed awards by id; empty until they are computed, as there is always one for the winner."""
    return {}


def _store(session: Session, contest_id: str, award_id: str, citation: str, team_ids: list[str]) -> None:
    """Store an award given by hand, or one in place of a computed award."""
    row = stored.awards(session, contest_id).get(award_id) or AwardRow(contest_id=contest_id, id=award_id)
    row.citation, row.team_ids, row.deleted = citation, _once(team_ids), False
    session.add(row)
    session.flush()


def _check_teams(session: Session, contest_id: str, team_ids: list[str]) -> None:
    """Raise BadRequest naming every team that takes no part in the contest."""
    known_ids = {row.id for row in teams.taking_part(session, contest_of(session, contest_id))}
    missing = [at for at, team_id in enumerate(team_ids) if team_id not in known_ids]
    refuse(
        [
            mismatch(
                f"team_ids[{at}]", Message(N_("a team of contest %(contest)s"), contest=contest_id), repr(team_ids[at])
            )
            for at in missing
        ]
    )


def _once(team_ids: list[str]) -> list[str]:
    """The ids without repetitions, in order."""
    return list(dict.fromkeys(team_ids))

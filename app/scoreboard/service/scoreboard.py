"""The scoreboard: CLICS rows, frozen for the public; what changed since a version; as a table; and over time.

- Awards: those the final board gives, and those that admins give, or give in place of one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from anyio.to_thread import run_sync
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.queries import NoContest, contest_of
from app.contests.service import visibility
from app.core import csv_tables
from app.core.bodies import Body, Line, mismatch, refuse, same_id
from app.core.clics import Id, format_reltime, slug
from app.core.messages import N_, BadRequest, Forbidden, Message, NotFound
from app.core.service import Service
from app.domain.board import moment
from app.domain.contests import PROVISIONAL
from app.domain.history import Award, award_id, awards, first_to_solve
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, in_phase, once_a_snapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.scoreboard.service.history import history_steps
from app.scoreboard.service.pages import BoardPages, arrays_of, dump, head_of
from app.tables import AwardRow
from app.teams import queries as teams_queries
from app.teams.service import directory, teams

JSON = "application/json"


async def as_asked(snapshot: ContestSnapshot, phase: str | None) -> ContestSnapshot:
    """The snapshot of a phase. Which phase counts is for judges to ask, until all see."""
    finals = snapshot.contest.finals
    if phase is None:
        return snapshot
    if snapshot.public and snapshot.phase == PROVISIONAL and phase == "final":
        raise Forbidden(N_("only a judge or an admin may see what final cases give now"))
    kinds = finals.kinds if phase == "final" and finals.used else PROVISIONAL
    return await run_sync(in_phase, snapshot, kinds)


async def board_shown(
    boards: ScoreboardCache, viewer: Viewer, contest_id: str, *, public: bool | None, group_id: str | None
) -> ContestSnapshot:
    """The board a viewer asks for; refuses what there is not, and what is for judges only."""
    if public is False and not viewer.sees_all:
        raise Forbidden(N_("only a judge or an admin may see the board as judges see it"))
    as_public = not viewer.sees_all if public is None else public
    snapshot = boards.ready(contest_id, public=as_public)
    snapshot = snapshot or await boards.snapshot_soon(contest_id, public=as_public)
    if snapshot is None:
        raise NoContest(contest_id)
    snapshot = visibility.seen_by(viewer, snapshot)
    if group_id is not None and not _is_group(viewer, snapshot, group_id):
        raise BadRequest(N_("expected the id of a group, found %(found)r"), where="group_id", found=group_id)
    return snapshot


def _is_group(viewer: Viewer, snapshot: ContestSnapshot, group_id: str) -> bool:
    """Whether a group has a team that the viewer may know of; one of hidden teams alone exists for judges only."""
    known = (each for each in snapshot.contest.teams if not each.hidden or viewer.sees_all or each.id == viewer.team_id)
    return any(group_id in team.group_ids for team in known)


async def history_json(
    pages: BoardPages, snapshot: ContestSnapshot, steps: int, team_ids: Sequence[str] | None
) -> bytes:
    """Points and ranks over time of all teams, or of some, at about `steps` moments; raises BadRequest, NotFound."""
    known_ids = {team.id for team in snapshot.main.teams}
    if unknown := [each for each in team_ids or () if each not in known_ids]:
        raise BadRequest(N_("expected a team on the board, found %(found)r"), where="team_id", found=unknown[0])
    history = await pages.history_soon(snapshot, history_steps(snapshot, steps))
    if team_ids is not None and not history.teams.keys() >= set(team_ids):
        raise NotFound(N_("a team of these is too new; try again later"))
    head = head_of(history.snapshot)
    return await run_sync(lambda: dump({**head, "teams": history.documents(team_ids)}))


def organizations_of(session: Session, contest_id: str) -> dict[str, str]:
    """Return the names of the teams' organizations, by team."""
    contest = contest_of(session, contest_id)
    names = {row.id: row.name for row in teams_queries.organizations(session, contest)}
    teams = teams_queries.taking_part(session, contest)
    return {team.id: names[team.organization_id] for team in teams if team.organization_id in names}


def csv_text(service: Service, snapshot: ContestSnapshot, group_id: str | None) -> str:
    """The board as CSV, harmless for spreadsheets: a row a team, a column a problem."""
    with service.database.read() as session:
        organizations = organizations_of(session, snapshot.contest.id)
    arrays = arrays_of(snapshot, group_id)
    labels = [snapshot.contest.labels.get(problem.id, problem.id) for problem in arrays.problems]
    rows = []
    for rank, team in zip(arrays.ranks.tolist(), arrays.order.tolist(), strict=True):
        names = (arrays.teams[team].id, arrays.teams[team].name, organizations.get(arrays.teams[team].id))
        time = moment(int(arrays.times[team]))
        shown = "" if time is None else format_reltime(time)
        rows.append([rank, *names, float(arrays.totals[team]), shown, *arrays.scores[:, team].tolist()])
    columns = ["rank", "team_id", "team", "organization", "points", "time", *map(csv_tables.harmless, labels)]
    return csv_tables.csv_text(columns, rows)


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
    """An award; `team_ids` null: not public yet."""

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
    taken = {each.id for each in documents(viewer, snapshot, session)} | set(
        contests_queries.awards(session, contest_id)
    )
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
        contests_queries.awards(session, contest_id)[award_id].deleted = True
    else:
        session.delete(contests_queries.awards(session, contest_id)[award_id])


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[AwardView]:
    """The awards as this viewer sees them, computed ones first; none of groups that only hidden teams have."""
    contest = contest_of(session, snapshot.contest.id)
    unseen = {award_id("group-winner", str(group)) for group in directory.groups_unseen(viewer, session, contest)}
    given: dict[str, Award | AwardRow] = {
        **computed(snapshot, session),
        **contests_queries.awards(session, snapshot.contest.id),
    }
    visible_ids = {row.id for row in teams.visible(session, viewer, contest)}
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
    groups = {row.id: row.name for row in teams_queries.groups(session, contest_of(session, snapshot.contest.id))}
    return _computed(snapshot, tuple(groups.items()))


@once_a_snapshot
def _computed(snapshot: ContestSnapshot, groups: tuple[tuple[str, str], ...]) -> dict[str, Award]:
    """The computed awards by id; `groups` are ids with names."""
    contest, main = snapshot.contest, snapshot.contest.main_teams
    teams = [team for team in contest.teams if main is None or team.id in main]
    tries, bests = snapshot.official(), snapshot.board.bests
    first = first_to_solve(snapshot.problems, teams, tries, bests, snapshot.freeze, snapshot.phase)
    given = awards(snapshot.main, snapshot.board, contest.settings.prizes, dict(groups), contest.labels, first)
    return {each.id: each for each in given}


def _store(session: Session, contest_id: str, award_id: str, citation: str, team_ids: list[str]) -> None:
    """Store an award given by hand, or one in place of a computed award."""
    row = contests_queries.awards(session, contest_id).get(award_id) or AwardRow(contest_id=contest_id, id=award_id)
    row.citation, row.team_ids, row.deleted = citation, _once(team_ids), False
    session.add(row)
    session.flush()


def _check_teams(session: Session, contest_id: str, team_ids: list[str]) -> None:
    """Raise BadRequest naming every team that takes no part in the contest."""
    known_ids = {row.id for row in teams_queries.taking_part(session, contest_of(session, contest_id))}
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

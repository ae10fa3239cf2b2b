"""Teams, and which of them take part in a contest.

- Groups, organizations and persons: which of them a contest shows, and what stands on each.
- Teams that were made for a contest, which keeps them, and what came with them.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from app.contests.queries import clock
from app.core.clock import utc_now
from app.core.db import by_id
from app.tables import (
    AccountRow,
    AwardRow,
    ClarificationRow,
    ContestRow,
    ContestTeamRow,
    GameRow,
    GroupRow,
    KeptTeamRow,
    OrganizationRow,
    ParticipationRow,
    PersonRow,
    SubmissionRow,
    TeamRow,
)


def teams(session: Session) -> Sequence[TeamRow]:
    """All teams, by id."""
    return session.scalars(select(TeamRow).order_by(TeamRow.id)).all()


def taking_part(session: Session, contest: ContestRow) -> Sequence[TeamRow]:
    """The teams of a contest, hidden ones too, by id: all there are in a contest open to all."""
    query = select(TeamRow).order_by(TeamRow.id)
    if not contest.open_to_all:
        query = query.join(ContestTeamRow, ContestTeamRow.team_id == TeamRow.id)
        query = query.where(ContestTeamRow.contest_id == contest.id)
    return session.scalars(query).all()


def takes_part(session: Session, contest: ContestRow, team_id: str) -> bool:
    """Whether the team takes part."""
    if contest.open_to_all:
        return session.get(TeamRow, team_id) is not None
    return session.get(ContestTeamRow, (contest.id, team_id)) is not None


def enrolled(session: Session, contest_id: str) -> dict[str, ContestTeamRow]:
    """The rows of the teams that are enrolled in a contest, by team."""
    query = select(ContestTeamRow).where(ContestTeamRow.contest_id == contest_id)
    return {row.team_id: row for row in session.scalars(query)}


def final_contests(session: Session, team_id: str) -> list[str]:
    """The contests that are final in which a team is enrolled, or has submitted.

    Everyone is enrolled in a final contest that is open to all: there only those who have submitted are meant.
    """
    enrolled = select(ContestTeamRow.contest_id).where(ContestTeamRow.team_id == team_id)
    submitted = select(SubmissionRow.contest_id).where(SubmissionRow.team_id == team_id)
    query = select(ContestRow.id).where(ContestRow.finalized.is_not(None))
    chosen = ContestRow.id.in_(enrolled) & ContestRow.open_to_all.is_(False)
    query = query.where(chosen | ContestRow.id.in_(submitted))
    return list(session.scalars(query.order_by(ContestRow.id)))


def enrol(session: Session, contest_id: str, ids: Iterable[str]) -> None:
    """Let teams take part; those that do already are left alone."""
    enrolled = set(session.scalars(select(ContestTeamRow.team_id).where(ContestTeamRow.contest_id == contest_id)))
    new = [{"contest_id": contest_id, "team_id": team_id} for team_id in sorted(set(ids) - enrolled)]
    if new:
        session.execute(insert(ContestTeamRow), new)


def enrol_those_there(session: Session, contest: ContestRow) -> None:
    """Write down who takes part in a contest as it becomes final: a team that comes later is on no board of it."""
    if contest.open_to_all:
        enrol(session, contest.id, [team.id for team in taking_part(session, contest)])


def withdraw(session: Session, contest_id: str, team_id: str) -> bool:
    """Let a team take part no more; False if it did not."""
    row = session.get(ContestTeamRow, (contest_id, team_id))
    if row is None:
        return False
    session.delete(row)
    return True


def uses(session: Session, team_id: str) -> dict[str, int]:
    """The numbers of rows that refer to a team and would be lost without it, such as submissions, by kind."""
    counted = {
        "accounts": accounts_of_team(session, team_id),
        "submissions": by_id.count(session, SubmissionRow, SubmissionRow.team_id == team_id),
        "games": by_id.count(session, GameRow, GameRow.team_id == team_id),
    }
    counted["persons"] = sum(team_id in ids for ids in session.scalars(select(PersonRow.team_ids)))
    asked = by_id.count(session, ClarificationRow, ClarificationRow.from_team_id == team_id)
    addressed = session.scalars(select(ClarificationRow.to_team_ids).where(ClarificationRow.to_team_ids.is_not(None)))
    counted["clarifications"] = asked + sum(team_id in (ids or ()) for ids in addressed)
    counted["awards"] = sum(team_id in ids for ids in session.scalars(select(AwardRow.team_ids)))
    return {name: count for name, count in counted.items() if count}


def remove(session: Session, team_id: str) -> None:
    """Delete a team nothing stands on."""
    session.execute(delete(TeamRow).where(TeamRow.id == team_id))


R = TypeVar("R", bound=GroupRow | OrganizationRow | PersonRow)


def groups(session: Session, contest: ContestRow) -> list[GroupRow]:
    """The groups a contest brought, and those its teams are in; all there are where it is open to all."""
    used = {group_id for row in taking_part(session, contest) for group_id in row.group_ids}
    return _shown(session, GroupRow, contest, used | {contest.main_scoreboard_group_id})


def organizations(session: Session, contest: ContestRow) -> list[OrganizationRow]:
    """The organizations a contest brought, and those of its teams; all there are where it is open to all."""
    used = {row.organization_id for row in taking_part(session, contest)}
    return _shown(session, OrganizationRow, contest, used)


def persons(session: Session, contest: ContestRow) -> list[PersonRow]:
    """The persons a contest brought, those in its teams and those who have an account that goes with it.

    All there are where it is open to all.
    """
    team_ids = {row.id for row in taking_part(session, contest)}
    query = select(AccountRow.person_id, AccountRow.team_id).where(AccountRow.person_id.is_not(None))
    used = {person for person, team in session.execute(query) if team is None or team in team_ids}
    if contest.open_to_all:
        return _shown(session, PersonRow, contest, used)
    rows = session.scalars(select(PersonRow).order_by(PersonRow.id)).all()
    used |= {row.id for row in rows if not team_ids.isdisjoint(row.team_ids)}
    return [row for row in rows if row.contest_id == contest.id or row.id in used]


def public_persons(session: Session, contest: ContestRow) -> list[PersonRow]:
    """Return the same without persons of other contests that have not started.

    In a contest open to all these are only those it brought and those whose account has no team, because every team
    takes part there, also those whose own contest has not started.
    """
    rows, now = persons(session, contest), utc_now()
    if contest.open_to_all:
        query = select(AccountRow.person_id).where(AccountRow.person_id.is_not(None), AccountRow.team_id.is_(None))
        without_team = set(session.scalars(query))
        rows = [row for row in rows if row.contest_id == contest.id or row.id in without_team]
    others = {row.contest_id for row in rows} - {contest.id}
    brought = session.scalars(select(ContestRow).where(ContestRow.id.in_(others)))
    secret_ids = {row.id for row in brought if not clock(row).started(now)}
    return [row for row in rows if row.contest_id not in secret_ids]


def _shown(session: Session, table: type[R], contest: ContestRow, used: Iterable[str | None]) -> list[R]:
    rows: Sequence[R] = session.scalars(select(table).order_by(table.id)).all()
    if contest.open_to_all:
        return list(rows)
    wanted = set(used)
    return [row for row in rows if row.contest_id == contest.id or row.id in wanted]


def group_uses(session: Session, group_id: str) -> dict[str, int]:
    """The numbers of rows that refer to a group, by kind."""
    counted = {
        "teams": sum(group_id in ids for ids in session.scalars(select(TeamRow.group_ids))),
        "main scoreboards": by_id.count(session, ContestRow, ContestRow.main_scoreboard_group_id == group_id),
        "clarifications": sum(
            group_id in (ids or ()) for ids in session.scalars(select(ClarificationRow.to_group_ids))
        ),
    }
    return {name: count for name, count in counted.items() if count}


def organization_uses(session: Session, organization_id: str) -> dict[str, int]:
    """The numbers of rows that refer to an organization, by kind."""
    count = by_id.count(session, TeamRow, TeamRow.organization_id == organization_id)
    return {"teams": count} if count else {}


def person_uses(session: Session, person_id: str) -> dict[str, int]:
    """The numbers of rows that refer to a person, by kind."""
    count = by_id.count(session, AccountRow, AccountRow.person_id == person_id)
    return {"accounts": count} if count else {}


def keep(session: Session, contest_id: str, team_ids: Iterable[str]) -> None:
    """Let a contest keep teams that have been made for it."""
    session.flush()
    session.add_all(KeptTeamRow(team_id=team_id, contest_id=contest_id) for team_id in team_ids)


def of_contests(session: Session, contest_ids: Collection[str]) -> dict[str, str]:
    """The teams that these contests keep, and which of them does."""
    query = select(KeptTeamRow.team_id, KeptTeamRow.contest_id).where(KeptTeamRow.contest_id.in_(contest_ids))
    return {row[0]: row[1] for row in session.execute(query)}


def in_others(session: Session, contest_ids: Collection[str]) -> set[str]:
    """The teams that are enrolled by name in a contest which is none of these."""
    query = select(ContestTeamRow.team_id).where(ContestTeamRow.contest_id.not_in(contest_ids))
    return set(session.scalars(query))


def competing(session: Session, contest_ids: Collection[str]) -> set[str]:
    """Return the teams that have submitted, played or asked in one of these contests, or whose clock runs there."""
    columns = (
        (SubmissionRow, SubmissionRow.team_id),
        (ParticipationRow, ParticipationRow.team_id),
        (GameRow, GameRow.team_id),
        (ClarificationRow, ClarificationRow.from_team_id),
    )
    queries = [select(team).where(table.contest_id.in_(contest_ids)).distinct() for table, team in columns]
    return {team_id for query in queries for team_id in session.scalars(query) if team_id is not None}


def accounts_of(session: Session, team_ids: Collection[str]) -> list[AccountRow]:
    """The accounts of teams, by id."""
    rows = session.scalars(select(AccountRow).where(AccountRow.team_id.is_not(None)).order_by(AccountRow.id))
    return [row for row in rows if row.team_id in team_ids]


def made_for(session: Session, table: type[R], contest_ids: Collection[str]) -> set[str]:
    """The ids of the groups, organizations or persons that contests brought."""
    return set(session.scalars(select(table.id).where(table.contest_id.in_(contest_ids))))


def accounts_of_team(session: Session, team_id: str) -> int:
    """The number of accounts of a team."""
    return by_id.count(session, AccountRow, AccountRow.team_id == team_id)


def teams_of_contests(session: Session, contest_ids: Collection[str]) -> Sequence[TeamRow]:
    """The teams that are enrolled in one of these contests, or were made for it, by id."""
    enrolled_ids = select(ContestTeamRow.team_id).where(ContestTeamRow.contest_id.in_(contest_ids))
    kept_ids = select(KeptTeamRow.team_id).where(KeptTeamRow.contest_id.in_(contest_ids))
    ids = enrolled_ids.union(kept_ids)
    return session.scalars(select(TeamRow).where(TeamRow.id.in_(ids)).order_by(TeamRow.id)).all()


def contests_of_team(session: Session, team_id: str) -> Sequence[ContestRow]:
    """The contests in which a team takes part: those it is enrolled in, and those open to all."""
    enrolled = select(ContestTeamRow.contest_id).where(ContestTeamRow.team_id == team_id)
    query = select(ContestRow).where(ContestRow.open_to_all | ContestRow.id.in_(enrolled))
    return session.scalars(query.order_by(ContestRow.id)).all()

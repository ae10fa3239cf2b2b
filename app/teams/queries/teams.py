"""Teams, and which of them take part in a contest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from app.core.db import by_id
from app.tables import (
    AccountRow,
    AwardRow,
    ClarificationRow,
    ContestRow,
    ContestTeamRow,
    GameRow,
    PersonRow,
    SubmissionRow,
    TeamRow,
)


def teams(session: Session) -> Sequence[TeamRow]:
    """All teams, by id."""
    return session.scalars(select(TeamRow).order_by(TeamRow.id)).all()


def get(session: Session, team_id: str) -> TeamRow | None:
    """One team, or None."""
    return session.get(TeamRow, team_id)


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


def disqualified(session: Session, contest_id: str) -> set[str]:
    """The teams that are disqualified in a contest."""
    query = select(ContestTeamRow.team_id)
    query = query.where(ContestTeamRow.contest_id == contest_id, ContestTeamRow.disqualified.is_(True))
    return set(session.scalars(query))


def final_contests(session: Session, team_id: str) -> list[str]:
    """The contests that are final in which a team is enrolled, or has submitted.

    Everybody is enrolled in a final contest that is open to all: there only those who have submitted are meant.
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


def disqualify(session: Session, contest_id: str, ids: Iterable[str]) -> None:
    """Disqualify teams that take part in a contest."""
    wanted = set(ids)
    enrol(session, contest_id, wanted)
    table = ContestTeamRow
    for some in by_id.portions(wanted):
        disqualify_some = update(table).where(table.contest_id == contest_id, table.team_id.in_(some))
        session.execute(disqualify_some.values(disqualified=True))


def withdraw(session: Session, contest_id: str, team_id: str) -> bool:
    """Let a team take part no more; False if it did not."""
    row = session.get(ContestTeamRow, (contest_id, team_id))
    if row is None:
        return False
    session.delete(row)
    return True


def uses(session: Session, team_id: str) -> dict[str, int]:
    """The numbers of rows that refer to a team and would be lost without it, such as submissions, by kind."""
    counted = {}
    for name, table in (("accounts", AccountRow), ("submissions", SubmissionRow), ("games", GameRow)):
        counted[name] = session.scalar(select(func.count()).select_from(table).where(table.team_id == team_id)) or 0
    counted["persons"] = sum(team_id in ids for ids in session.scalars(select(PersonRow.team_ids)))
    asked = select(func.count()).select_from(ClarificationRow).where(ClarificationRow.from_team_id == team_id)
    addressed = session.scalars(select(ClarificationRow.to_team_ids).where(ClarificationRow.to_team_ids.is_not(None)))
    counted["clarifications"] = (session.scalar(asked) or 0) + sum(team_id in (ids or ()) for ids in addressed)
    counted["awards"] = sum(team_id in ids for ids in session.scalars(select(AwardRow.team_ids)))
    return {name: count for name, count in counted.items() if count}


def remove(session: Session, team_id: str) -> None:
    """Delete a team nothing stands on."""
    session.execute(delete(TeamRow).where(TeamRow.id == team_id))

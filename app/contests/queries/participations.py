"""Decisions of teams in a contest: their own clock, the time of final inputs, the submission that counts.

All of it is written by handlers of the writer, so that many teams can do it in the same second, and each at most once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select
from sqlalchemy.orm import Session

from app.core.db.base import own_insert
from app.core.db.by_id import tell_board
from app.domain.participation import Participation, ParticipationKind
from app.tables import ChosenSubmissionRow, InputRequestRow, ParticipationRow

Own = ParticipationRow | InputRequestRow | ChosenSubmissionRow


def participations(session: Session, contest_id: str) -> dict[str, Participation]:
    """The clocks of their own that teams have in a contest."""
    query = select(ParticipationRow).where(ParticipationRow.contest_id == contest_id)
    return {row.team_id: _participation(row) for row in session.scalars(query)}


def participation(session: Session, contest_id: str, team_id: str) -> Participation | None:
    """A team's own clock, where it has one."""
    row = session.get(ParticipationRow, (contest_id, team_id))
    return None if row is None else _participation(row)


def asked(session: Session, contest_id: str, team_id: str, problem_id: str) -> datetime | None:
    """The time at which a team asked for the final inputs of a problem."""
    row = session.get(InputRequestRow, (contest_id, team_id, problem_id))
    return None if row is None else row.time


def choices(session: Session, contest_id: str) -> dict[tuple[str, str], int]:
    """The submissions that teams have chosen, by team and problem."""
    return {(row.team_id, row.problem_id): row.submission_id for row in chosen(session, contest_id)}


def choice(session: Session, contest_id: str, team_id: str, problem_id: str) -> ChosenSubmissionRow | None:
    """The submission a team has chosen at a problem."""
    return session.get(ChosenSubmissionRow, (contest_id, team_id, problem_id))


def requests(session: Session, contest_id: str) -> Sequence[InputRequestRow]:
    """Requests for final inputs, by team and problem."""
    table = InputRequestRow
    query = select(table).where(table.contest_id == contest_id).order_by(table.team_id, table.problem_id)
    return session.scalars(query).all()


def chosen(session: Session, contest_id: str) -> Sequence[ChosenSubmissionRow]:
    """The submissions that teams have chosen, by team and problem."""
    table = ChosenSubmissionRow
    query = select(table).where(table.contest_id == contest_id).order_by(table.team_id, table.problem_id)
    return session.scalars(query).all()


@dataclass(frozen=True, slots=True)
class Beginning:
    """A team begins to take part by its own clock."""

    contest_id: str
    team_id: str
    kind: ParticipationKind
    time: datetime


def begin(connection: Connection, beginnings: Sequence[Beginning]) -> list[bool]:
    """Start clocks; False where that team's runs already. A handler of the writer."""
    table = ParticipationRow
    for each in beginnings:
        tell_board(connection, each.contest_id)
    return [
        _insert_new(connection, table, contest_id=b.contest_id, team_id=b.team_id, kind=b.kind.value, start_time=b.time)
        for b in beginnings
    ]


# A contest, a team and a problem.
Place = tuple[str, str, str]


def ask(connection: Connection, requests: Sequence[tuple[Place, datetime]]) -> list[bool]:
    """Start timers of final inputs; False where that timer runs already. A handler of the writer."""
    return [_insert_new(connection, InputRequestRow, **_key(place), time=time) for place, time in requests]


def _key(place: Place) -> dict[str, str]:
    return dict(zip(("contest_id", "team_id", "problem_id"), place, strict=True))


@dataclass(frozen=True, slots=True)
class Choosing:
    """A team chooses a submission at a problem, or (None) withdraws its choice."""

    place: Place
    submission_id: int | None
    time: datetime


def choose(connection: Connection, choosings: Sequence[Choosing]) -> list[None]:
    """Write choices down, the last one holds. A handler of the writer."""
    for each in choosings:
        tell_board(connection, each.place[0])
        key = _key(each.place)
        if each.submission_id is None:
            connection.execute(delete(ChosenSubmissionRow).filter_by(**key))
            continue
        new = {"submission_id": each.submission_id, "time": each.time}
        statement = own_insert(connection, ChosenSubmissionRow).values(**key, **new)
        connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=new))
    return [None] * len(choosings)


def _insert_new(connection: Connection, table: type[Own], **values: object) -> bool:
    """Insert a row unless its key is there already; False if it is."""
    statement = own_insert(connection, table).values(**values).on_conflict_do_nothing().returning(table.contest_id)
    return connection.execute(statement).first() is not None


def _participation(row: ParticipationRow) -> Participation:
    return Participation(ParticipationKind(row.kind), row.start_time)

"""Queries of contests, their problems and participations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from anyio.to_thread import run_sync
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.core.db import by_id
from app.core.db.tables import own_insert
from app.core.json_documents import PauseDocument
from app.core.messages import N_, Forbidden, Message, NotFound, did_you_mean
from app.domain.contests import Clock, Pause
from app.domain.participation import Participation, ParticipationKind
from app.submissions.tables import DONE
from app.tables import (
    AwardRow,
    ChosenSubmissionRow,
    ContestProblemRow,
    ContestRow,
    ContestTeamRow,
    InputRequestRow,
    JudgementRow,
    ParticipationRow,
    SubmissionRow,
)

if TYPE_CHECKING:
    from app.core.service import Service

T = TypeVar("T", InputRequestRow, ChosenSubmissionRow)


def contests(session: Session) -> Sequence[ContestRow]:
    """All contests, sorted by start time; those without one come last."""
    return session.scalars(
        select(ContestRow).order_by(ContestRow.start_time.is_(None), ContestRow.start_time, ContestRow.id)
    ).all()


def open_to_all(session: Session) -> Sequence[ContestRow]:
    """Return the contests in which every team of the server takes part, by id."""
    return session.scalars(select(ContestRow).where(ContestRow.open_to_all).order_by(ContestRow.id)).all()


def get(session: Session, contest_id: str, *, for_update: bool = False) -> ContestRow | None:
    """One contest, or None; `for_update` keeps others from changing it until the transaction ends."""
    return session.get(ContestRow, contest_id, with_for_update=for_update or None)


def entries(session: Session, contest_id: str) -> Sequence[ContestProblemRow]:
    """The entries of a contest's problems, in their order."""
    return session.scalars(
        select(ContestProblemRow)
        .where(ContestProblemRow.contest_id == contest_id)
        .order_by(ContestProblemRow.ordinal, ContestProblemRow.problem_id)
    ).all()


def entry(session: Session, contest_id: str, problem_id: str) -> ContestProblemRow | None:
    """The entry of one problem in a contest, or None without one."""
    return session.get(ContestProblemRow, (contest_id, problem_id))


def submission_count(
    session: Session, contest_id: str, *, problem_id: str | None = None, team_id: str | None = None
) -> int:
    """The number of a contest's submissions, of one problem or one team if that is given."""
    conditions = [SubmissionRow.contest_id == contest_id]
    if problem_id is not None:
        conditions.append(SubmissionRow.problem_id == problem_id)
    if team_id is not None:
        conditions.append(SubmissionRow.team_id == team_id)
    return by_id.count(session, SubmissionRow, *conditions)


def unjudged(session: Session, row: ContestRow) -> int:
    """The number of submissions without a verdict, those of practice and of virtual teams left out."""
    virtual = select(ParticipationRow.team_id).where(
        ParticipationRow.contest_id == row.id, ParticipationRow.kind == ParticipationKind.VIRTUAL.value
    )
    query = (
        select(func.count())
        .select_from(SubmissionRow)
        .join(JudgementRow, (JudgementRow.submission_id == SubmissionRow.id) & JudgementRow.current.is_(True))
        .where(SubmissionRow.contest_id == row.id, SubmissionRow.contest_time_ms < row.duration_ms)
        .where(JudgementRow.state != DONE, SubmissionRow.team_id.not_in(virtual))
    )
    return session.scalar(query) or 0


def free_label(taken: set[str]) -> str:
    """The first of A, B ... Z, P27, P28 ... that is not taken."""
    number = 0
    while True:
        number += 1
        label = chr(ord("A") + number - 1) if number <= 26 else f"P{number}"
        if label not in taken:
            return label


def awards(session: Session, contest_id: str) -> dict[str, AwardRow]:
    """The awards made by hand, by id; also those that say that a computed one is not given."""
    query = select(AwardRow).where(AwardRow.contest_id == contest_id).order_by(AwardRow.id)
    return {row.id: row for row in session.scalars(query)}


class NoContest(NotFound):
    """The contest is unknown to the viewer; the reply suggests the nearest public one."""

    def __init__(self, contest_id: str) -> None:
        super().__init__(N_("no contest %(contest)r"), contest=contest_id)
        self._contest_id = contest_id

    async def full_message(self, service: Service) -> Message:
        """Return the message with the nearest contest."""
        return did_you_mean(self.message, self._contest_id, await run_sync(_contest_ids, service))


def _contest_ids(service: Service) -> list[str]:
    with service.database.read() as session:
        return [row.id for row in contests(session) if row.settings.visibility == "public"]


def contest_of(session: Session, contest_id: str, *, for_update: bool = False) -> ContestRow:
    """The contest, locked until the transaction ends if it is `for_update`; raises NotFound."""
    row = get(session, contest_id, for_update=for_update)
    if row is None:
        raise NoContest(contest_id)
    return row


def refuse_final(row: ContestRow) -> None:
    """Raise Forbidden where the results are final: what they came from stays as it is."""
    if row.finalized is not None:
        raise Forbidden(N_("the contest is final; finalized: false opens it again"))


def clock(row: ContestRow) -> Clock:
    """The times of a contest."""
    freeze = None if row.freeze_ms is None else timedelta(milliseconds=row.freeze_ms)
    spans = [(each["start"], each.get("end")) for each in row.pauses or ()]
    pauses = tuple(Pause(_moment(start), _moment(end) if end else None) for start, end in spans)
    return Clock(row.start_time, timedelta(milliseconds=row.duration_ms), freeze, row.thaw_time, pauses)


def written_pauses(pauses: Sequence[Pause]) -> list[PauseDocument]:
    """Pauses as a contest's row keeps them."""
    return [{"start": p.start.isoformat(), "end": None if p.end is None else p.end.isoformat()} for p in pauses]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def entry_of(session: Session, contest_id: str, problem_id: str) -> ContestProblemRow:
    """The problem's place in the contest; raises NotFound."""
    contest_of(session, contest_id)
    row = entry(session, contest_id, problem_id)
    if row is None:
        known = [each.problem_id for each in entries(session, contest_id)]
        raise NotFound(
            did_you_mean(
                Message(N_("no problem %(problem)r in contest %(contest)r"), problem=problem_id, contest=contest_id),
                problem_id,
                known,
            )
        )
    return row


Own = ParticipationRow | InputRequestRow | ChosenSubmissionRow


def participations(session: Session, contest_id: str) -> dict[str, Participation]:
    """The clocks of their own that teams have in a contest."""
    query = select(ParticipationRow).where(ParticipationRow.contest_id == contest_id)
    return {row.team_id: _participation(row) for row in session.scalars(query)}


def participation(session: Session, contest_id: str, team_id: str) -> Participation | None:
    """A team's own clock, where it has one."""
    row = session.get(ParticipationRow, (contest_id, team_id))
    return None if row is None else _participation(row)


def last_end(session: Session, row: ContestRow) -> datetime | None:
    """The end of a contest for the team with the most extra time; None while it is unknown."""
    most = session.scalar(select(func.max(ContestTeamRow.extra_seconds)).where(ContestTeamRow.contest_id == row.id))
    return clock(row).moment_of(clock(row).duration + timedelta(seconds=most or 0))


def extra_time(session: Session, contest_id: str, team_id: str) -> timedelta:
    """How much later than the contest a team's time ends."""
    row = session.get(ContestTeamRow, (contest_id, team_id))
    return timedelta(seconds=0 if row is None else row.extra_seconds)


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
    return _of_teams(session, InputRequestRow, contest_id)


def chosen(session: Session, contest_id: str) -> Sequence[ChosenSubmissionRow]:
    """The submissions that teams have chosen, by team and problem."""
    return _of_teams(session, ChosenSubmissionRow, contest_id)


def _of_teams(session: Session, table: type[T], contest_id: str) -> Sequence[T]:
    query = select(table).where(table.contest_id == contest_id).order_by(table.team_id, table.problem_id)
    return session.scalars(query).all()


def begin(session: Session, contest_id: str, team_id: str, own: Participation) -> bool:
    """Start a team's own clock; False where one runs already."""
    by_id.tell_board(session, contest_id)
    key = {"contest_id": contest_id, "team_id": team_id}
    return _insert_new(session, ParticipationRow, **key, kind=own.kind.value, start_time=own.start)


# A contest, a team and a problem.
Place = tuple[str, str, str]


def ask(session: Session, place: Place, time: datetime) -> bool:
    """Start the timer of a team's final inputs; False where it runs already."""
    return _insert_new(session, InputRequestRow, **_key(place), time=time)


def _key(place: Place) -> dict[str, str]:
    return dict(zip(("contest_id", "team_id", "problem_id"), place, strict=True))


def choose(session: Session, place: Place, submission_id: int | None, time: datetime) -> None:
    """Choose the submission that counts for a team at a problem, or (None) withdraw its choice; the last one holds."""
    by_id.tell_board(session, place[0])
    key, connection = _key(place), session.connection()
    if submission_id is None:
        connection.execute(delete(ChosenSubmissionRow).filter_by(**key))
        return
    new = {"submission_id": submission_id, "time": time}
    statement = own_insert(connection, ChosenSubmissionRow).values(**key, **new)
    connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=new))


def _insert_new(session: Session, table: type[Own], **values: object) -> bool:
    """Insert a row unless its key is there already; False if it is."""
    connection = session.connection()
    statement = own_insert(connection, table).values(**values).on_conflict_do_nothing().returning(table.contest_id)
    return connection.execute(statement).first() is not None


def _participation(row: ParticipationRow) -> Participation:
    return Participation(ParticipationKind(row.kind), row.start_time)

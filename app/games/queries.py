"""Games and their moves: how they are started, played and ended, each in one transaction."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Delete, Select, delete, func, insert, select, update
from sqlalchemy.orm import Session

from app.contests.schemas import NO_LIMITS, Limits
from app.core.db import by_id, locks
from app.core.messages import N_, Message
from app.domain.participation import limited, quota, times_needed
from app.submissions.queries import submission_queries, usage
from app.submissions.queries.submissions import Accepted, NewSubmission, accept
from app.tables import GameMoveRow, GameRow


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game to be started, with the moves that the opponent makes first, and the limits that it must keep.

    most_open  games that the owner may have open at once; `most_playing` that all together may
    """

    game: GameRow
    moves: Sequence[GameMoveRow]
    most_open: int
    most_playing: int
    limits: Limits = NO_LIMITS


@dataclass(frozen=True, slots=True)
class Turn:
    """What happens in a game at once: moves, its end, or both; `before` is the number of moves made by then.

    `game` is the game after it. `submission` is what a counted game becomes at its end.
    """

    before: int
    game: GameRow
    moves: Sequence[GameMoveRow] = ()
    submission: NewSubmission | None = None


NAMES = tuple(each.name for each in fields(GameRow))
MOVE_NAMES = tuple(each.name for each in fields(GameMoveRow))
PROGRESS = ("moves", "since", "used_ms", "deadline", "ended", "ending", "winner", "submission_id")
INSERT_GAME, INSERT_MOVE = insert(GameRow), insert(GameMoveRow)
IS_PLAYING = GameRow.ended.is_(None)
# Ended practice games that one owner keeps in a contest, as many as a list shows: beginning games fills no disk.
MOST_ENDED = 1000


def start(connection: Connection, new: NewGame) -> usage.LimitReached | None:
    """Insert a game with the moves made at once; returns why a limit refuses it, if one does."""
    game = new.game
    locks.lock_names(connection, _locks(new))  # of two starts at once, one counts the other's game
    if (refused := _refused(connection, new)) is not None:
        return refused
    connection.execute(INSERT_GAME, _values(game, NAMES))
    _insert_moves(connection, new.moves)
    if not game.counted:
        connection.execute(_oldest(game.contest_id, game.owner))
    return None


def _locks(new: NewGame) -> list[str]:
    """The names of the locks under which games and attempts are counted; those of attempts as submissions have them."""
    game = new.game
    names = [f"games of {game.owner}"]
    return [*names, f"{game.contest_id}/{game.team_id or ''}/{game.problem_id}"] if limited(new.limits) else names


def _oldest(contest_id: str, owner: str) -> Delete:
    """A deletion of ended practice games of an owner in a contest, all but the latest MOST_ENDED."""
    is_old = (GameRow.contest_id == contest_id, GameRow.owner == owner, ~IS_PLAYING, GameRow.counted.is_(False))
    old = select(GameRow.id).where(*is_old).order_by(GameRow.started.desc(), GameRow.id).offset(MOST_ENDED)
    return delete(GameRow).where(GameRow.id.in_(old))


def store(connection: Connection, turn: Turn) -> tuple[GameRow, Accepted | None] | None:
    """Insert moves in one transaction (guarantee 1); returns the game, and the submission that it has become.

    None, and nothing is changed, where the game has gone on, has ended or is gone.
    """
    # The lock makes a second turn wait and then find another number: both were made of the same position.
    query = select(GameRow.moves).where(GameRow.id == turn.game.id, IS_PLAYING).with_for_update()
    if connection.scalar(query) != turn.before:
        return None
    game, became = turn.game, None
    if turn.submission is not None:
        (result,) = accept(connection, [turn.submission])
        if isinstance(result, Accepted):
            became, game = result, replace(game, submission_id=result.submission_id)
    _insert_moves(connection, turn.moves)
    connection.execute(update(GameRow).where(GameRow.id == game.id).values(_values(game, PROGRESS)))
    return game, became


def _refused(connection: Connection, new: NewGame) -> usage.LimitReached | None:
    """Say why a game may not be started."""
    playing = select(func.count()).select_from(GameRow).where(IS_PLAYING)
    open_ = connection.scalar(playing.where(GameRow.owner == new.game.owner)) or 0
    if open_ >= new.most_open:
        return usage.LimitReached(
            Message(
                N_("expected at most %(most)s games open at once, found %(found)s: end one first"),
                most=new.most_open,
                found=open_,
            ),
            None,
        )
    if (connection.scalar(playing) or 0) >= new.most_playing:
        again = new.game.started
        return usage.LimitReached(Message(N_("the server has as many games open as it may: come back later")), again)
    if not limited(new.limits):
        return None
    game = new.game
    place = (game.contest_id, game.team_id or "", game.problem_id)
    times = [
        *usage.counted_times(connection, *place, times_needed(new.limits)),
        *connection.scalars(select(GameRow.started).where(IS_PLAYING, *_counted_at(place))),
    ]
    used = quota(new.limits, times, game.started)
    if used.allows(game.started):
        return None
    return usage.LimitReached(usage.why_not(new.limits, used, game.started), None if used.exhausted else used.next)


def _counted_at(place: tuple[str, str, str]) -> tuple[ColumnElement[bool], ...]:
    contest_id, team_id, problem_id = place
    of_team = GameRow.team_id == team_id
    return GameRow.counted.is_(True), GameRow.contest_id == contest_id, of_team, GameRow.problem_id == problem_id


def open_starts(session: Session, contest_id: str, team_id: str, problem_id: str) -> list[datetime]:
    """When the counted games began that a team has open at a problem: each is an attempt already."""
    query = select(GameRow.started).where(IS_PLAYING, *_counted_at((contest_id, team_id, problem_id)))
    return list(session.scalars(query))


def _insert_moves(connection: Connection, moves: Sequence[GameMoveRow]) -> None:
    if moves:
        connection.execute(INSERT_MOVE, [_values(move, MOVE_NAMES) for move in moves])


def _values(row: GameRow | GameMoveRow, names: Sequence[str]) -> dict[str, object]:
    return {name: getattr(row, name) for name in names}


def _games(session: Session, query: Select[GameRow]) -> list[GameRow]:
    """Games as values, which neither a rollback nor another read changes."""
    rows = list(session.scalars(query))
    for row in rows:
        session.expunge(row)
    return rows


def get(session: Session, game_id: str) -> GameRow | None:
    """A game by its id."""
    return next(iter(_games(session, select(GameRow).where(GameRow.id == game_id))), None)


def moves_of(session: Session, game_ids: Iterable[str]) -> dict[str, list[GameMoveRow]]:
    """The moves of many games in order, by game."""
    made: dict[str, list[GameMoveRow]] = {game_id: [] for game_id in game_ids}
    for some in by_id.portions(made):
        query = select(GameMoveRow).where(GameMoveRow.game_id.in_(some))
        for move in session.scalars(query.order_by(GameMoveRow.game_id, GameMoveRow.number)):
            session.expunge(move)
            made[move.game_id].append(move)
    return made


def of_contest(
    session: Session,
    contest_id: str,
    *,
    owners: Collection[str] | None = None,
    problem_id: str | None = None,
    limit: int | None = None,
) -> list[GameRow]:
    """The games of a contest, the latest first; those of owners or a problem."""
    query = select(GameRow).where(GameRow.contest_id == contest_id)
    if problem_id is not None:
        query = query.where(GameRow.problem_id == problem_id)
    if owners is not None:
        query = query.where(GameRow.owner.in_(owners))
    query = query.order_by(GameRow.started.desc(), GameRow.id).limit(limit)
    return _games(session, query)


def due(session: Session, now: datetime, limit: int) -> list[GameRow]:
    """Games in play whose deadline has come, those that are due longest first."""
    query = select(GameRow).where(IS_PLAYING, GameRow.deadline <= now).order_by(GameRow.deadline).limit(limit)
    return _games(session, query)


def count_playing(session: Session, contest_id: str, team_id: str | None = None) -> int:
    """The number of counted games in play, of all teams or of one."""
    of_team = () if team_id is None else (GameRow.team_id == team_id,)
    conditions = (IS_PLAYING, GameRow.counted.is_(True), GameRow.contest_id == contest_id, *of_team)
    return by_id.count(session, GameRow, *conditions)


def counted_playing(session: Session) -> list[GameRow]:
    """Counted games in play, of all contests."""
    return _games(session, select(GameRow).where(IS_PLAYING, GameRow.counted.is_(True)))


def remove_old(session: Session, before: datetime) -> int:
    """Remove practice games of no one that ended before a moment; returns how many."""
    is_old = GameRow.ended < before
    result = session.execute(delete(GameRow).where(is_old, GameRow.account_id.is_(None)))
    return int(getattr(result, "rowcount", 0))


def submission_ids(session: Session, games: Sequence[GameRow]) -> dict[str, str]:
    """The ids that submissions are shown by, of games that have become one, by game."""
    became = {game.submission_id: game.id for game in games if game.submission_id is not None}
    shown = submission_queries.shown_ids(session, became)
    return {became[number]: shown_id for number, shown_id in shown.items()}

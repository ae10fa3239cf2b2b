"""Games against the judge, and their moves."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, MappedAsDataclass, mapped_column

from app.core.db.tables import ID, SLUG, Base

PLAYING = text("ended IS NULL")


class GameRow(MappedAsDataclass, Base):
    """A game against the judge; a `counted` one becomes a submission of its team when it ends.

    Queries return it detached, as a value: `dataclasses.replace` makes the game after a turn.

    owner     who may play it: `team:ID`, `account:ID`, or `address:ADDRESS` of a practice game without login
    game      the rules; `instance` is the start, `side` the contestant's (0 or 1), `seed` the opponent's
    move_ms   the time for a move, and `game_ms` for all moves of the contestant; null: any
    moves     the number of moves made; `used_ms` the time that the contestant took for theirs
    since     when the contestant's time began to run; `deadline` when someone has to look whether it is over
    ending    played, resigned, clock, contest or moves: why it ended; `winner` is a side, null for a draw
    """

    __tablename__ = "games"
    __table_args__ = (
        Index("ix_games_playing", "deadline", sqlite_where=PLAYING, postgresql_where=PLAYING),
        Index("ix_games_playing_owner", "owner", sqlite_where=PLAYING, postgresql_where=PLAYING),
        Index("ix_games_contest_id_owner", "contest_id", "owner"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"))
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"))
    test_case_id: Mapped[int | None] = mapped_column(ForeignKey("test_cases.id", ondelete="SET NULL"))
    case_name: Mapped[str | None] = mapped_column(SLUG)
    team_id: Mapped[str | None] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    owner: Mapped[str] = mapped_column(String(80))
    counted: Mapped[bool]
    game: Mapped[str] = mapped_column(String(64))
    instance: Mapped[str] = mapped_column(Text)
    opponent: Mapped[str] = mapped_column(String(64))
    seed: Mapped[int] = mapped_column(BigInteger)
    side: Mapped[int]
    started: Mapped[datetime]
    move_ms: Mapped[int | None] = mapped_column(BigInteger)
    game_ms: Mapped[int | None] = mapped_column(BigInteger)
    moves: Mapped[int]
    since: Mapped[datetime]
    used_ms: Mapped[int] = mapped_column(BigInteger)
    deadline: Mapped[datetime]
    ended: Mapped[datetime | None] = mapped_column(default=None)
    ending: Mapped[str | None] = mapped_column(String(10), default=None)
    winner: Mapped[int | None] = mapped_column(default=None)
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id", ondelete="SET NULL"), default=None)


class GameMoveRow(MappedAsDataclass, Base):
    """A move of a game, numbered from 1 over both sides; `ms` is the time that it took."""

    __tablename__ = "game_moves"

    game_id: Mapped[str] = mapped_column(ForeignKey("games.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    side: Mapped[int]
    move: Mapped[str] = mapped_column(Text)
    ms: Mapped[int] = mapped_column(BigInteger)
    time: Mapped[datetime]

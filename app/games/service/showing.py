"""Documents of games: what is sent to start and to play one, and how one is shown, to whom."""

from collections.abc import Mapping
from typing import Any, Literal, cast

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.core import bodies, clics
from app.core.clock import utc_now
from app.core.messages import N_, NotFound
from app.domain.contests import Clock
from app.games import queries as games_queries
from app.games.service.referee import MOST_MOVES, Ending, Table, due
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import GameRow
from games.catalog import games
from games.doors import FIRST, SECOND, Side
from games.transcript import End, Reason, Transcript, loser_end, write
from games.transcript import Move as TranscriptMove

MOST_SEED = 2**63 - 1  # what a column of 64 bits has
MOST_NUMBER = 2**31 - 1
Player = Literal["you", "opponent"]
# Numbers of JavaScript are exact up to here.
LARGEST_EXACT = 2**53
MOST_LISTED = 1000
# How a transcript tells the ends that the rules of a game do not know.
ENDS: Mapping[str, tuple[Reason, str]] = {
    "resigned": ("resigned", ""),
    "clock": ("late", "the time ran out"),
    "contest": ("late", "the contest ended"),
    "moves": ("late", f"a game has at most {MOST_MOVES} moves"),
}


@clics.example({"parameters": {"a": 2, "b": 4, "k": 2}, "opponent": "optimal", "seed": 1})
class StartBody(bodies.Body):
    """A game to start: from a test case's position, or for practice from one by its parameters.

    A team's game from a test case of a problem that is played counts, unless it is for `practice`: then the case names
    the opponent, and the judge chooses the seed and shows it when the game has ended.
    """

    testcase: bodies.Line | None = None
    parameters: dict[str, Any] | None = Field(
        None, description="the position, as the game's `position` is shown; numbers beyond 2^53 may be strings"
    )
    opponent: bodies.Line | None = Field(None, description="its name; left out: that of the test case, or `optimal`")
    seed: int | None = Field(None, ge=0, le=MOST_SEED, description="of the opponent, in practice; left out: any")
    side: Literal[0, 1] | None = Field(
        None, description="the side to play, in practice; left out: the test case's, or the game's own choice"
    )
    practice: bool = Field(False, description="true: the game does not count; false: it counts if it can")


@clics.example({"number": 1, "move": "1 0"})
class MoveBody(bodies.Body):
    """A move, with its number in the game: posted again, it is the same move and gets the same reply."""

    number: int = Field(ge=1, le=MOST_NUMBER, description="`next_move` of the game, counted over both sides")
    move: bodies.Line = Field(description="as the rules of the game write it")


class MadeMove(BaseModel):
    """A move that was made, and the time that it took."""

    number: int
    by: Player
    move: str
    seconds: float


class GameClock(BaseModel):
    """The contestant's time: for a move, for all moves, and the time used; null: no limit.

    `deadline` is when the game is lost if no move comes; null where it has ended or its contest is paused.
    """

    move_seconds: float | None
    game_seconds: float | None
    used_seconds: float
    deadline: str | None


class GameFacts(BaseModel):
    """A game as lists and its own view show it."""

    id: str
    problem_id: str
    testcase: str | None
    team_id: str | None
    counted: bool = Field(description="whether it becomes a submission when it ends")
    game: str = Field(description="the rules that it is played by")
    opponent: str
    over: bool
    winner: Player | None = Field(description="null while it is played, and for a draw")
    ending: Ending | None = Field(
        description="why it ended: by the rules, resigned, out of time, cut by the contest, or too long"
    )
    started: str
    ended: str | None
    submission_id: str | None = Field(description="what a counted game has become")


@clics.example(
    {
        "id": "5f0c1d9b2a7e4c3d8b6f1a20",
        "contest_id": "practice",
        "problem_id": "lasttreat",
        "testcase": None,
        "team_id": None,
        "counted": False,
        "game": "lasttreat",
        "opponent": "optimal",
        "seed": 1,
        "side": 0,
        "position": {"a": 1, "b": 3, "k": 2},
        "turn": "you",
        "next_move": 3,
        "over": False,
        "winner": None,
        "ending": None,
        "moves": [
            {"number": 1, "by": "you", "move": "1 0", "seconds": 2.5},
            {"number": 2, "by": "opponent", "move": "0 1", "seconds": 0.0},
        ],
        "legal": ["0 1", "0 2", "1 0", "1 1"],
        "rule": "x y: 1 to 2 from one pile, or the same from both",
        "clock": {"move_seconds": None, "game_seconds": None, "used_seconds": 2.5, "deadline": clics.EXAMPLES_TIME},
        "started": clics.EXAMPLES_TIME,
        "ended": None,
        "submission_id": None,
    }
)
class GameView(GameFacts):
    """A game as its player sees it; numbers beyond 2^53 are written as strings."""

    contest_id: str
    seed: int | str | None = Field(description="null in a counted game that has not ended")
    side: int = Field(description="the contestant's: 0 or 1")
    position: dict[str, Any]
    turn: Player | None = Field(description="who moves next; null when it has ended")
    next_move: int = Field(description="the number of the next move")
    moves: list[MadeMove]
    legal: list[str] | None = Field(description="the moves that are legal now, where they are few")
    rule: str | None = Field(description="the rule of what is legal, as a sentence")
    clock: GameClock


class GameSummary(GameFacts):
    """A game in a list: without its position, and with the number of its moves."""

    moves: int


def may_play(viewer: Viewer, game: GameRow) -> bool:
    """Whether the viewer may move: the team of a counted game, the account that started one for practice.

    A practice game that was started without login is known by its id alone, which no one can guess.
    """
    if game.counted:
        team_id = viewer.at(game.contest_id).team_id
        return team_id is not None and team_id == game.team_id
    return game.account_id is None or viewer.account_id == game.account_id


def visible(viewer: Viewer, game: GameRow | None, game_id: str) -> GameRow:
    """The game, if the viewer may see it; raises NotFound."""
    if game is None or not (viewer.at(game.contest_id).sees_all or may_play(viewer, game)):
        raise NotFound(N_("no game %(game)r"), game=game_id)
    return game


def view(table: Table, submission_id: str | None = None, clock: Clock | None = None) -> GameView:
    """A game as its player sees it.

    `clock` is that of the contestant's contest, where the game is bound to it.
    """
    game, rules = table.game, games()[table.game.game]
    legal = None if table.over else rules.legal(table.position)
    to_move = None if table.over else rules.to_move(table.position)
    return GameView(
        **dict(_facts(game, submission_id)),
        contest_id=game.contest_id,
        seed=None if game.counted and not table.over else _number(game.seed),
        side=game.side,
        position=rules.render(table.position),
        turn=None if to_move is None else _player(game, to_move),
        next_move=len(table.moves) + 1,
        moves=[
            MadeMove(number=each.number, by=_player(game, each.side), move=each.move, seconds=each.ms / 1000)
            for each in table.moves
        ],
        legal=None if legal is None or legal.moves is None else list(legal.moves),
        rule=None if legal is None else legal.rule,
        clock=clock_of(game, clock),
    )


def _facts(game: GameRow, submission_id: str | None) -> GameFacts:
    return GameFacts(
        id=game.id,
        problem_id=game.problem_id,
        testcase=game.case_name,
        team_id=game.team_id,
        counted=game.counted,
        game=game.game,
        opponent=game.opponent,
        over=game.ended is not None,
        winner=None if game.ended is None or game.winner is None else _player(game, game.winner),
        ending=cast(Ending | None, game.ending),
        started=clics.format_time(game.started),
        ended=clics.format_time_or_none(game.ended),
        submission_id=submission_id,
    )


def clock_of(game: GameRow, clock: Clock | None) -> GameClock:
    """The contestant's clock; the deadline is unknown while the contest is paused."""
    is_running = game.ended is None and not (clock is not None and clock.paused(utc_now()))
    return GameClock(
        move_seconds=None if game.move_ms is None else game.move_ms / 1000,
        game_seconds=None if game.game_ms is None else game.game_ms / 1000,
        used_seconds=game.used_ms / 1000,
        deadline=clics.format_time(due(game, clock)[0]) if is_running else None,
    )


def _player(game: GameRow, side: int) -> Player:
    """The player of a side, as the contestant sees it."""
    return "you" if side == game.side else "opponent"


def _number(value: int) -> int | str:
    return str(value) if abs(value) > LARGEST_EXACT else value


def transcript(table: Table) -> str:
    """The transcript of a game, as it stands."""
    game = table.game
    moves = tuple(TranscriptMove(_side(each.side), each.move, each.ms / 1000) for each in table.moves)
    return write(Transcript(game.game, game.instance, _side(game.side), game.opponent, game.seed, moves, _end(game)))


def _end(game: GameRow) -> End | None:
    if game.ended is None:
        return None
    if game.ending == "played":
        return End("over", None if game.winner is None else _side(game.winner))
    reason, text = ENDS[game.ending or ""]
    return loser_end(reason, _side(game.side), text)


def _side(side: int) -> Side:
    return SECOND if side else FIRST


def listed(
    session: Session,
    viewer: Viewer,
    snapshot: ContestSnapshot,
    *,
    problem_id: str | None = None,
) -> list[GameSummary]:
    """The games of a contest, the latest first: all for judges, for others those they may play."""
    rows = games_queries.of_contest(
        session,
        snapshot.contest.id,
        owners=None if viewer.sees_all else owners(viewer),
        problem_id=problem_id,
        limit=MOST_LISTED,
    )
    shown = games_queries.submission_ids(session, rows)
    return [GameSummary(**dict(_facts(game, shown.get(game.id))), moves=game.moves) for game in rows]


def owners(viewer: Viewer) -> list[str]:
    """The owners that a viewer's games have; none for a viewer without login."""
    teams = [] if viewer.team_id is None else [f"team:{viewer.team_id}"]
    return teams + ([] if viewer.account_id is None else [f"account:{viewer.account_id}"])

"""Documents of games: what is sent to start and to play one, and how one is shown."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from app.core.bodies import Body, Line
from app.core.clics import EXAMPLES_TIME, example

MOST_SEED = 2**63 - 1
MOST_NUMBER = 2**31 - 1
Player = Literal["you", "opponent"]


@example({"parameters": {"a": 2, "b": 4, "k": 2}, "opponent": "optimal", "seed": 1})
class StartBody(Body):
    """A game to start: from a test case's position, or for practice from one by its parameters.

    A team's game from a test case of a problem that is played counts, unless it is for `practice`: then the case names
    the opponent, and the judge chooses the seed and shows it when the game has ended.
    """

    testcase: Line | None = None
    parameters: dict[str, Any] | None = Field(
        None, description="the position, as the game's `position` is shown; numbers beyond 2^53 may be strings"
    )
    opponent: Line | None = Field(None, description="its name; left out: that of the test case, or `optimal`")
    seed: int | None = Field(None, ge=0, le=MOST_SEED, description="of the opponent, in practice; left out: any")
    side: Literal[0, 1] | None = Field(
        None, description="the side to play, in practice; left out: the test case's, or the game's own choice"
    )
    practice: bool | None = Field(None, description="true: the game does not count; left out: it counts if it can")


@example({"number": 1, "move": "1 0"})
class MoveBody(Body):
    """A move, with its number in the game: posted again, it is the same move and gets the same reply."""

    number: int = Field(ge=1, le=MOST_NUMBER, description="`next_move` of the game, counted over both sides")
    move: Line = Field(description="as the rules of the game write it")


class MadeMove(BaseModel):
    """A move that was made, and the time that it took."""

    number: int
    by: Player
    move: str
    seconds: float


class GameClock(BaseModel):
    """The contestant's time: for a move, for all moves, and what is used of that; null: no limit.

    `deadline` is when the game is lost if no move comes; null where it has ended or its contest is paused.
    """

    move_seconds: float | None
    game_seconds: float | None
    used_seconds: float
    deadline: str | None


@example(
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
        "clock": {"move_seconds": None, "game_seconds": None, "used_seconds": 2.5, "deadline": EXAMPLES_TIME},
        "started": EXAMPLES_TIME,
        "ended": None,
        "submission_id": None,
    }
)
class GameView(BaseModel):
    """A game as its player sees it; numbers beyond 2^53 are written as strings."""

    id: str
    contest_id: str
    problem_id: str
    testcase: str | None
    team_id: str | None
    counted: bool = Field(description="whether it becomes a submission when it ends")
    game: str = Field(description="the rules that it is played by")
    opponent: str
    seed: int | str | None = Field(description="null in a counted game that has not ended")
    side: int = Field(description="the contestant's: 0 or 1")
    position: dict[str, Any]
    turn: Player | None = Field(description="who moves next; null when it has ended")
    next_move: int = Field(description="the number of the next move")
    over: bool
    winner: Player | None = Field(description="null while it is played, and for a draw")
    ending: Literal["played", "resigned", "clock", "contest", "moves"] | None = Field(
        description="why it ended: by the rules, resigned, out of time, cut by the contest, or too long"
    )
    moves: list[MadeMove]
    legal: list[str] | None = Field(description="the moves that are legal now, where they are few")
    rule: str | None = Field(description="the rule of what is legal, as a sentence")
    clock: GameClock
    started: str
    ended: str | None
    submission_id: str | None = Field(description="what a counted game has become")


class GameSummary(BaseModel):
    """A game in a list: without its position and its moves."""

    id: str
    problem_id: str
    testcase: str | None
    team_id: str | None
    counted: bool
    game: str
    opponent: str
    moves: int
    over: bool
    winner: Player | None
    ending: str | None
    started: str
    ended: str | None
    submission_id: str | None

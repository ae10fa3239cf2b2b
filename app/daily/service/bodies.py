"""Documents of the puzzles of the day."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.core.examples import example
from app.daily.service.puzzles import Day, Puzzle

PUZZLE = {
    "kind": "netgame",
    "size": "small",
    "instance": "4\n0 0 1 0\n0 0 0 1\n1 0 1 1\n0 1 1 1\n",
    "x": None,
    "y": None,
    "z": 1,
    "answer": None,
}


@example(PUZZLE)
class DailyPuzzle(BaseModel):
    """A puzzle of a day: an input of its kind's problem, and the levels to reach."""

    kind: str = Field(description="optimiza, comesolo or netgame")
    size: str = Field(description="small, medium or large")
    instance: str = Field(description="the input, in the form of the kind's problem")
    x: int | None = Field(description="what a careless player collects; null where a puzzle is won or lost")
    y: int | None = Field(description="what a good player collects; null where a puzzle is won or lost")
    z: int = Field(description="the proven maximum")
    answer: str | None = Field(description="a best answer, in the form of the problem; null until the day is over")


@example({"date": "2026-11-22", "past": False, "puzzles": [PUZZLE]})
class DailyPuzzles(BaseModel):
    """All puzzles of a day; a day begins at 00:00 UTC."""

    date: str
    past: bool = Field(description="the day is over: its puzzles have their answers")
    puzzles: list[DailyPuzzle]


@example({"cut": 3})
class Reply(BaseModel):
    """The other player's cut in a net of the day; null: nothing is left to cut, and the player who asked has won."""

    cut: int | None


def day_view(day: Day) -> DailyPuzzles:
    """Show a day; its answers only once it is over."""
    return DailyPuzzles(
        date=day.date.isoformat(), past=day.past, puzzles=[puzzle_view(day, puzzle) for puzzle in day.puzzles]
    )


def puzzle_view(day: Day, puzzle: Puzzle) -> DailyPuzzle:
    """Show a puzzle; its answer only once the day is over."""
    return DailyPuzzle(
        kind=puzzle.kind,
        size=puzzle.size,
        instance=puzzle.instance,
        x=puzzle.x,
        y=puzzle.y,
        z=puzzle.z,
        answer=puzzle.answer if day.past else None,
    )

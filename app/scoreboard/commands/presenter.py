"""A frozen board opened before an audience: one key a step, on a terminal.

- `jurado admin contest reveal`: open a frozen board from the bottom up.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text

from app.core.commands.client import Client
from app.core.commands.lookup import board_table, team_names
from app.core.commands.output import Failure, JsonMapping, console, report
from app.core.commands.registry import AsJson, ContestId, command

FORWARD = frozenset({" ", "\r", "\n", "\x1b[C", "\x1bOC"})
BACK = frozenset({"\x7f", "\x08", "\x1b[D", "\x1bOD"})
QUIT = frozenset({"q", "Q", "\x03", "\x04"})
KEYS = "space, enter or →: next    ← or backspace: look back    q: quit"
LINES_AROUND_THE_ROWS = 10
ESCAPE = "\x1b"
MOST_BYTES = 32


@dataclass(frozen=True, slots=True)
class Frame:
    """The public board after a step, and the step: what it opened and what comes next."""

    board: JsonMapping
    step: JsonMapping


class Presenter:
    """Opens place by place. Opened places stay open: going back shows earlier boards, and closes nothing."""

    def __init__(self, client: Client, contest: str, step: str, names: Mapping[str, str]) -> None:
        self._client, self._contest, self._step, self._names = client, contest, step, names
        self._frames = [self._frame(client.get(f"contests/{contest}/reveal"))]
        self._at = 0
        self._note = ""

    @property
    def last(self) -> JsonMapping:
        """Give the last step that was taken."""
        return self._frames[-1].step

    def press(self, key: str) -> bool:
        """Do what a key asks for; returns False to quit."""
        self._note = ""
        if key in QUIT:
            return False
        if key in FORWARD:
            self._forward()
        elif key in BACK:
            self._at = max(self._at - 1, 0)
        return True

    def _forward(self) -> None:
        if self._at < len(self._frames) - 1:
            self._at += 1
            return
        if self.last["next"] is None and self.last["thawed"]:
            return
        try:
            step = self._client.post(f"contests/{self._contest}/reveal", {"step": self._step})
            self._frames.append(self._frame(step))
        except Failure as refused:  # such as submissions that wait for their verdict: the next key tries again
            self._note = str(refused)
            return
        self._at += 1

    def _frame(self, step: JsonMapping) -> Frame:
        return Frame(self._client.get(f"contests/{self._contest}/scoreboard", public="true"), step)

    def drawn(self, height: int) -> RenderableType:
        """Draw the board of the present step: as many rows as fit, around the next place."""
        frame = self._frames[self._at]
        before = self._frames[self._at - 1].board if self._at else frame.board
        ranks = {row["team_id"]: row["rank"] for row in before["rows"]}
        moves = {row["team_id"]: ranks.get(row["team_id"], row["rank"]) - row["rank"] for row in frame.board["rows"]}
        opened = {each["team_id"] for each in frame.step["opened"]}
        upcoming = frame.step["next"]["team_id"] if frame.step["next"] else None
        names = {
            row["team_id"]: f"{mark(row['team_id'], opened, upcoming)} {self._name(row['team_id'])}"
            for row in frame.board["rows"]
        }
        board: JsonMapping = {**frame.board, "rows": rows_around(frame.board["rows"], upcoming, opened, height)}
        return Group(*board_table(self._contest, board, names, moves=moves), *self._lines(frame))

    def _lines(self, frame: Frame) -> list[Text]:
        lines = [f"opened: {self._name(each['team_id'])}, {each['problem_id']}" for each in frame.step["opened"]]
        if (following := frame.step["next"]) is not None:
            problems = ", ".join(following["problem_ids"])
            lines.append(f"▶ next: {self._name(following['team_id'])}: {problems} ({frame.step['left']} left)")
        else:
            lines.append("everything is open" if frame.step["thawed"] else "nothing is hidden")
        if self._at < len(self._frames) - 1:
            lines.append("looking back: what has been opened stays open")
        return [Text(line) for line in [*lines, *([self._note] if self._note else []), KEYS]]

    def _name(self, team_id: str) -> str:
        return self._names.get(team_id, team_id)


def mark(team_id: str, opened: set[str], upcoming: str | None) -> str:
    """Mark the team that was opened and the one that comes next."""
    return "▶" if team_id == upcoming else "*" if team_id in opened else " "


def rows_around(rows: Sequence[JsonMapping], upcoming: str | None, opened: set[str], height: int) -> list[JsonMapping]:
    """Choose as many rows as fit on the screen, around the place next or last opened; the top without either."""
    most = max(3, height - LINES_AROUND_THE_ROWS)
    wanted = [at for at, row in enumerate(rows) if row["team_id"] == upcoming]
    wanted = wanted or [at for at, row in enumerate(rows) if row["team_id"] in opened]
    begin = max(0, min((wanted or [0])[0] - most // 2, len(rows) - most))
    return list(rows[begin : begin + most])


def present(client: Client, contest: str, step: str, names: Mapping[str, str]) -> JsonMapping:
    """Open a board key by key until q; returns the last step. Raises Failure where there is no terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure("--present: expected a terminal, found a file or a program")
    presenter = Presenter(client, contest, step, names)
    with keys_of(sys.stdin.fileno()) as next_key:
        play(presenter, console(), next_key)
    return presenter.last


def play(presenter: Presenter, to: Console, next_key: Callable[[], str]) -> None:
    """Draw and wait for a key, by turns, until one quits."""
    with to.screen(hide_cursor=True) as screen:
        while True:
            screen.update(presenter.drawn(to.height))
            if not presenter.press(next_key()):
                return


@contextmanager
def keys_of(terminal: int) -> Iterator[Callable[[], str]]:
    """While inside, give a function that reads the next key of a terminal, unechoed.

    The mode stays between keys: a terminal that changes for each key drops those pressed while a board is drawn.
    """
    import termios  # missing on Windows, where the other commands work
    import tty

    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)
    try:
        yield lambda: read_key(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def read_key(terminal: int) -> str:
    """Read one key. Of several pressed at once only the first counts: a step too many cannot be taken back."""
    try:
        keys = os.read(terminal, MOST_BYTES).decode(errors="replace")
    except KeyboardInterrupt:
        return "q"
    return keys if keys.startswith(ESCAPE) else keys[:1] or "q"


class Step(StrEnum):
    """A part of a frozen board that is opened at once."""

    CELL = "cell"
    ROW = "row"
    ALL = "all"


@command("admin contest reveal")
def reveal(
    contest_id: ContestId,
    step: Annotated[Step, typer.Option(help="the next problem, the next team's problems, or everything")] = Step.CELL,
    presenting: Annotated[
        bool, typer.Option("--present", help="before an audience: one key a step (space next, ← look back, q quit)")
    ] = False,
    only_next: Annotated[bool, typer.Option("--next", help="open nothing, show what comes next")] = False,
    as_json: AsJson = False,
) -> None:
    """Open a frozen board from the bottom up, after the end; with the last place it is thawed.

    Examples:
      jurado admin contest reveal finals
      jurado admin contest reveal finals --step row
      jurado admin contest reveal finals --step all --json
      jurado admin contest reveal finals --next
      jurado admin contest reveal finals --present
    """
    path = f"contests/{contest_id}/reveal"
    if presenting and (only_next or as_json):
        raise Failure("expected --present, --next or --json, found two of them")
    with Client.open() as client:
        if presenting:
            names = team_names(client, contest_id)
            last = present(client, contest_id, step.value, names)
            typer.echo("\n".join(revealed_lines({**last, "opened": []}, names)))
            return
        revealed = client.get(path) if only_next else client.post(path, {"step": step.value})
        names = {} if as_json else team_names(client, contest_id)
    report("\n".join(revealed_lines(revealed, names)), revealed, as_json=as_json)


def revealed_lines(revealed: JsonMapping, names: Mapping[str, str]) -> list[str]:
    """Say which places were opened, and which comes next."""
    lines = [
        f"opened: {names.get(place['team_id'], place['team_id'])}, {place['problem_id']}"
        for place in revealed["opened"]
    ]
    if (following := revealed["next"]) is not None:
        team, rank = following["team_id"], following["rank"]
        problems = ", ".join(following["problem_ids"])
        left = "1 place" if revealed["left"] == 1 else f"{revealed['left']} places"
        standing = "not on the board" if rank is None else f"rank {rank} by now"
        lines.append(f"next: {names.get(team, team)}, {standing}: {problems} ({left} left)")
    elif revealed["thawed"]:
        lines.append("everything is open: the board is thawed")
    else:
        lines.append("nothing is hidden")
    return lines

"""`jurado scoreboard`: the board, once, live, or for spreadsheets.

A live board asks again every second, which costs the server little while nothing changes.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from app.core.commands import lookup, output, registry
from app.core.commands.client import Client

SECONDS_BETWEEN_BOARDS = 1.0
REDRAWS_PER_SECOND = 2
SECONDS_MARKED = 20.0
SECONDS_BETWEEN_FACTS = 10.0
NOT_MODIFIED = 304


def follow_board(client: Client, contest: str, names: Mapping[str, str], *, cases: bool, as_json: bool) -> None:
    """Draw the board again whenever it changes, until Ctrl-C; as JSON, a line for each change."""
    with suppress(KeyboardInterrupt):
        if as_json:
            for board in boards(client, contest, cases=cases):
                output.write_json(board)
            return
        drawing = LiveBoard(contest, partial(lookup.facts_of, client, contest), names, cases=cases, clock=client.now)
        to = output.console()
        with Live(drawing, console=to, auto_refresh=to.is_terminal, refresh_per_second=REDRAWS_PER_SECOND) as canvas:
            for board in boards(client, contest, cases=cases):
                drawing.change(board)
                canvas.refresh()


def boards(client: Client, contest: str, *, cases: bool) -> Iterator[output.JsonMapping]:
    """Yield the board now, and again whenever its ETag has changed, without end."""
    tag = ""
    while True:
        headers = {"If-None-Match": tag} if tag else {}
        params = {"cases": cases or None}
        reply = client.request("GET", f"/api/contests/{contest}/scoreboard", params=params, headers=headers)
        if reply.status_code != NOT_MODIFIED:
            tag = reply.headers.get("etag", "")
            yield client.body(reply)
        time.sleep(SECONDS_BETWEEN_BOARDS)


class LiveBoard:
    """Draws the board with who has moved, how much time is left, and whether it is frozen.

    `look` reads the contest's times; drawing does so again now and then, as a pause changes no board.
    """

    def __init__(
        self,
        contest: str,
        look: Callable[[], output.JsonMapping],
        names: Mapping[str, str],
        *,
        cases: bool,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timer = timer
        self._contest = contest
        self._clock = clock
        self._look = look
        self._facts, self._looked = look(), timer()
        self._names = names
        self._cases = cases
        self._board: output.JsonMapping | None = None
        self._moves: dict[str, tuple[int, float]] = {}

    def change(self, board: output.JsonMapping) -> None:
        """Draw this board from now on; teams that have moved are marked for a while."""
        before = {row["team_id"]: row["rank"] for row in self._board["rows"]} if self._board else {}
        for row in board["rows"]:
            if risen := before.get(row["team_id"], row["rank"]) - row["rank"]:
                self._moves[row["team_id"]] = risen, self._timer()
        self._board = board

    def __rich__(self) -> RenderableType:
        """Draw the board as it is now."""
        if self._board is None:
            return Text("waiting for the board")
        if self._timer() > self._looked + SECONDS_BETWEEN_FACTS:
            with suppress(output.Failure):  # the next board reports it, if the server has gone
                self._facts, self._looked = self._look(), self._timer()
        facts: output.JsonMapping = {**self._facts, "state": self._board["state"]}
        now = self._clock()
        parts: list[RenderableType] = [Text(lookup.clock_words(facts, now), style="bold")]
        if banner := frozen_banner(self._board["state"], self._facts):
            parts.append(Text(banner, style="bold reverse"))
        since = self._timer() - SECONDS_MARKED
        moves = {team: risen for team, (risen, moment) in self._moves.items() if moment > since}
        gone = lookup.contest_time(facts, now)
        tables = lookup.board_table(self._contest, self._board, self._names, cases=self._cases, moves=moves, now=gone)
        return Group(*parts, *tables)


def frozen_banner(state: output.JsonMapping, facts: output.JsonMapping) -> str:
    """Say that a board is frozen and what it hides; empty if it is not."""
    if not state.get("frozen") or state.get("thawed"):
        return ""
    before = facts["scoreboard_freeze_duration"]
    when = f" for the last {lookup.short_time(before)}" if before else ""
    return f" FROZEN{when}: of what was sent since, only the number is shown (+N?) "


@registry.command("scoreboard")
def scoreboard(
    contest: registry.Contest,
    live: Annotated[bool, typer.Option("--live", help="draw it again whenever it changes, until Ctrl-C")] = False,
    cases: Annotated[bool, typer.Option("--cases", help="with the raw score of every test case")] = False,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="write it for spreadsheets; - is standard output")
    ] = None,
    as_json: registry.AsJson = False,
) -> None:
    """Show the scoreboard of a contest.

    Examples:
      jurado scoreboard practice
      jurado scoreboard practice --live
      jurado scoreboard practice --cases --json
      jurado scoreboard practice --csv board.csv
    """
    with Client.open() as client:
        if csv is not None:
            write_csv(csv, client.request("GET", f"/api/contests/{contest}/scoreboard.csv").content)
            return
        if live:
            follow_board(client, contest, lookup.team_names(client, contest), cases=cases, as_json=as_json)
            return
        board = client.get(f"contests/{contest}/scoreboard", cases=cases or None)
        if as_json:
            output.write_json(board)
        elif not board["state"].get("started"):
            typer.echo(lookup.why_nothing(client, contest) or "the contest has begun just now")
        else:
            show_board(client, contest, board, cases=cases)


def show_board(client: Client, contest: str, board: output.JsonMapping, *, cases: bool) -> None:
    """Print the board at the time by the server's clock, with a banner where it is frozen."""
    facts = lookup.facts_of(client, contest)
    if banner := frozen_banner(board["state"], facts):
        typer.echo(banner.strip())
    names, now = lookup.team_names(client, contest), lookup.contest_time(facts, client.now())
    output.show(*lookup.board_table(contest, board, names, cases=cases, now=now))


def write_csv(path: Path, data: bytes) -> None:
    """Write the board to a file; `-` is standard output."""
    if str(path) == "-":
        typer.get_binary_stream("stdout").write(data)
        return
    output.write_file(path, data)
    output.say(f"{path} has been written")

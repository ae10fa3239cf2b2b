"""`jurado scoreboard`: the board, once, live, or for spreadsheets.

A live board asks again every second, which costs the server little while nothing changes.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from app.core.commands import lookup, output, registry
from app.core.commands.client import Client

SECONDS_BETWEEN_BOARDS = 1.0
NOT_MODIFIED = 304


def follow_board(client: Client, contest: str, *, cases: bool, as_json: bool) -> None:
    """Draw the board again whenever it changes, until Ctrl-C; as JSON, a line for each change."""
    with suppress(KeyboardInterrupt):
        if as_json:
            for board in boards(client, contest, cases=cases):
                output.write_json(board)
            return
        names = lookup.team_names(client, contest)
        with Live(console=output.console(), auto_refresh=False) as canvas:
            for board in boards(client, contest, cases=cases):
                canvas.update(Group(*drawn(client, contest, board, names, cases=cases)), refresh=True)


def boards(client: Client, contest: str, *, cases: bool) -> Iterator[output.JsonMapping]:
    """Yield the board now, and again whenever its ETag has changed, unlimited."""
    tag = ""
    while True:
        headers = {"If-None-Match": tag} if tag else {}
        params = {"cases": cases or None}
        reply = client.request("GET", f"/api/contests/{contest}/scoreboard", params=params, headers=headers)
        if reply.status_code != NOT_MODIFIED:
            tag = reply.headers.get("etag", "")
            yield client.body(reply)
        time.sleep(SECONDS_BETWEEN_BOARDS)


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
            follow_board(client, contest, cases=cases, as_json=as_json)
            return
        board = client.get(f"contests/{contest}/scoreboard", cases=cases or None)
        if as_json:
            output.write_json(board)
        elif not board["state"].get("started"):
            typer.echo(lookup.why_nothing(client, contest) or "the contest has begun just now")
        else:
            output.show(*drawn(client, contest, board, lookup.team_names(client, contest), cases=cases))


def drawn(
    client: Client, contest: str, board: output.JsonMapping, names: Mapping[str, str], *, cases: bool
) -> list[RenderableType]:
    """Draw the board at the time by the server's clock, with the time left, and a banner where it is frozen."""
    facts = {**lookup.facts_of(client, contest), "state": board["state"]}
    now = client.now()
    parts: list[RenderableType] = [Text(lookup.clock_words(facts, now), style="bold")]
    if banner := frozen_banner(board["state"], facts):
        parts.append(Text(banner, style="bold reverse"))
    return [*parts, *lookup.board_table(contest, board, names, cases=cases, now=lookup.contest_time(facts, now))]


def write_csv(path: Path, data: bytes) -> None:
    """Write the board to a file; `-` is standard output."""
    if str(path) == "-":
        typer.get_binary_stream("stdout").write(data)
        return
    output.write_file(path, data)
    output.say(f"{path} has been written")

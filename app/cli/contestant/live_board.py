"""The board as it changes: by server-sent events where the server has them, else by asking again and again."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from app.cli.board_tables import board_table, short_time
from app.cli.client import Client
from app.cli.contest_facts import clock_words, contest_time, facts_of
from app.cli.output import Failure, console, write_json

SECONDS_BETWEEN_BOARDS = 1.0
REDRAWS_PER_SECOND = 2
SECONDS_MARKED = 20.0
SECONDS_BETWEEN_FACTS = 10.0
SECONDS_TO_END = 1.0
NOT_MODIFIED = 304
NO_STREAM = (404, 405, 406)
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    name: str
    data: str
    id: str


def follow_board(client: Client, contest: str, names: Mapping[str, str], *, cases: bool, as_json: bool) -> None:
    """Draw the board again whenever it changes, until Ctrl-C; as JSON, a line for each change."""
    with suppress(KeyboardInterrupt):
        if as_json:
            for board in boards(client, contest, cases=cases):
                write_json(board)
            return
        shown = LiveBoard(contest, facts_of(client, contest), names, cases=cases, clock=client.now)
        to = console()
        with (
            Live(shown, console=to, auto_refresh=to.is_terminal, refresh_per_second=REDRAWS_PER_SECOND) as canvas,
            looking_again(client, contest, shown),
        ):
            for board in boards(client, contest, cases=cases):
                shown.change(board)
                canvas.refresh()


@contextmanager
def looking_again(client: Client, contest: str, shown: LiveBoard) -> Iterator[None]:
    """Look at the contest's times now and then, beside the stream: a pause changes no board."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(SECONDS_BETWEEN_FACTS):
            with suppress(Failure):  # the stream says it, if the server has gone
                shown.facts = facts_of(client, contest)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(SECONDS_TO_END)


def boards(client: Client, contest: str, *, cases: bool) -> Generator[dict[str, Any], None, None]:
    """The board now, and again whenever it has changed, without end."""
    if not cases:
        yield from streamed(client, contest)
    yield from polled(client, contest, cases=cases)


def polled(client: Client, contest: str, *, cases: bool) -> Iterator[dict[str, Any]]:
    """Ask again and again; the ETag tells whether anything has changed."""
    tag = ""
    while True:
        headers = {"If-None-Match": tag} if tag else {}
        params = {"cases": cases or None}
        reply = client.request("GET", f"/api/contests/{contest}/scoreboard", params=params, headers=headers)
        if reply.status_code != NOT_MODIFIED:
            tag = reply.headers.get("etag", "")
            yield reply.json()
        time.sleep(SECONDS_BETWEEN_BOARDS)


def streamed(client: Client, contest: str) -> Iterator[dict[str, Any]]:
    """The board and its changes as the server sends them; ends at once where it does not.

    The first event is the whole board. A stream that breaks off is taken up again after the last version seen.
    """
    board: dict[str, Any] | None = None
    for event in server_events(client, f"contests/{contest}/scoreboard/stream"):
        if event.name == "scoreboard":
            board, before = merged(board or {}, json.loads(event.data)), board
            if board != before:
                yield board


def verdicts(client: Client, contest: str) -> Iterator[dict[str, Any]]:
    """The changes of one's own submissions and judgements as the server sends them, from now on and without end."""
    for event in server_events(client, f"contests/{contest}/submissions/stream"):
        if event.name in {"submissions", "judgements"}:
            yield json.loads(event.data)
    raise Failure(f"{client.url} sends no verdicts of {contest}", 1)


def server_events(client: Client, path: str) -> Iterator[Event]:
    """The events of a stream, taken up again after the last one whenever it breaks off; none if there is no stream."""
    last = ""
    while True:
        headers = {"Accept": EVENT_STREAM, **({"Last-Event-ID": last} if last else {})}
        with client.stream(f"/api/{path}", headers=headers, accept=NO_STREAM) as lines:
            if lines is None:
                return
            for event in events(lines):
                last = event.id or last
                yield event
        time.sleep(SECONDS_BETWEEN_BOARDS)


def events(lines: Iterable[str]) -> Iterator[Event]:
    """Read server-sent events, as the HTML standard has them; comments and unknown fields are skipped."""
    name, id_ = "message", ""
    data: list[str] = []
    for line in lines:
        if not line:
            if data:
                yield Event(name, "\n".join(data), id_)
            name, data = "message", []
            continue
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "event":
            name = value
        elif key == "data":
            data.append(value)
        elif key == "id":
            id_ = value


def merged(board: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A board with some of its rows changed, in order of rank again; or another whole board."""
    if "removed_team_ids" not in change:
        return dict(change)
    rows = {row["team_id"]: row for row in board["rows"]}
    for team in change["removed_team_ids"]:
        rows.pop(team, None)
    rows.update({row["team_id"]: row for row in change["rows"]})
    head = {key: value for key, value in change.items() if key not in {"rows", "removed_team_ids", "since"}}
    return {**board, **head, "rows": sorted(rows.values(), key=lambda row: (row["rank"], row["team_id"]))}


class LiveBoard:
    """What is drawn: the board with who has moved, how much time is left, and whether it is frozen."""

    def __init__(
        self,
        contest: str,
        facts: Mapping[str, Any],
        names: Mapping[str, str],
        *,
        cases: bool,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._contest = contest
        self._clock = clock
        self.facts = facts
        self._names = names
        self._cases = cases
        self._board: Mapping[str, Any] | None = None
        self._moves: dict[str, tuple[int, float]] = {}

    def change(self, board: Mapping[str, Any]) -> None:
        """Draw this board from now on; teams that have moved are marked for a while."""
        before = {row["team_id"]: row["rank"] for row in self._board["rows"]} if self._board else {}
        for row in board["rows"]:
            if risen := before.get(row["team_id"], row["rank"]) - row["rank"]:
                self._moves[row["team_id"]] = risen, time.monotonic()
        self._board = board

    def __rich__(self) -> RenderableType:
        """The board as it is now."""
        if self._board is None:
            return Text("waiting for the board")
        facts, now = {**self.facts, "state": self._board["state"]}, self._clock()
        head = Text(clock_words(facts, now), style="bold")
        things: list[RenderableType] = [head]
        if banner := frozen_banner(self._board["state"], self.facts):
            things.append(Text(banner, style="bold reverse"))
        since = time.monotonic() - SECONDS_MARKED
        moves = {team: risen for team, (risen, moment) in self._moves.items() if moment > since}
        gone = contest_time(facts, now)
        tables = board_table(self._contest, self._board, self._names, cases=self._cases, moves=moves, now=gone)
        return Group(*things, *tables)


def frozen_banner(state: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """What is to be said of a frozen board; empty if it is not."""
    if not state.get("frozen") or state.get("thawed"):
        return ""
    before = facts.get("scoreboard_freeze_duration")
    when = f" for the last {short_time(before)}" if before else ""
    return f" FROZEN{when}: of what was sent since, only the number is shown (+N?) "

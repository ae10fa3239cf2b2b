"""`Client` and `AsyncClient`: the same operations, written once as generators of requests.

An operation yields a `Request`, or the seconds to wait, and gets the reply; a client sends the requests.
"""

from __future__ import annotations

import asyncio
import io
import json
import time
import uuid
import zipfile
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from jurado_client.connection import (
    FIRST_PAUSE,
    SECONDS,
    STREAM_TIMEOUT,
    TRIES,
    Connection,
    Unreachable,
    named,
    pauses,
    refusal_of,
)
from jurado_client.models import Contest, Event, Game, History, Problem, Report, Scoreboard

T = TypeVar("T")
Files = str | Path | Sequence[str | Path] | Mapping[str, bytes | str]
OnProgress = Callable[[Report], object]
# Seconds between two looks at a report, at first and at most.
FIRST_LOOK, LONGEST_LOOK = 0.1, 2.0


@dataclass(frozen=True)
class Request:
    """A request below /api; one that `repeats`, as GET does, is sent again if its reply is lost."""

    method: str
    path: str
    params: Mapping[str, Any] | None = None
    json: object = None
    data: Mapping[str, str] | None = None
    files: Sequence[tuple[str, tuple[str, bytes]]] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = False

    def options(self) -> dict[str, Any]:
        """Return it as httpx takes it."""
        given = {"params": named(self.params), "json": self.json, "data": self.data, "files": self.files}
        return {"headers": self.headers, **{name: value for name, value in given.items() if value is not None}}


Steps = Generator[Request | float, Any, T]


def packed(files: Files) -> tuple[str, bytes]:
    """Put answer files into one upload: a name and its bytes.

    files  a folder, a zip, a file, a list of files, or names (`NAME.out`) with their contents
    """
    if isinstance(files, str | Path):
        place = Path(files)
        if place.is_file():
            return place.name, place.read_bytes()
        paths = sorted(each for each in place.rglob("*") if each.is_file())
        if not paths:
            raise FileNotFoundError(f"{place}: expected a folder with answer files, a zip or a file")
        return packed(paths)
    if not isinstance(files, Mapping):
        files = {Path(each).name: Path(each).read_bytes() for each in files}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return "answers.zip", target.getvalue()


def contests() -> Steps[list[Contest]]:
    """List the contests."""
    return [Contest.of(each) for each in (yield Request("GET", "contests"))]


def contest(contest_id: str) -> Steps[Contest]:
    """Get a contest."""
    return Contest.of((yield Request("GET", f"contests/{contest_id}")))


def problems(contest_id: str) -> Steps[list[Problem]]:
    """List the problems of a contest."""
    return [Problem.of(each) for each in (yield Request("GET", f"contests/{contest_id}/problems"))]


def inputs(contest_id: str, problem_id: str) -> Steps[dict[str, bytes]]:
    """Get the inputs of a problem by the names of their cases."""
    zipped = yield Request("GET", f"contests/{contest_id}/problems/{problem_id}/inputs.zip")
    with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
        return {name.removesuffix(".in"): archive.read(name) for name in archive.namelist() if name.endswith(".in")}


def report(contest_id: str, submission_id: str) -> Steps[Report]:
    """Get the report on a submission."""
    return Report.of((yield Request("GET", f"contests/{contest_id}/submissions/{submission_id}/report")))


def submit(
    contest_id: str, problem_id: str, files: Files, wait: bool, comment: str | None, on_progress: OnProgress | None
) -> Steps[Report]:
    """Submit answers, stored once however often a reply is lost, and wait for their report."""
    data = {"problem_id": problem_id} | ({} if comment is None else {"comment": comment})
    key = {"Idempotency-Key": str(uuid.uuid4())}
    address = f"contests/{contest_id}/submissions"
    made = yield Request("POST", address, data=data, files=[("files", packed(files))], headers=key, repeats=True)
    pause = FIRST_LOOK
    while True:
        found = yield from report(contest_id, made["id"])
        if on_progress is not None:
            on_progress(found)
        if found.is_done or not wait:
            return found
        yield pause
        pause = min(2 * pause, LONGEST_LOOK)


def scoreboard(contest_id: str, group_id: str | None) -> Steps[Scoreboard]:
    """Get the scoreboard, or that of a group."""
    return Scoreboard.of((yield Request("GET", f"contests/{contest_id}/scoreboard", {"group_id": group_id})))


def history(contest_id: str) -> Steps[History]:
    """Get points and ranks over time."""
    return History.of((yield Request("GET", f"contests/{contest_id}/scores/history")))


def games(contest_id: str) -> Steps[list[Game]]:
    """List the games that the account may see."""
    listed = yield Request("GET", f"contests/{contest_id}/games")
    return [Game.of({**each, "next_move": each["moves"] + 1}) for each in listed]


def start_game(contest_id: str, problem_id: str, options: Mapping[str, Any]) -> Steps[Game]:
    """Start a game against the judge."""
    address = f"contests/{contest_id}/problems/{problem_id}/games"
    return Game.of((yield Request("POST", address, json=dict(options))))


def move(game: Game, made: str) -> Steps[Game]:
    """Make a move in a game; its number makes it count once."""
    body = {"move": made, "number": game.next_move}
    return Game.of((yield Request("POST", f"games/{game.id}/moves", json=body, repeats=True)))


def body_of(reply: httpx.Response) -> Any:
    """Read a reply: JSON, or the bytes of another kind."""
    is_json = reply.headers.get("content-type", "").startswith("application/json")
    return reply.json() if is_json else reply.content


def event_of(line: str) -> Event | None:
    """Read a line of the feed; None for the empty lines that keep it open."""
    return Event.of(json.loads(line)) if line.strip() else None


class Client(Connection):
    """Talks to one server; `token` is an access token of an account, from its page or `jurado login`."""

    def _run(self, steps: Steps[T]) -> T:
        """Send the requests of an operation."""
        reply: Any = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, float):
                    time.sleep(step)
                    reply = None
                else:
                    again = time.monotonic if step.repeats else None  # nothing to rewind
                    reply = body_of(self.request(step.method, f"/api/{step.path}", again=again, **step.options()))
        except StopIteration as end:
            result: T = end.value
            return result

    def contests(self) -> list[Contest]:
        """List the contests."""
        return self._run(contests())

    def contest(self, contest_id: str) -> Contest:
        """Get a contest."""
        return self._run(contest(contest_id))

    def problems(self, contest_id: str) -> list[Problem]:
        """List the problems of a contest."""
        return self._run(problems(contest_id))

    def inputs(self, contest_id: str, problem_id: str) -> dict[str, bytes]:
        """Get the inputs of a problem by the names of their cases."""
        return self._run(inputs(contest_id, problem_id))

    def submit(
        self,
        contest_id: str,
        problem_id: str,
        files: Files,
        *,
        wait: bool = True,
        comment: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> Report:
        """Submit answers and return their report, judged unless `wait` is false.

        files        a folder, a zip, a file, a list of files, or names (`NAME.out`) with their contents
        on_progress  called with each report while the answers are judged
        """
        return self._run(submit(contest_id, problem_id, files, wait, comment, on_progress))

    def report(self, contest_id: str, submission_id: str) -> Report:
        """Get the report on a submission."""
        return self._run(report(contest_id, submission_id))

    def scoreboard(self, contest_id: str, group_id: str | None = None) -> Scoreboard:
        """Get the scoreboard, or that of a group."""
        return self._run(scoreboard(contest_id, group_id))

    def history(self, contest_id: str) -> History:
        """Get points and ranks over time."""
        return self._run(history(contest_id))

    def games(self, contest_id: str) -> list[Game]:
        """List the games that the account may see."""
        return self._run(games(contest_id))

    def start_game(self, contest_id: str, problem_id: str, **options: Any) -> Game:
        """Start a game against the judge; `options` such as `testcase` are the API's."""
        return self._run(start_game(contest_id, problem_id, options))

    def move(self, game: Game, made: str) -> Game:
        """Make a move; returns the game after the judge's reply."""
        return self._run(move(game, made))

    def feed(self, contest_id: str, since: str | None = None, *, live: bool = True) -> Iterator[Event]:
        """Yield the events of a contest, after the token `since`; a live feed resumes whenever it breaks off."""
        while True:
            params = {"since_token": since, "stream": live}
            with self.stream(f"/api/contests/{contest_id}/event-feed", params=params) as lines:
                for event in map(event_of, lines or ()):
                    if event is not None:
                        since = event.token or since
                        yield event
            if not live:
                return
            time.sleep(FIRST_PAUSE)


class AsyncClient:
    """`Client` for asyncio."""

    def __init__(
        self, url: str, token: str | None = None, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.url = url
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=SECONDS, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _run(self, steps: Steps[T]) -> T:
        """Send the requests of an operation."""
        reply: Any = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, float):
                    await asyncio.sleep(step)
                    reply = None
                else:
                    reply = body_of(await self._send(step))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _send(self, request: Request) -> httpx.Response:
        for last, pause in pauses(TRIES if request.repeats or request.method == "GET" else 1, FIRST_PAUSE):
            try:
                reply = await self._http.request(request.method, f"/api/{request.path}", **request.options())
                break
            except httpx.TransportError as error:
                if last:
                    reason = str(error) or type(error).__name__
                    raise Unreachable(f"{self.url} cannot be reached: {reason}") from None
                await asyncio.sleep(pause)
        if not reply.is_success:
            raise refusal_of(reply)
        return reply

    async def contests(self) -> list[Contest]:
        """List the contests."""
        return await self._run(contests())

    async def contest(self, contest_id: str) -> Contest:
        """Get a contest."""
        return await self._run(contest(contest_id))

    async def problems(self, contest_id: str) -> list[Problem]:
        """List the problems of a contest."""
        return await self._run(problems(contest_id))

    async def inputs(self, contest_id: str, problem_id: str) -> dict[str, bytes]:
        """Get the inputs of a problem by the names of their cases."""
        return await self._run(inputs(contest_id, problem_id))

    async def submit(
        self,
        contest_id: str,
        problem_id: str,
        files: Files,
        *,
        wait: bool = True,
        comment: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> Report:
        """Submit answers and return their report; see `Client.submit`."""
        return await self._run(submit(contest_id, problem_id, files, wait, comment, on_progress))

    async def report(self, contest_id: str, submission_id: str) -> Report:
        """Get the report on a submission."""
        return await self._run(report(contest_id, submission_id))

    async def scoreboard(self, contest_id: str, group_id: str | None = None) -> Scoreboard:
        """Get the scoreboard, or that of a group."""
        return await self._run(scoreboard(contest_id, group_id))

    async def history(self, contest_id: str) -> History:
        """Get points and ranks over time."""
        return await self._run(history(contest_id))

    async def games(self, contest_id: str) -> list[Game]:
        """List the games that the account may see."""
        return await self._run(games(contest_id))

    async def start_game(self, contest_id: str, problem_id: str, **options: Any) -> Game:
        """Start a game against the judge."""
        return await self._run(start_game(contest_id, problem_id, options))

    async def move(self, game: Game, made: str) -> Game:
        """Make a move; returns the game after the judge's reply."""
        return await self._run(move(game, made))

    async def feed(self, contest_id: str, since: str | None = None, *, live: bool = True) -> AsyncIterator[Event]:
        """Yield the events of a contest, after the token `since`; a live feed resumes whenever it breaks off."""
        while True:
            params = named({"since_token": since, "stream": live})
            address = f"/api/contests/{contest_id}/event-feed"
            try:
                async with self._http.stream("GET", address, params=params, timeout=STREAM_TIMEOUT) as reply:
                    if not reply.is_success:
                        await reply.aread()
                        raise refusal_of(reply)
                    async for line in reply.aiter_lines():
                        if (event := event_of(line)) is not None:
                            since = event.token or since
                            yield event
            except httpx.TransportError as error:
                if not live:
                    raise Unreachable(f"{self.url} cannot be reached: {error}") from None
            if not live:
                return
            await asyncio.sleep(FIRST_PAUSE)

"""The HTTP client of every command that talks to a server: clear errors, retries where repeating is safe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import httpx

from app.cli.config import Login, current_login
from app.cli.output import Failure

SECONDS = 60.0
TRIES = 5
TIME_HEADER = "jurado-time"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_PAUSE = 0.2
STREAM_TIMEOUT = httpx.Timeout(SECONDS, read=150.0)
"""A server says something at least every two minutes, if only that it is still there."""
Lines = Iterator[str] | None


class Client:
    """Talks to one server as one account."""

    def __init__(
        self, login: Login, *, auth: tuple[str, str] | None = None, transport: httpx.BaseTransport | None = None
    ) -> None:
        headers = {"Authorization": f"Bearer {login.token}"} if login.token and auth is None else {}
        self.url = login.url
        self.username = login.username
        self._ahead = timedelta(0)
        self._http = httpx.Client(base_url=login.url, headers=headers, auth=auth, timeout=SECONDS, transport=transport)

    @classmethod
    def open(cls, url: str | None = None) -> Self:
        """Open a client for the server in use."""
        return cls(current_login(url))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def now(self) -> datetime:
        """The server's time, as of its last reply: the clock of this machine may be another one."""
        return datetime.now(UTC) + self._ahead

    def as_nobody(self) -> Login:
        """The same server for somebody who is not logged in."""
        return Login(self.url)

    def get(self, path: str, **params: Any) -> Any:
        """Read a resource below /api as JSON; parameters that are None are left out."""
        return self.body(self.request("GET", f"/api/{path}", params=params))

    def post(self, path: str, json: object = None, **options: Any) -> Any:
        """Post to a resource below /api; returns the reply's JSON."""
        return self.body(self.request("POST", f"/api/{path}", json=json, **options))

    def put(self, path: str, **options: Any) -> Any:
        """Put a resource below /api; returns the reply's JSON."""
        return self.body(self.request("PUT", f"/api/{path}", **options))

    def patch(self, path: str, json: object) -> Any:
        """Change a resource below /api; returns the reply's JSON."""
        return self.body(self.request("PATCH", f"/api/{path}", json=json))

    def delete(self, path: str) -> Any:
        """Delete a resource below /api; returns the reply's JSON, if it has any."""
        return self.body(self.request("DELETE", f"/api/{path}"))

    def request(
        self,
        method: str,
        path: str,
        *,
        accept: tuple[int, ...] = (),
        params: Mapping[str, Any] | None = None,
        again: Callable[[], None] | None = None,
        **options: Any,
    ) -> httpx.Response:
        """Send a request; raises Failure (exit code 1) where the server refuses it or cannot be reached.

        `accept` are statuses beyond 2xx and 304 that the caller understands. Requests that may be repeated (GET, and
        those for which `again` makes the body ready once more) are tried again when the connection fails.
        """
        tries = TRIES if method == "GET" or again is not None else 1
        known = {key: value for key, value in (params or {}).items() if value is not None}
        for last, pause in pauses(tries):
            try:
                reply = self._http.request(method, path, params=known, **options)
                break
            except httpx.TransportError as error:
                if last:
                    raise Failure(f"{self.url} cannot be reached: {str(error) or type(error).__name__}", 1) from None
                time.sleep(pause)
                if again is not None:
                    again()
        if (sent := reply.headers.get(TIME_HEADER, "")).isdecimal():
            self._ahead = timedelta(milliseconds=int(sent)) - (datetime.now(UTC) - EPOCH)
        if reply.is_success or reply.status_code in (304, *accept):
            return reply
        raise Failure(refusal(reply), 1)

    @contextmanager
    def stream(self, path: str, *, headers: Mapping[str, str], accept: tuple[int, ...]) -> Iterator[Lines]:
        """Open a stream of lines that the server goes on with for as long as it likes; it may break off at any time.

        Gives None where the server answers with one of the statuses `accept`; raises Failure as `request` does.
        """
        for last, pause in pauses(TRIES):
            try:
                with self._http.stream("GET", path, headers=dict(headers), timeout=STREAM_TIMEOUT) as reply:
                    if not reply.is_success and reply.status_code not in accept:
                        reply.read()
                        raise Failure(refusal(reply), 1)
                    yield whole_lines(reply) if reply.is_success else None
                    return
            except httpx.ConnectError as error:
                if last:
                    raise Failure(f"{self.url} cannot be reached: {str(error) or type(error).__name__}", 1) from None
                time.sleep(pause)

    def body(self, reply: httpx.Response) -> Any:
        """Read a reply as JSON; raises Failure where it is none, as it was not one of ours."""
        try:
            return reply.json() if reply.content else None
        except ValueError:
            raise Failure(f"{self.url} did not answer in JSON: is it a Jurado server?", 1) from None


def whole_lines(reply: httpx.Response) -> Iterator[str]:
    """The lines of a stream until it ends, be it that the connection breaks: whoever wants more asks again."""
    with suppress(httpx.TransportError):
        yield from reply.iter_lines()


def pauses(tries: int) -> Iterator[tuple[bool, float]]:
    """Give for each try whether it is the last one and how many seconds to wait after it: twice as long each time."""
    for at in range(tries):
        yield at == tries - 1, FIRST_PAUSE * 2**at


def refusal(reply: httpx.Response) -> str:
    """Say why the server refused: its own words, and every fault where it lists several."""
    try:
        body = reply.json()
    except ValueError:
        body = {}
    if not isinstance(body, dict) or "message" not in body:
        return f"the server answered {reply.status_code} {reply.reason_phrase}"
    lines = [str(body["message"])]
    errors = body.get("errors") or []
    if len(errors) > 1:
        lines += [f"  {fault_text(fault)}" for fault in errors]
    hint = " (jurado login URL USER)" if reply.status_code == 401 else ""
    return "\n".join(lines) + hint


def fault_text(fault: object) -> str:
    """One fault of a list, in words."""
    if not isinstance(fault, dict):
        return str(fault)
    place = ", ".join(str(fault[key]) for key in ("file", "where") if fault.get(key))
    if "message" in fault or "text" in fault:
        return f"{place}: {fault.get('message') or fault.get('text')}" if place else str(fault.get("message"))
    return f"{place}: expected {fault.get('expected')}, found {fault.get('found')}"

"""A connection to one server: requests with safe retries, downloads, watched uploads and streams."""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import IO, Any, ClassVar, Self, TypedDict, Unpack

import httpx

SECONDS = 60.0
TRIES = 5
FIRST_PAUSE = 0.2
TIME_HEADER = "jurado-time"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Time limits of a stream: the server sends at least a comment every two minutes.
STREAM_TIMEOUT = httpx.Timeout(SECONDS, read=150.0)
# The type of replies that report the server's progress: JSON, a line at a time.
WATCHED = "application/x-ndjson"
Param = str | int | float | bool | Sequence[str] | None


class JuradoError(Exception):
    """A request that failed."""


class Refused(JuradoError):
    """The server refused a request: its status, its message, and its list of errors."""

    def __init__(self, status: int, message: str, errors: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors


class Unreachable(JuradoError):
    """The server did not answer."""


class Body(TypedDict, total=False):
    """A request's body other than JSON, with its headers and its timeout in seconds."""

    content: bytes | IO[bytes]
    data: Mapping[str, str]
    files: Mapping[str, tuple[str, bytes | IO[bytes]]] | Sequence[tuple[str, tuple[str, bytes]]]
    headers: Mapping[str, str]
    timeout: float


class Options(Body, total=False):
    """A body with query parameters; `again` rewinds it, after which the request may be repeated."""

    params: Mapping[str, Param]
    again: Callable[[], object]


def named(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Leave out the values that are None."""
    return {key: value for key, value in (params or {}).items() if value is not None}


def pauses(tries: int, first: float) -> Iterator[tuple[bool, float]]:
    """Yield for each try whether it is the last one, and the seconds to wait after it: twice as long each time."""
    for at in range(tries):
        yield at == tries - 1, first * 2**at


def whole_lines(reply: httpx.Response) -> Iterator[str]:
    """Yield the lines of a stream until it ends or its connection breaks."""
    with suppress(httpx.TransportError):
        yield from reply.iter_lines()


def refusal_of(reply: httpx.Response) -> Refused:
    """Read the refusal from a reply."""
    try:
        body = reply.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or "message" not in body:
        return Refused(reply.status_code, f"the server answered {reply.status_code} {reply.reason_phrase}")
    return Refused(reply.status_code, str(body["message"]), body.get("errors") or ())


class Connection:
    """Sends requests to one server as one account."""

    hook: ClassVar[type[dict[str, Any]]] = dict

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        auth: tuple[str, str] | None = None,
        transport: httpx.BaseTransport | None = None,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token and auth is None else {}
        self.url = url
        self._ahead = timedelta(0)
        self._first_pause = first_pause
        self._http = httpx.Client(
            base_url=url,
            headers=headers,
            auth=auth,
            timeout=SECONDS,
            transport=transport,
            verify=self._certificates(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def refused(self, refusal: Refused) -> Exception:
        """Return the exception for a refusal."""
        return refusal

    def unreachable(self, reason: str) -> Exception:
        """Return the exception for a server that does not answer as it should."""
        return Unreachable(f"{self.url} {reason}")

    def _certificates(self) -> ssl.SSLContext:
        """Read the authorities that this machine trusts."""
        try:
            return httpx.create_ssl_context()
        except OSError as error:
            place, reason = os.environ.get("SSL_CERT_FILE", ""), error.strerror or error
            raise self.unreachable(
                f"cannot be trusted: SSL_CERT_FILE={place}: expected certificates as PEM, found: {reason}"
            ) from error

    def now(self) -> datetime:
        """Return the server's time as of its last reply; the clock of this machine may differ."""
        return datetime.now(UTC) + self._ahead

    def request(
        self,
        method: str,
        path: str,
        *,
        accept: tuple[int, ...] = (),
        json: object = None,
        params: Mapping[str, Param] | None = None,
        again: Callable[[], object] | None = None,
        **body: Unpack[Body],
    ) -> httpx.Response:
        """Send a request; raises `refused` or `unreachable`.

        `accept` are statuses beyond 2xx and 304 that the caller understands. GET requests, and those for which `again`
        rewinds the body, are repeated if the connection fails.
        """
        tries = TRIES if method == "GET" or again is not None else 1
        for last, pause in pauses(tries, self._first_pause):
            try:
                reply = self._http.request(method, path, params=named(params), json=json, **body)
                break
            except httpx.TransportError as error:
                if last:
                    raise self._broken(error) from None
                time.sleep(pause)
                if again is not None:
                    again()
        if (sent := reply.headers.get(TIME_HEADER, "")).isdecimal():
            self._ahead = timedelta(milliseconds=int(sent)) - (datetime.now(UTC) - EPOCH)
        self._check(reply, (304, *accept))
        return reply

    def post(self, path: str, json: object = None, **options: Unpack[Options]) -> Any:
        """Post to a resource below /api; returns the reply."""
        return self.body(self.request("POST", f"/api/{path}", json=json, **options))

    def put(self, path: str, json: object = None, **options: Unpack[Options]) -> Any:
        """Put a resource below /api; returns the reply."""
        return self.body(self.request("PUT", f"/api/{path}", json=json, **options))

    def patch(self, path: str, json: object, params: Mapping[str, Param] | None = None) -> Any:
        """Change a resource below /api; returns the reply."""
        return self.body(self.request("PATCH", f"/api/{path}", json=json, params=params))

    def delete(self, path: str, **params: Param) -> Any:
        """Delete a resource below /api; returns the reply, if it has any."""
        return self.body(self.request("DELETE", f"/api/{path}", params=params))

    def body(self, reply: httpx.Response) -> Any:
        """Read a reply as JSON; None if it is empty."""
        try:
            return reply.json(object_hook=self.hook) if reply.content else None
        except ValueError:
            raise self.unreachable("did not answer in JSON: is it a Jurado server?") from None

    def fetch(self, path: str, target: IO[bytes], on_size: Callable[[int, int | None], None]) -> None:
        """Write a resource below /api to an open file.

        `on_size` gets the bytes so far, and those of the whole if the server sends their number.
        """
        try:
            with self._http.stream("GET", f"/api/{path}", timeout=STREAM_TIMEOUT) as reply:
                self._check(reply)
                announced = reply.headers.get("content-length", "")
                total = int(announced) if announced.isdecimal() else None
                for piece in reply.iter_bytes():
                    target.write(piece)
                    on_size(target.tell(), total)
        except httpx.TransportError as error:
            raise self._broken(error) from None

    def post_watched(
        self, path: str, on_step: Callable[[str, int, int], None], params: Mapping[str, Param], **body: Unpack[Body]
    ) -> Any:
        """Post to a resource below /api that does long work; `on_step` gets its phase, done and total."""
        body["headers"] = {**body.get("headers", {}), "Accept": WATCHED, "Accept-Encoding": "identity"}
        try:
            with self._http.stream("POST", f"/api/{path}", params=named(params), **body) as reply:
                if reply.headers.get("content-type") != WATCHED:
                    self._check(reply)
                    reply.read()
                    return self.body(reply)
                for line in reply.iter_lines():
                    step = json.loads(line, object_hook=self.hook)
                    if "status" in step:
                        self._check(last := httpx.Response(step["status"], json=step["body"]))
                        return self.body(last)
                    on_step(step["phase"], step["done"], step["total"])
        except httpx.TransportError as error:
            raise self._broken(error) from None
        raise self.unreachable("ended its reply early: check whether the work was done")

    @contextmanager
    def stream(
        self,
        path: str,
        *,
        params: Mapping[str, Param] | None = None,
        headers: Mapping[str, str] | None = None,
        accept: tuple[int, ...] = (),
    ) -> Iterator[Iterator[str] | None]:
        """Open an endless stream of lines, which may break off at any time; None for the statuses `accept`."""
        for last, pause in pauses(TRIES, self._first_pause):
            try:
                with self._http.stream(
                    "GET", path, params=named(params), headers=dict(headers or {}), timeout=STREAM_TIMEOUT
                ) as reply:
                    self._check(reply, accept)
                    yield whole_lines(reply) if reply.is_success else None
                    return
            except httpx.ConnectError as error:
                if last:
                    raise self._broken(error) from None
                time.sleep(pause)

    def _check(self, reply: httpx.Response, accept: tuple[int, ...] = ()) -> None:
        if not reply.is_success and reply.status_code not in accept:
            reply.read()
            raise self.refused(refusal_of(reply))

    def _broken(self, error: httpx.TransportError) -> Exception:
        return self.unreachable(f"cannot be reached: {str(error) or type(error).__name__}")

"""The HTTP client of every command that talks to a server: typed replies, clear errors, retries that are safe."""

import json
import os
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import IO, Never, Self

import httpx
from typing_extensions import TypedDict, Unpack

from app.core.commands import config, progress
from app.core.commands.output import Failure, Json

SECONDS = 60.0
TRIES = 5
TIME_HEADER = "jurado-time"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_PAUSE = 0.2
# Time limits of a stream: the server sends at least a comment every two minutes.
STREAM_TIMEOUT = httpx.Timeout(SECONDS, read=150.0)
# The type of replies that tell how far the server has come: JSON, a line at a time.
WATCHED = "application/x-ndjson"
Lines = Iterator[str] | None
Param = str | int | float | bool | Sequence[str] | None
OTHER_SERVER = "the server answered otherwise than a Jurado server of this version"


class Reply(dict[str, Json]):
    """An object of a reply; raises Failure for a key that it lacks, as of a server of another version."""

    def __missing__(self, key: str) -> Never:
        raise Failure(f"{OTHER_SERVER}: {key}: field required", 1)


class Body(TypedDict, total=False):
    """A request's body other than JSON, with its headers and its timeout in seconds."""

    content: bytes | IO[bytes]
    data: Mapping[str, str]
    files: Mapping[str, tuple[str, bytes | IO[bytes]]]
    headers: Mapping[str, str]
    timeout: float


class Options(Body, total=False):
    """A body with query parameters; `again` makes it ready to be sent once more, after which it may be repeated."""

    params: Mapping[str, Param]
    again: Callable[[], object]


def certificates() -> ssl.SSLContext:
    """Read the authorities that this machine trusts.

    Raises Failure where the file that SSL_CERT_FILE names cannot be read as certificates.
    """
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        named = os.environ.get("SSL_CERT_FILE", "")
        raise Failure(
            f"SSL_CERT_FILE={named}: expected certificates as PEM, found: {error.strerror or error}"
        ) from error


class Client:
    """Talks to one server as one account."""

    def __init__(
        self,
        login: config.Login,
        *,
        auth: tuple[str, str] | None = None,
        transport: httpx.BaseTransport | None = None,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        headers = {"Authorization": f"Bearer {login.token}"} if login.token and auth is None else {}
        self.url = login.url
        self.username = login.username
        self._ahead = timedelta(0)
        self._first_pause = first_pause
        self._http = httpx.Client(
            base_url=login.url, headers=headers, auth=auth, timeout=SECONDS, transport=transport, verify=certificates()
        )

    @classmethod
    def open(cls, url: str | None = None) -> Self:
        """Open a client for the server in use."""
        return cls(config.current_login(url))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def now(self) -> datetime:
        """Give the server's time, as of its last reply: the clock of this machine may be another one."""
        return datetime.now(UTC) + self._ahead

    def get(self, path: str, **params: Param) -> Reply:
        """Read an object below /api; parameters that are None are left out."""
        document = self.body(self.request("GET", f"/api/{path}", params=params))
        if isinstance(document, Reply):
            return document
        raise Failure(f"{OTHER_SERVER}: {path}: expected an object, found {document!r}", 1)

    def rows(self, path: str, **params: Param) -> list[Reply]:
        """Read a list of objects below /api; parameters that are None are left out."""
        document = self.body(self.request("GET", f"/api/{path}", params=params))
        if isinstance(document, list) and all(isinstance(each, Reply) for each in document):
            return document
        raise Failure(f"{OTHER_SERVER}: {path}: expected a list of objects, found {document!r}", 1)

    def post(self, path: str, json: object = None, **options: Unpack[Options]) -> Json:
        """Post to a resource below /api; returns the reply."""
        return self.body(self.request("POST", f"/api/{path}", json=json, **options))

    def put(self, path: str, json: object = None, **options: Unpack[Options]) -> Json:
        """Put a resource below /api; returns the reply."""
        return self.body(self.request("PUT", f"/api/{path}", json=json, **options))

    def patch(self, path: str, json: object, params: Mapping[str, Param] | None = None) -> Json:
        """Change a resource below /api; returns the reply."""
        return self.body(self.request("PATCH", f"/api/{path}", json=json, params=params))

    def delete(self, path: str, **params: Param) -> Json:
        """Delete a resource below /api; returns the reply, if it has any."""
        return self.body(self.request("DELETE", f"/api/{path}", params=params))

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
        """Send a request; raises Failure (exit code 1) where the server refuses it or cannot be reached.

        `accept` are statuses beyond 2xx and 304 that the caller understands. Requests that may be repeated (GET, and
        those for which `again` makes the body ready once more) are tried again when the connection fails.
        """
        tries = TRIES if method == "GET" or again is not None else 1
        named = {key: value for key, value in (params or {}).items() if value is not None}
        for last, pause in pauses(tries, self._first_pause):
            try:
                reply = self._http.request(method, path, params=named, json=json, **body)
                break
            except httpx.TransportError as error:
                if last:
                    raise self._unreachable(error) from None
                time.sleep(pause)
                if again is not None:
                    again()
        if (sent := reply.headers.get(TIME_HEADER, "")).isdecimal():
            self._ahead = timedelta(milliseconds=int(sent)) - (datetime.now(UTC) - EPOCH)
        self._refuse(reply, (304, *accept))
        return reply

    def fetch(self, path: str, target: IO[bytes], on_size: Callable[[int, int | None], None]) -> None:
        """Write a resource below /api to an open file as it comes; raises Failure as `request` does.

        `on_size` is called with the bytes that are there, and those of all of it where the server says so.
        """
        try:
            with self._http.stream("GET", f"/api/{path}", timeout=STREAM_TIMEOUT) as reply:
                self._refuse(reply)
                announced = reply.headers.get("content-length", "")
                total = int(announced) if announced.isdecimal() else None
                for piece in reply.iter_bytes():
                    target.write(piece)
                    on_size(target.tell(), total)
        except httpx.TransportError as error:
            raise self._unreachable(error) from None

    def post_watched(
        self, path: str, on_step: Callable[[str, int, int], None], params: Mapping[str, Param], **body: Unpack[Body]
    ) -> Json:
        """Post to a resource below /api that does long work, and tell `on_step` how far the server has come.

        Raises Failure as `request` does; a server that tells nothing of its work is waited for.
        """
        named = {key: value for key, value in params.items() if value is not None}
        body["headers"] = {**body.get("headers", {}), "Accept": WATCHED, "Accept-Encoding": "identity"}
        try:
            with self._http.stream("POST", f"/api/{path}", params=named, **body) as reply:
                if reply.headers.get("content-type") != WATCHED:
                    self._refuse(reply)
                    reply.read()
                    return self.body(reply)
                for line in reply.iter_lines():
                    step = json.loads(line, object_hook=Reply)
                    if "status" in step:
                        self._refuse(last := httpx.Response(step["status"], json=step["body"]))
                        return self.body(last)
                    on_step(step["phase"], step["done"], step["total"])
        except httpx.TransportError as error:
            raise self._unreachable(error) from None
        raise Failure(f"{self.url} ended its reply in the middle: look whether the work was done", 1)

    def _refuse(self, reply: httpx.Response, accept: tuple[int, ...] = ()) -> None:
        """Raise Failure for a refusal, but for the statuses `accept`."""
        if not reply.is_success and reply.status_code not in accept:
            reply.read()
            raise Failure(refusal(reply), 1)

    @contextmanager
    def stream(self, path: str, *, headers: Mapping[str, str], accept: tuple[int, ...]) -> Iterator[Lines]:
        """Open a stream of lines without an end; it may break off at any time.

        Gives None where the server answers with one of the statuses `accept`; raises Failure as `request` does.
        """
        for last, pause in pauses(TRIES, self._first_pause):
            try:
                with self._http.stream("GET", path, headers=dict(headers), timeout=STREAM_TIMEOUT) as reply:
                    self._refuse(reply, accept)
                    yield whole_lines(reply) if reply.is_success else None
                    return
            except httpx.ConnectError as error:
                if last:
                    raise self._unreachable(error) from None
                time.sleep(pause)

    def body(self, reply: httpx.Response) -> Json:
        """Read a reply as JSON; raises Failure where it is something else, as of another program."""
        try:
            return reply.json(object_hook=Reply) if reply.content else None
        except ValueError:
            raise Failure(f"{self.url} did not answer in JSON: is it a Jurado server?", 1) from None

    def _unreachable(self, error: httpx.TransportError) -> Failure:
        return Failure(f"{self.url} cannot be reached: {str(error) or type(error).__name__}", 1)


def whole_lines(reply: httpx.Response) -> Iterator[str]:
    """Yield the lines of a stream until it ends or its connection breaks; the caller asks again for more."""
    with suppress(httpx.TransportError):
        yield from reply.iter_lines()


def pauses(tries: int, first: float) -> Iterator[tuple[bool, float]]:
    """Yield for each try whether it is the last one and how many seconds to wait after it: twice as long each time."""
    for at in range(tries):
        yield at == tries - 1, first * 2**at


def refusal(reply: httpx.Response) -> str:
    """Say why the server refused: its own words, and every fault where it lists several."""
    try:
        body = reply.json(object_hook=Reply)
    except ValueError:
        body = {}
    if not isinstance(body, dict) or "message" not in body:
        return f"the server answered {reply.status_code} {reply.reason_phrase}"
    lines = [str(body["message"])]
    errors = body.get("errors") or []
    if len(errors) > 1:
        lines += [f"  {fault_text(fault) if isinstance(fault, dict) else fault}" for fault in errors]
    hint = " (jurado login URL USER)" if reply.status_code == 401 else ""
    return "\n".join(lines) + hint


def fault_text(fault: Json) -> str:
    """Word one fault of a list."""
    if fault.get("severity") in progress.SEVERITIES:
        return progress.fault_line(progress.NO_FOLDER, fault)
    place = ", ".join(str(fault[key]) for key in ("file", "where") if fault.get(key))
    if "message" in fault or "text" in fault:
        return f"{place}: {fault.get('message') or fault.get('text')}" if place else str(fault.get("message"))
    return f"{place}: expected {fault.get('expected')}, found {fault.get('found')}"


def without_none(given: Mapping[str, object]) -> dict[str, object]:
    """Leave out the options that were not given."""
    return {name: value for name, value in given.items() if value is not None}

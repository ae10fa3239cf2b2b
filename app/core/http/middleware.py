"""Around every request: headers that each reply carries, a line in the log, a count, and the last resort for faults.

- Refusals wait where an address has many of them, or many requests under way: asking again at once gains nothing.
  An address has few large bodies without credentials under way (guarantees 4 and 6).
- HEAD wherever GET is: the same status and headers, and no body.
"""

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from functools import partial
from time import monotonic

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, reset_contextvars

from app.core.clock import utc_now
from app.core.http.errors import error_response, status_of, unavailable
from app.core.load import source_of
from app.core.messages import N_, BadRequest, ServiceError, TooLarge
from app.core.telemetry import Metrics, request_id_of, request_span

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Where a scope names the method that its client used, if the app sees another one.
METHOD = "jurado.method"
API = "/api"  # a route below it knows its path without the prefix
SUBMISSIONS = r"contests/[^/]+/submissions(/[^/]+)?"
UPLOADS = re.compile(
    rf"/api/({SUBMISSIONS}|problems/[^/]+/testcases/.+)/?"
    r"|/c/[^/]+/answers|/admin/problems/[^/]+/cases"
)
WITH_IMAGES = r"teams/[^/]+|contests/[^/]+(/(groups|organizations|persons)(/[^/]+)?)?"
PACKAGES = re.compile(r"/api/(problems|contests/import)/?|/admin/problems")
IMPORTS = re.compile(rf"/api/(accounts|people|teams|{WITH_IMAGES})/?|/admin/contests/[^/]+/teams/import")
LARGEST_IMPORT = 4 * 2**20
LARGEST_DOCUMENT = 2**20
# Paths that take a body from people who are not logged in.
OF_NOBODY = re.compile(
    r"/api/(account/password-reset|contests/[^/]+/(registrations|problems/[^/]+/games)|games/[^/]+/(moves|resign))/?"
)
# Documents are read as a whole, and small objects take 25 times their bytes.
LARGEST_OF_NOBODY = 16 * 1024
REQUEST_ID = b"x-request-id"
QUIET = ("/health/", "/metrics")
EVERYWHERE = (
    (b"x-content-type-options", b"nosniff"),
    (b"access-control-allow-origin", b"*"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"referrer-policy", b"same-origin"),
)
NAMES = frozenset(name for name, _ in EVERYWHERE)
CACHED = frozenset({b"cache-control", b"etag"})
NO_STORE = (b"cache-control", b"no-store")
NAME = "jurado.requests"
STANDARD_LOG = logging.getLogger(NAME)  # which knows its level without a look through structlog's proxies
log: structlog.stdlib.BoundLogger = structlog.get_logger(NAME)


class Frame:
    """The layer around each answer: its id, headers, log and span.

    It never logs query strings, headers or bodies: they may hold secrets.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        began = time.perf_counter()
        status = 0
        request_id = request_id_of(next((value for name, value in scope["headers"] if name == REQUEST_ID), None))
        its_id = (REQUEST_ID, request_id.encode())

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(message, scope, its_id)
            await send(message)

        tokens = bind_contextvars(request_id=request_id)
        with request_span(scope["method"], scope["headers"]) as end_span:
            try:
                if "\0" in scope["path"] or b"%00" in scope["query_string"]:
                    raise BadRequest(
                        N_("expected text, found a NUL"), where="address"
                    )  # which PostgreSQL cannot even look for
                await self.app(scope, receive, send_framed)
            except ServiceError as error:
                await error_response(status_of(error), error.message)(scope, receive, send_framed)
            except ClientDisconnect:
                log.info("the client has gone", method=scope["method"], path=scope["path"])
            except Exception as error:
                if not status and (reply := unavailable(error, scope["path"], self.metrics)) is not None:
                    await reply(scope, receive, send_framed)
                    return
                log.exception("fault", method=scope["method"], path=scope["path"])
                self.metrics.faults.inc()
                if status:
                    raise  # the reply has begun: cutting the connection is all that tells the client
                await error_response(500, "a fault of the server; it has been logged")(scope, receive, send_framed)
            finally:
                self._note(scope, status, time.perf_counter() - began)
                end_span(route_of(scope), status)
                reset_contextvars(**tokens)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope.get(METHOD, scope["method"])
        method = method if method in METHODS else "other"
        self.metrics.requests.labels(method, route_of(scope), str(status)).observe(seconds)
        if not scope["path"].startswith(QUIET):
            # At thousands a second a line for each that went well would cost more than serving it.
            level = logging.DEBUG if status < 400 else logging.INFO
            if STANDARD_LOG.isEnabledFor(level):
                facts = {"path": scope["path"], "status": status, "ms": round(seconds * 1000, 2)}
                log.log(level, "request", method=method, **facts)


def route_of(scope: Scope) -> str:
    """The template of the route that answered, such as `/api/contests/{contest_id}`."""
    path = getattr(scope.get("route"), "path", None)
    if path is None:
        return "none"
    return f"{API}{path}" if scope["path"].startswith(f"{API}/") else str(path)


def _add_headers(message: Message, scope: Scope, its_id: tuple[bytes, bytes]) -> None:
    """What every reply says; a page's own policy stays, and what is for one account alone is kept nowhere."""
    time_header = (b"jurado-time", b"%d" % int(utc_now().timestamp() * 1000))
    headers = message["headers"] = [*message["headers"], time_header, its_id]
    names = {name for name, _ in headers}
    headers += EVERYWHERE if names.isdisjoint(NAMES) else [each for each in EVERYWHERE if each[0] not in names]
    if names.isdisjoint(CACHED) and b"authorization" in dict(scope["headers"]):
        headers.append(NO_STORE)


class BodyLimit:
    """Refuses bodies of more than `most` bytes while they stream, and at once if the header already says so.

    `most` is what uploads may have; a route that takes documents has less, that of packages `package`.
    """

    def __init__(self, app: ASGIApp, most: int, package: int) -> None:
        self.app = app
        self.most = most
        self.package = package

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        path = scope["path"]
        most = self.package if PACKAGES.fullmatch(path) else min(self.most, largest(path) or self.most)
        headers = dict(scope["headers"])
        announced = headers.get(b"content-length", b"0")
        refusal = TooLarge(N_("expected at most %(limit)s bytes, found more"), where="body", limit=most)
        if announced.isdigit() and int(announced) > most:
            await error_response(413, refusal.message, headers={"Connection": "close"})(scope, receive, send)
            return
        if b"transfer-encoding" not in headers:  # the server hands on as many bytes as were announced
            await self.app(scope, receive, send)
            return
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise refusal
            return message

        await self.app(scope, receive_counted, send)


def largest(path: str) -> int | None:
    """Bytes that a body sent to this path may have; None: as many as the setting for uploads says."""
    if UPLOADS.fullmatch(path):
        return None
    if OF_NOBODY.fullmatch(path):
        return LARGEST_OF_NOBODY
    return LARGEST_IMPORT if IMPORTS.fullmatch(path) else LARGEST_DOCUMENT


# Requests under way of one address up to which a refusal is sent at once.
MOST_AT_ONCE = 16
# Refusals of one address in a second up to which one is sent at once.
MOST_A_SECOND = 250
SECONDS = 1.0
# Requests of one address with a large body and without credentials that are worked on at once, refusals included.
MOST_UNKNOWN = 8
# Bytes of a body that are read to the end for the sake of the connection.
LITTLE = 64 * 1024
CLOSE = (b"connection", b"close")


class Refusals:
    """Around the app: replies of 400 to 499 wait a second where their address has had too many."""

    def __init__(self, app: ASGIApp, wait: Callable[[], Awaitable[object]] = partial(asyncio.sleep, SECONDS)) -> None:
        self.app = app
        self._wait = wait
        self._under_way: Counter[str] = Counter()
        self._second = 0
        self._refused: Counter[str] = Counter()  # in this second
        self._turns: dict[str, asyncio.Semaphore] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        client = scope.get("client")
        if client is None:
            await self.app(scope, receive, send)
            return
        source = source_of(client[0])
        under_way = self._under_way
        under_way[source] += 1
        headers: dict[bytes, bytes] = dict(scope["headers"])
        is_large = is_unread = _is_large(headers)

        async def receive_noted() -> Message:
            nonlocal is_unread
            message = await receive()
            is_unread = bool(message.get("more_body"))
            return message

        async def send_in_time(message: Message) -> None:
            if 400 <= message.get("status", 0) < 500 and self._is_pressed(source):
                await self._wait()
                if is_unread:
                    message = {**message, "headers": [*message["headers"], CLOSE]}
            await send(message)

        try:
            if not is_large:
                await self.app(scope, receive, send_in_time)
                return
            async with self._turn(source) if b"authorization" not in headers else nullcontext():
                await self.app(scope, receive_noted, send_in_time)
        finally:
            under_way[source] -= 1
            if not under_way[source]:
                del under_way[source]
                self._turns.pop(source, None)

    def _is_pressed(self, source: str) -> bool:
        """Count a refusal; tells whether it is to wait. Requests refused at once are never under way together."""
        if (now := int(monotonic())) != self._second:
            self._second = now
            self._refused.clear()
        self._refused[source] += 1
        return self._refused[source] > MOST_A_SECOND or self._under_way[source] > MOST_AT_ONCE

    def _turn(self, source: str) -> asyncio.Semaphore:
        return self._turns.setdefault(source, asyncio.Semaphore(MOST_UNKNOWN))


def _is_large(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether the body of a request may be more than a little."""
    length = headers.get(b"content-length", b"")
    return b"transfer-encoding" in headers or (length.isdigit() and (len(length) > 18 or int(length) > LITTLE))


class Heads:
    """Asks the app as for GET and sends only what its reply begins with.

    To the app its client seems to have gone then: streams end, and what has to be tidied up still is.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        # A copy: the server looks at its own scope to know that no body comes.
        asked = {**scope, "method": "GET", METHOD: "HEAD"}

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await asyncio.sleep(0)  # whoever listens for the end of the client gets a turn

        await self.app(asked, receive, send_head)

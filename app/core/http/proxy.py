"""Behind a proxy: who the client is and which path prefix it sees, as a trusted proxy says.

Inside, paths and Location headers are without the prefix. This layer takes it off what comes in, if the proxy has not,
puts it in front of what goes out, and hands it on as `root_path`.
"""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlsplit

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.core.errors import BadRequest
from app.core.http.middleware import Frame
from app.core.http.origins import FORWARDED_HOSTS
from app.core.messages import N_
from app.core.metrics import Metrics
from app.core.settings import Settings, path_prefix

PREFIX = b"x-forwarded-prefix"
HOST = b"x-forwarded-host"


class BehindProxy:
    """The outermost layer of all. X-Forwarded-For, -Proto, -Host and -Prefix count only from a trusted proxy."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._inner = cast(ASGIApp, ProxyHeadersMiddleware(cast(Any, app), settings.trusted_proxies))
        self._trusted = cast(Any, self._inner).trusted_hosts
        self._root_path = settings.root_path
        self._refused = Frame(_refuse, metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] not in {"http", "websocket"}:
            await self._inner(scope, receive, send)
            return
        try:
            prefix = self._prefix(scope) if self._is_trusted(scope) else self._root_path
        except ValueError:
            await self._refused(scope, receive, send)
            return
        if not prefix:
            await self._inner(scope, receive, send)
            return
        path: str = scope["path"]
        if path == prefix and scope["type"] == "http":  # relative addresses in the index need the slash
            await RedirectResponse(f"{prefix}/")(scope, receive, send)
            return
        inside = {**scope, "root_path": prefix, "path": path.removeprefix(prefix) if _below(path, prefix) else path}
        await self._inner(inside, receive, _prefixed(prefix, _host(scope), send))

    def _is_trusted(self, scope: Scope) -> bool:
        client = scope.get("client")
        return client is not None and client[0] in self._trusted

    def _prefix(self, scope: Scope) -> str:
        """Read what a trusted proxy tells: returns the prefix the client sees; raises ValueError for one that is none.

        The hosts that the client asked go into the scope: within, nobody knows any more who sent the header.
        """
        hosts, prefix = [], None
        for name, value in scope["headers"]:
            if name == HOST:
                hosts.append(value.decode("latin-1"))
            elif name == PREFIX and prefix is None:
                prefix = value
        scope[FORWARDED_HOSTS] = ",".join(hosts)
        return self._root_path if prefix is None else path_prefix(prefix.decode("latin-1").strip())


async def _refuse(scope: Scope, _receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close"})
        return
    sent = next(value for name, value in scope["headers"] if name == PREFIX)
    raise BadRequest(
        N_("expected a path such as /jurado, found %(found)r"), where="X-Forwarded-Prefix", found=sent.decode("latin-1")
    )


def _below(path: str, prefix: str) -> bool:
    return path.startswith(f"{prefix}/")


def _host(scope: Scope) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")


def _prefixed(prefix: str, host: str, send: Send) -> Send:
    """Put the prefix in front of the path in Location headers that lead to this service."""

    def outward(name: bytes, value: bytes) -> tuple[bytes, bytes]:
        if name.lower() != b"location":
            return name, value
        place = urlsplit(value.decode("latin-1"))
        if place.netloc not in {"", host}:
            return name, value
        return name, place._replace(path=prefix + place.path).geturl().encode("latin-1")

    async def send_prefixed(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [outward(name, value) for name, value in message.get("headers", ())]}
        await send(message)

    return send_prefixed

"""Replies whose bytes exist already: nothing is encoded or looked up for them (guarantee 6)."""

from collections.abc import Sequence

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

CACHING = ((b"cache-control", b"no-cache"), (b"vary", b"Authorization, Cookie, Accept-Encoding"))


class WrittenReply(Response):
    """A reply made of headers and bytes; may be sent often."""

    def __init__(self, headers: Sequence[tuple[bytes, bytes]], body: bytes = b"", status_code: int = 200) -> None:
        self.status_code = status_code
        self.body = body
        self.raw_headers = [*headers, (b"content-length", b"%d" % len(body))] if status_code == 200 else list(headers)
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; with a copy of the headers, to which the layers around add theirs."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": [*self.raw_headers]})
        await send({"type": "http.response.body", "body": self.body})


def wants_gzip(request: Request) -> bool:
    """Whether the client takes compressed replies."""
    return b"gzip" in dict(request.scope["headers"]).get(b"accept-encoding", b"")


def has_version(request: Request, tag: bytes) -> bool:
    """Whether the client has the version with this ETag already."""
    return tag in dict(request.scope["headers"]).get(b"if-none-match", b"")


def written(request: Request, kind: bytes, tag: bytes, plain: bytes, zipped: bytes | None) -> WrittenReply:
    """The reply with a version: compressed if the client takes it and it is given, and 304 if the client has it."""
    headers = [*CACHING, (b"etag", tag)]
    if has_version(request, tag):
        return WrittenReply(headers, status_code=304)
    headers.append((b"content-type", kind))
    if zipped is None or not wants_gzip(request):
        return WrittenReply(headers, plain)
    return WrittenReply([*headers, (b"content-encoding", b"gzip")], zipped)

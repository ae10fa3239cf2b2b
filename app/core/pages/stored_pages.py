"""Pages that all readers of a kind have in common until a day is over: made and zipped once, then sent as stored."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from hashlib import sha256

from cachetools import LRUCache
from fastapi import Request, Response

from app.accounts.service.viewer import Viewer
from app.core.pages.headers import takes_gzip
from app.core.pages.pages import reader_values
from app.daily.service.days import today

PAGES_KEPT = 256
LEVEL = 6


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page's zipped bytes, the digest of its plain ones, its headers, and the template of the route that made it."""

    zipped: bytes
    tag: str
    headers: dict[str, str]
    route: str

    def reply(self, request: Request) -> Response:
        """The page, or 304 without a body where the reader has it already."""
        headers = {**self.headers, "ETag": self.tag, "Vary": f"{self.headers['Vary']}, Accept-Encoding"}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(None, 304, headers)
        if not takes_gzip(request):
            return Response(gzip.decompress(self.zipped), headers=headers, media_type="text/html")
        return Response(self.zipped, headers={**headers, "Content-Encoding": "gzip"}, media_type="text/html")


class StoredPages:
    """The last pages that were asked for, of this day. For the event loop alone."""

    def __init__(self) -> None:
        self._pages: LRUCache[Hashable, StoredPage] = LRUCache(PAGES_KEPT)

    def at_hand(self, request: Request, viewer: Viewer) -> StoredPage | None:
        """The page that a request asks for, if it is stored."""
        return self._pages.get(_key(request, viewer))

    def page(self, request: Request, viewer: Viewer, make: Callable[[], Response]) -> Response:
        """The page that a request asks for; `make` must use nothing of the viewer but what is in the key."""
        key = _key(request, viewer)  # before it is made: what a day ends meanwhile is not asked for again
        stored = self._pages.get(key)
        if stored is None:
            made = make()
            body, of_body = bytes(made.body), ("content-length", "content-type")
            headers = {name.title(): value for name, value in made.headers.items() if name not in of_body}
            tag = f'"{sha256(body).hexdigest()[:32]}"'
            stored = StoredPage(gzip.compress(body, LEVEL, mtime=0), tag, headers, request.scope["route"].path)
            self._pages[key] = stored
        return stored.reply(request)


def _key(request: Request, viewer: Viewer) -> Hashable:
    """The day, the address with all that the reader prefers, and the links that the frame of pages has for a viewer."""
    return today(), tuple(reader_values(request).items()), viewer.logged_in, viewer.judges_all or viewer.grants.any

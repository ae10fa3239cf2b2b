"""CLICS file references: logos, banners and photos, sent as base64, kept by their content, shown with where they are.

What is kept of one is its JSON with `sha256` in place of `href`; one that lies elsewhere keeps its `href`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from app.services.bodies import Body, Line, found
from app.services.images import MOST_PIXELS, measure
from app.storage.files import FileStore

IMAGES = frozenset({"image/png", "image/jpeg", "image/svg+xml"})
EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "application/zip": "zip",
    "text/plain": "txt",
}
OF_IMAGES = frozenset({"logo", "banner", "photo", "country_flag", "country_subdivision_flag"})
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]
Tag = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
Kept = dict[str, Any]


class FileBody(Body):
    """A file sent along (`data`, base64), kept from before (its `filename` alone), or lying elsewhere (`href`)."""

    filename: FileName | None = None
    mime: Line | None = None
    data: str | None = Field(None, description="base64 of the file")
    href: Line | None = None
    hash: Line | None = None
    width: int | None = Field(None, ge=1, le=MOST_PIXELS)
    height: int | None = Field(None, ge=1, le=MOST_PIXELS)
    tag: list[Tag] = Field(default_factory=list)

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if self.data is None and self.filename is None:
            raise ValueError("data: expected the file in base64, found nothing")
        return self


Files = list[FileBody] | None


def keep(
    files: FileStore, name: str, bodies: Sequence[FileBody], old: Sequence[Kept], where: str
) -> tuple[list[Kept], list[dict[str, str]]]:
    """Keep the files of one property; also returns what is wrong with them.

    `old` is what the property holds: a reference without data, to a file of that name, leaves it there.
    """
    there = {each["filename"]: each for each in old}
    kept: list[Kept] = []
    faults: list[dict[str, str]] = []
    for at, body in enumerate(bodies):
        place = f"{where}.{name}[{at}]"
        one = _kept(files, name, body, there, place)
        (faults if "where" in one else kept).append(one)
    names = [each["filename"] for each in kept]
    faults += [
        found(f"{where}.{name}", "different file names", repr(each)) for each in {*names} if names.count(each) > 1
    ]
    return kept, faults


def _kept(files: FileStore, name: str, body: FileBody, there: Mapping[str, Kept], place: str) -> dict[str, Any]:
    if body.data is not None:
        return _sent(files, name, body, place)
    known = there.get(str(body.filename))
    if known is not None and "sha256" in known:
        return {**known, **({"tag": body.tag} if body.tag else {})}
    if body.href is None or not body.href.startswith(("http://", "https://")):
        return found(place, "data, or the href of a file that lies elsewhere", body.href or "neither")
    if body.mime is None or (name in OF_IMAGES and body.mime not in IMAGES):
        return found(f"{place}.mime", "the mime type", repr(body.mime))
    if body.mime in IMAGES and None in (body.width, body.height):
        return found(place, "width and height of an image", "nothing")
    return {name: value for name, value in body.model_dump(exclude={"data"}).items() if value not in (None, [])}


def _sent(files: FileStore, name: str, body: FileBody, place: str) -> dict[str, Any]:
    try:
        data = base64.b64decode(body.data or "", validate=True)
    except (binascii.Error, ValueError):
        return found(f"{place}.data", "base64", "something else")
    image = measure(data)
    if name in OF_IMAGES and image is None:
        return found(f"{place}.data", "a PNG, JPEG or SVG image", f"{len(data)} other bytes")
    mime = image.mime if image is not None else body.mime
    if mime is None or (body.mime is not None and body.mime != mime):
        return found(f"{place}.mime", mime or "the mime type of what is no image", repr(body.mime))
    size = f".{image.width}x{image.height}" if image is not None else ""
    kept: dict[str, Any] = {
        "filename": body.filename or f"{name}{size}.{EXTENSIONS.get(mime, 'bin')}",
        "hash": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        "mime": mime,
        "sha256": files.keep(data),
    }
    if image is not None:
        # The viewport of an SVG is whatever it is drawn in: a size that is given says more than we can see.
        svg = image.mime == "image/svg+xml"
        kept["width"] = body.width if svg and body.width else image.width
        kept["height"] = body.height if svg and body.height else image.height
    return {**kept, "tag": body.tag} if body.tag else kept


def shown(address: str, name: str, kept: Sequence[Kept]) -> list[dict[str, Any]]:
    """The references of one property as CLICS shows them; `address` is that of the object they are in."""
    found = []
    for each in kept:
        href = each.get("href") or f"{address}/{name}/{each['filename']}"
        found.append({"href": href, **{key: value for key, value in each.items() if key not in {"sha256", "href"}}})
    return found

"""CLICS file references: logos, banners and photos, sent as base64, kept by their content, shown with where they are.

What is kept of one is its JSON with `sha256` in place of `href`; one that lies elsewhere keeps its `href`.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Required, Self, TypedDict, cast

from pydantic import Field, StringConstraints, model_validator

from app.core.bodies import Body, Line, mismatch
from app.core.files.files import FileStore
from app.core.images import MOST_PIXELS, measure
from app.core.messages import N_, Fault, Message, Text, WrongProperty, describe_pattern

IMAGES = frozenset({"image/png", "image/jpeg", "image/svg+xml"})
EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "application/zip": "zip",
    "text/plain": "txt",
}
OF_IMAGES = frozenset({"logo", "banner", "photo", "country_flag", "country_subdivision_flag"})
FileName = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(
            r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$",
            Message(N_("a file name of at most 100 letters, digits, dots, hyphens or underscores")),
        )
    ),
]
Tag = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(
            r"^[A-Za-z0-9_-]{1,40}$", Message(N_("at most 40 letters, digits, hyphens or underscores"))
        )
    ),
]


class FileReference(TypedDict, total=False):
    """A file as CLICS shows it; sizes are those of images."""

    href: str
    filename: Required[str]
    hash: str
    mime: str
    width: int
    height: int
    tag: list[str]


class StoredReference(FileReference, total=False):
    """A file as an object keeps it: with `sha256` in place of `href`, unless it lies elsewhere."""

    sha256: str


class _Wrong(Exception):
    """A file that cannot be kept."""

    def __init__(self, where: str, expected: Text, what: Text) -> None:
        super().__init__(where)
        self.fault = mismatch(where, expected, what)


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
            raise WrongProperty(N_("expected the file in base64, found nothing"), where="data")
        return self


Files = list[FileBody] | None


def keep(
    files: FileStore, name: str, bodies: Sequence[FileBody], old: Sequence[StoredReference], where: str
) -> tuple[list[StoredReference], list[Fault]]:
    """Keep the files of one property; also returns what is wrong with them.

    `old` is what the property holds: a reference without data, to a file of that name, leaves it there.
    """
    known = {each["filename"]: each for each in old}
    references: list[StoredReference] = []
    faults: list[Fault] = []
    for at, body in enumerate(bodies):
        try:
            references.append(_reference(files, name, body, known, f"{where}.{name}[{at}]"))
        except _Wrong as wrong:
            faults.append(wrong.fault)
    names = [each["filename"] for each in references]
    faults += [
        mismatch(f"{where}.{name}", N_("different file names"), repr(each))
        for each in {*names}
        if names.count(each) > 1
    ]
    return references, faults


def _reference(
    files: FileStore, name: str, body: FileBody, known: Mapping[str, StoredReference], place: str
) -> StoredReference:
    if body.data is not None:
        return _sent(files, name, body, place)
    old = known.get(str(body.filename))
    if old is not None and "sha256" in old:
        return {**old, "tag": body.tag} if body.tag else {**old}
    if body.href is None or not body.href.startswith(("http://", "https://")):
        raise _Wrong(place, "data, or the href of a file that lies elsewhere", body.href or "neither")
    if body.mime is None or (name in OF_IMAGES and body.mime not in IMAGES):
        raise _Wrong(f"{place}.mime", "the mime type", repr(body.mime))
    if body.mime in IMAGES and None in (body.width, body.height):
        raise _Wrong(place, "width and height of an image", "nothing")
    given = {name: value for name, value in body.model_dump(exclude={"data"}).items() if value not in (None, [])}
    return cast(StoredReference, given)  # the body's fields without the data are those of a file that lies elsewhere


def _sent(files: FileStore, name: str, body: FileBody, place: str) -> StoredReference:
    try:
        data = base64.b64decode(body.data or "", validate=True)
    except (binascii.Error, ValueError):
        raise _Wrong(f"{place}.data", "base64", "something else") from None
    image = measure(data)
    if name in OF_IMAGES and image is None:
        raise _Wrong(f"{place}.data", "a PNG, JPEG or SVG image", f"{len(data)} other bytes")
    mime = image.mime if image is not None else body.mime
    if mime is None or (body.mime is not None and body.mime != mime):
        raise _Wrong(f"{place}.mime", mime or "the mime type of what is no image", repr(body.mime))
    size = f".{image.width}x{image.height}" if image is not None else ""
    file: StoredReference = {
        "filename": body.filename or f"{name}{size}.{EXTENSIONS.get(mime, 'bin')}",
        "hash": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        "mime": mime,
        "sha256": files.keep(data),
    }
    if image is not None:
        # The viewport of an SVG is whatever it is drawn in: a size that is given says more than we can see.
        svg = image.mime == "image/svg+xml"
        file["width"] = body.width if svg and body.width else image.width
        file["height"] = body.height if svg and body.height else image.height
    return {**file, "tag": body.tag} if body.tag else file


def shown(address: str, name: str, references: Sequence[StoredReference]) -> list[FileReference]:
    """The references of one property as CLICS shows them; `address` is that of the object they are in."""
    return [_shown(each, f"{address}/{name}/{each['filename']}") for each in references]


def _shown(file: StoredReference, address: str) -> FileReference:
    rest = {key: value for key, value in file.items() if key not in {"sha256", "href"}}
    return cast(FileReference, {"href": file.get("href") or address, **rest})  # `rest` has its other keys

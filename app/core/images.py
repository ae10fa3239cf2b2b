"""Kind and size of images in bytes: PNG, JPEG and SVG, the kinds that CLICS knows."""

import re
import struct
from contextlib import suppress
from dataclasses import dataclass
from xml.parsers.expat import ExpatError, ParserCreate

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8"
STARTS_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})
# Names of the root element, which programs that draw by hand often leave without the namespace.
SVG = frozenset({"svg", "http://www.w3.org/2000/svg svg"})
SIDE = re.compile(r"\s*+([0-9]++(?:\.[0-9]++)?)\s*+(?:px\s*+)?")
VIEW_BOX = re.compile(r"\s*[-0-9.eE]+[\s,]+[-0-9.eE]+[\s,]+([0-9.]+)[\s,]+([0-9.]+)\s*")
# Bytes in which an SVG's first tag must end.
HEAD = 64 * 1024
MOST_PIXELS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Image:
    """An image's type, and its sides in pixels (of an SVG: in what it is drawn in)."""

    mime: str
    width: int
    height: int


def measure(data: bytes) -> Image | None:
    """Look at the bytes; None where they are no image that CLICS knows, or a broken one."""
    if data.startswith(PNG):
        return _png(data)
    if data.startswith(JPEG):
        return _jpeg(data)
    return _svg(data[:HEAD])


def _png(data: bytes) -> Image | None:
    if len(data) < 24 or data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", data[16:24])
    return _image("image/png", width, height)


def _jpeg(data: bytes) -> Image | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in STARTS_OF_FRAME:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return _image("image/jpeg", width, height)
        at += 2 if marker in WITHOUT_LENGTH else 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _svg(head: bytes) -> Image | None:
    sides = _root(head)
    if sides is None:
        return None
    width, height = (SIDE.fullmatch(sides.get(name, "")) for name in ("width", "height"))
    if width is not None and height is not None:
        return _drawing(width[1], height[1])
    box = VIEW_BOX.fullmatch(sides.get("viewBox", ""))
    if box is None:
        return Image("image/svg+xml", 1, 1)  # drawn at any size: only the ratio would matter, and it has none
    return _drawing(box[1], box[2])


def _root(head: bytes) -> dict[str, str] | None:
    """The attributes of the root element of an SVG; None for any other document, and for one that declares entities."""
    roots: list[tuple[str, dict[str, str]]] = []

    def first(name: str, attributes: dict[str, str]) -> None:
        roots.append((name, attributes))
        parser.StartElementHandler = None

    def refuse(*_: object) -> None:
        raise ValueError("entities are no part of an image: they may grow without bound")

    parser = ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = first
    parser.EntityDeclHandler = refuse
    with suppress(ExpatError, ValueError, LookupError):  # a fault below the root, or of the cut, comes after it
        parser.Parse(head, False)
    return roots[0][1] if roots and roots[0][0] in SVG else None


def _drawing(width: str, height: str) -> Image | None:
    try:
        return _image("image/svg+xml", round(float(width)), round(float(height)))
    except (ValueError, OverflowError):  # the latter where there are so many digits that it is infinite
        return None


def _image(mime: str, width: int, height: int) -> Image | None:
    return Image(mime, width, height) if 0 < width <= MOST_PIXELS and 0 < height <= MOST_PIXELS else None

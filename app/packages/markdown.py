"""Statements in Markdown: how they are parsed, and which images they show."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote, unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

MATH = re.compile(r"(\$\$?)(?!\s)((?:\\.|[^$\\])+?)(?<!\s)\1")
SHOWN = re.compile(
    r"(?P<ticks>`++)"
    r"|(?P<before>!\[[^\[\]\n]*+\]\(\s*+|^ {0,3}\[[^\]\n]++\]:\s*+)(?:<(?P<angled>[^<>\n]++)>|(?P<plain>[^\s()<>]++))"
)
"""What begins code in a line, an image with its address, or the definition of an address that images refer to."""
TICKS = re.compile("`++")
CODE = {"fence", "code_block"}
FOLDER = "statement"
IMAGE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
"""The images that statements may show, by the lower-case ending of their names."""


@dataclass(frozen=True, slots=True)
class ImageLink:
    """An image in a statement: the line (1-based) of its paragraph, and its address as written."""

    line: int
    address: str


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables and math, without raw HTML."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.inline.ruler.before("escape", "math", _math)
    return markdown


def image_links(text: str) -> Iterator[ImageLink]:
    """Yield the images of a statement in order."""
    for token in parser().parse(text):
        for child in token.children or ():
            if child.type == "image":
                yield ImageLink(1 + (token.map[0] if token.map else 0), str(child.attrs.get("src", "")))


def render(text: str, image_folder: str) -> str:
    """HTML of a statement, with its images looked for in `image_folder`, relative to the page."""
    tokens = parser().parse(text)
    for token in tokens:
        for child in token.children or ():
            name = local_image(str(child.attrs.get("src", ""))) if child.type == "image" else None
            if name is not None:
                child.attrs["src"] = f"{image_folder}/{quote(name)}"
    return str(parser().renderer.render(tokens, parser().options, {}))


def with_image_folder(text: str, folder: str) -> str:
    """The Markdown of a statement with its images looked for in `folder`; code is left as it is."""
    lines = text.split("\n")
    code = {line for token in parser().parse(text) if token.type in CODE and token.map for line in range(*token.map)}

    return "\n".join(line if at in code else "".join(_moved(line, folder)) for at, line in enumerate(lines))


def _moved(line: str, folder: str) -> Iterator[str]:
    """The pieces of a line with the addresses of images moved; code between equally long runs of ticks stays."""
    closing: dict[int, list[int]] = {}
    for run in reversed(list(TICKS.finditer(line))):
        closing.setdefault(len(run[0]), []).append(run.end())
    at = 0
    while (match := SHOWN.search(line, at)) is not None:
        end = match.end()
        if match["ticks"] is not None:
            ends = closing[len(match[0])]
            while ends and ends[-1] <= end:
                ends.pop()
            end = ends[-1] if ends else end
            yield line[at:end]
        else:
            name = local_image(match["angled"] or match["plain"])
            moves = name is not None and image_type(name) is not None
            yield line[at : match.start()]
            yield f"{match['before']}{folder}/{quote(str(name))}" if moves else match[0]
        at = end
    yield line[at:]


def local_image(address: str) -> str | None:
    """The path below `statement/` that an address of an image means, or None where it leads elsewhere.

    `figures/a%20b.svg?x#y` is `figures/a b.svg`; a scheme, a host, an absolute path and `..` above the folder lead
    elsewhere.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    path = posixpath.normpath(unquote(parts.path)) if parts.path else ""
    if parts.scheme or parts.netloc or path in {"", "."} or path.startswith(("/", "../")) or path == "..":
        return None
    return path


def image_type(name: str) -> str | None:
    """The media type of an image by its name; None for what statements do not show."""
    return IMAGE_TYPES.get(posixpath.splitext(name)[1].lower())


def _math(state: StateInline, silent: bool) -> bool:
    """Keep `$...$` and `$$...$$` together as one piece of text, so that `_` and `*` in formulas stay what they are."""
    formula = MATH.match(state.src, state.pos)
    if formula is None:
        return False
    if not silent:
        token = state.push("text", "", 0)
        token.content = formula[0]
    state.pos = formula.end()
    return True

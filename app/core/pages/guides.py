"""The guides of docs/guides as pages: a list with a search, and each guide with links that lead to pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from fastapi import Response
from fastapi.responses import FileResponse, HTMLResponse
from markupsafe import Markup

from app.core.messages import N_, Message, NotFound, did_you_mean
from app.core.pages.pages import HEADERS
from app.core.pages.visits import Visit
from app.core.shipped import shipped
from app.packages.markdown import parser

MOST_FOUND = 50
LONGEST_EXCERPT = 240
IMAGES = "screenshots"
# Marks of Markdown in a line, and the addresses of links.
MARKUP = re.compile(r"\]\([^()]*\)|[`*\[\]]|^[#>|-]+ ?")
NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def folder() -> Path:
    """Return the folder of the guides."""
    return shipped("docs/guides")


def names() -> list[str]:
    """The names of all guides."""
    return sorted(path.stem for path in folder().glob("*.md"))


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a guide with the text below it, both without markup; the first one is the guide's beginning."""

    name: str
    title: str
    heading: str
    text: str

    @property
    def anchor(self) -> str:
        """The id of the heading."""
        return anchor(self.heading)

    @property
    def summary(self) -> str:
        """The first sentence of the text."""
        return self.text.strip().partition("\n\n")[0].replace("\n", " ").partition(". ")[0].rstrip(".:") + "."

    def has(self, words: Sequence[str]) -> bool:
        """Whether the heading and the text have all words, which are in lower case."""
        return all(word in f"{self.heading}\n{self.text}".casefold() for word in words)

    def excerpt(self, words: Sequence[str]) -> str:
        """The first line that has one of the words, or the summary."""
        lines = (line for line in self.text.splitlines() if any(word in line.casefold() for word in words))
        return next(lines, self.summary)[:LONGEST_EXCERPT]


def anchor(heading: str) -> str:
    """Return the id of a heading, as GitHub forms it."""
    return NOT_IN_ANCHORS.sub("", heading.lower()).replace(" ", "-")


def sections(name: str) -> list[Section]:
    """The sections of a guide in order."""
    parts, in_code = list[list[str]](), False
    for line in (folder() / f"{name}.md").read_text(encoding="utf-8").splitlines():
        in_code ^= line.startswith("```")
        if line.startswith("#") and not in_code:
            parts.append([])
        parts[-1].append(MARKUP.sub("", line))
    return [Section(name, parts[0][0], heading, "\n".join(lines)) for heading, *lines in parts]


def guides_page(visit: Visit, find: str = "") -> HTMLResponse:
    """All guides, or the sections that have all words to `find`, those with one in their headings first."""
    guides, words = {name: sections(name) for name in names()}, find.casefold().split()[:10]
    matches = [each for guide in guides.values() for each in guide if words and each.has(words)]
    matches.sort(key=lambda each: not any(word in each.heading.casefold() for word in words))
    return visit.page("guides.html", guides=guides, find=find, words=words, matches=matches[:MOST_FOUND])


def guide_page(visit: Visit, name: str) -> HTMLResponse:
    """A guide: its headings have ids, and its links to files that no page shows are plain text."""
    if name not in (known := names()):
        raise NotFound(did_you_mean(Message(N_("no guide %(guide)r"), guide=name[:100]), name, known))
    markdown, root = parser(), visit.request.scope.get("root_path", "")
    tokens = markdown.parse((folder() / f"{name}.md").read_text(encoding="utf-8"))
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(MARKUP.sub("", following.content)))
        for child in token.children or ():
            for key in {"href", "src"} & child.attrs.keys():
                address = address_of(str(child.attrs.pop(key)), root)
                child.attrs |= {key: address} if address else {}
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    for scrolling in ("pre", "table"):
        html = html.replace(f"<{scrolling}>", f'<{scrolling} tabindex="0">')
    return visit.page("guide.html", sections=sections(name), html=Markup(html))  # its parser lets no HTML through


def address_of(address: str, root: str) -> str:
    """The address of a link or an image of a guide on its page; empty if no page shows it."""
    path = PurePosixPath(address.partition("#")[0])
    if path.suffix == ".md" and len(path.parts) == 1:
        return f"{root}/guides/{address.replace('.md', '', 1)}"
    if path.parent.name == IMAGES:
        return f"{root}/guides/images/{path.name}"
    return address if address.startswith(("#", "https://", "http://")) else ""


def guide_image(name: str) -> Response:
    """An image of the guides."""
    path = folder().parent / IMAGES / name
    if path.suffix != ".webp" or not path.is_file():
        raise NotFound(N_("no image %(image)r"), image=name[:100])
    return FileResponse(path, headers=HEADERS)

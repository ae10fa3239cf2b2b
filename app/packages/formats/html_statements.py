"""Statements of other judges in HTML, converted to Markdown: pages show no HTML of a package."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup
from markdownify import ATX, MarkdownConverter

UNSHOWN = ("head", "script", "style", "template")
DELIMITERS = re.compile(r"\\[()]|\\[\[\]]")


def to_markdown(data: bytes) -> bytes:
    r"""Convert an HTML statement to Markdown; formulas in `\(..\)` and `\[..\]` become `$..$` and `$$..$$`."""
    page = BeautifulSoup(data, "html.parser")
    title = page.find("h1")  # pages show the problem's name there
    for element in [*page.find_all(UNSHOWN), *([title] if title is not None else [])]:
        element.decompose()
    # Characters of formulas stay as they are: `$a_i * b$` is not text to be escaped.
    converter = MarkdownConverter(
        heading_style=ATX, escape_underscores=False, escape_asterisks=False, escape_misc=False
    )
    text = converter.convert_soup(page).strip()
    return (DELIMITERS.sub(lambda mark: "$" if mark[0] in ("\\(", "\\)") else "$$", text) + "\n").encode()

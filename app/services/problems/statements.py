"""Statements: which language, and Markdown with `$math$` made into safe HTML, the samples put in or at the end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape

import structlog

from app.grading.apart import RENDERER
from app.packages.errors import PackageErrors
from app.packages.markdown import TICKS, render

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.statements")

NEXT = "{{nextsample}}"
REMAINING = "{{remainingsamples}}"
PLACES = re.compile(f"({re.escape(NEXT)}|{re.escape(REMAINING)})")
MIMES = {"md": "text/html", "tex": "application/x-tex", "pdf": "application/pdf"}
WEIGHT = re.compile(r";\s*q=([01](?:\.\d{0,3})?)$")
WORDS = {
    "en": ("Sample input", "Sample output"),
    "es": ("Entrada de ejemplo", "Salida de ejemplo"),
    "ru": ("Пример ввода", "Пример вывода"),
    "sk": ("Príklad vstupu", "Príklad výstupu"),
}
IMAGE_FOLDER = "statement"
"""Where a statement's images are, as its page sees it."""
LARGEST_SHOWN = 20_000
QUICK = 16 * 1024
"""Characters that are rendered without another process: the slowest known take two seconds, usual ones 20 ms."""
SECONDS = 10.0
"""Processor time for rendering a statement with its samples."""
UNRENDERED = "This statement takes too long to render, so it is shown as it was written."


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample as shown: its name, input and answer."""

    name: str
    input: str
    answer: str


def choose_language(wanted: str | None, accepted: str, known: Sequence[str]) -> str:
    """The language asked for if it is known, else the first accepted one that is, else English, else the first.

    `accepted` is an Accept-Language header; `es-MX` finds `es`, and the other way round. `known` must not be empty.
    """
    asked = [wanted] if wanted else []
    weighted = [(-_weight(part), at, part.partition(";")[0].strip()) for at, part in enumerate(accepted.split(","))]
    asked += [language for weight, _, language in sorted(weighted) if language and weight < 0]
    for language in [*asked, "en"]:
        for candidate in known:
            if candidate.lower() == language.lower():
                return candidate
        for candidate in known:
            if candidate.lower().split("-")[0] == language.lower().split("-")[0]:
                return candidate
    return known[0]


def _weight(part: str) -> float:
    weight = WEIGHT.search(part.rstrip())
    return float(weight[1]) if weight else 1.0


def with_samples(text: str, samples: Sequence[Sample], language: str) -> str:
    """Put the samples where the statement wants them, and those left over at its end."""
    left = [sample_markdown(sample, language) for sample in samples]
    parts = PLACES.split(text)
    out: list[str] = []
    for part in parts:
        if part == NEXT:
            out.append(left.pop(0) if left else "")
        elif part == REMAINING:
            out.append("\n".join(left))
            left.clear()
        else:
            out.append(part)
    return "".join([*out, *(["\n", "\n".join(left)] if left else [])])


def sample_markdown(sample: Sample, language: str) -> str:
    """One sample as two fenced blocks under headings that name it."""
    given, expected = WORDS.get(language.split("-", maxsplit=1)[0], WORDS["en"])
    return (
        f"## {given} {sample.name}\n\n{_fenced(sample.input)}\n## {expected} {sample.name}\n\n{_fenced(sample.answer)}"
    )


def _fenced(text: str) -> str:
    shown = text if len(text) <= LARGEST_SHOWN else f"{text[:LARGEST_SHOWN]}\n..."
    longest = max((len(run) for run in TICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{shown.rstrip(chr(10))}\n{fence}\n"


def page(title: str, text: str, language: str) -> str:
    """A whole HTML document of a statement in Markdown; HTML in it is shown as text, never obeyed."""
    body = _body(title, text)
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head><meta charset="utf-8">'
        f"<title>{escape(title)}</title></head>\n<body>\n<h1>{escape(title)}</h1>\n{body}</body>\n</html>\n"
    )


@lru_cache(maxsize=64)
def _body(title: str, text: str) -> str:
    """The HTML of a statement, or its Markdown as plain text where rendering takes too long."""
    if len(text) <= QUICK:
        return render(text, IMAGE_FOLDER)
    try:
        return RENDERER.read(render, (text, IMAGE_FOLDER), SECONDS)
    except PackageErrors:
        log.warning("a statement takes too long to render", title=title, characters=len(text), seconds=SECONDS)
        return f"<p>{UNRENDERED}</p>\n<pre>{escape(text)}</pre>\n"


def title_of(names: Mapping[str, str], language: str) -> str:
    """The problem's name in a language, else in English, else any."""
    return names.get(language) or names.get("en") or next(iter(names.values()))

"""The problems of a contest as CLICS shows them, and their statements.

- Statements: which language, and Markdown with `$math$` made into safe HTML, the samples put in or at the end.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.schemas import Rule
from app.contests.service.visibility import the_problem
from app.core import faults, json_documents
from app.core.service import Service
from app.domain.contests import ScoredProblem
from app.packages.markdown import TICKS, render
from app.problems.queries import pins, scoring_input
from app.problems.queries import problems as stored
from app.programs.apart import RENDERER
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestProblemRow, ProblemRow, TestCaseRow

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
    "ja": ("入力例", "出力例"),
}
SOLUTIONS = {"en": "solution", "es": "solución", "ru": "решение", "sk": "riešenie", "ja": "解答"}
# The folder of a statement's images, as its page sees it.
IMAGE_FOLDER = "statement"
STYLE = (Path(__file__).parent.parent / "static" / "statement.css").read_text(encoding="utf-8")
LARGEST_SHOWN = 20_000
# Characters that are rendered without another process: the slowest known take two seconds, usual ones 20 ms.
QUICK = 16 * 1024
# Processor time for rendering a statement with its samples.
SECONDS = 10.0
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
    """A sample as two fenced blocks under headings that name it."""
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
    body = fragment(title, text, IMAGE_FOLDER)
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE}</style></head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}</body>\n</html>\n"
    )


@lru_cache(maxsize=64)
def fragment(title: str, text: str, folder: str, seconds: float = SECONDS) -> str:
    """The HTML of a statement, kept as the slowest take seconds (guarantee 6); images are in `folder`.

    Its Markdown as plain text where rendering takes too long.
    """
    if len(text) <= QUICK:
        return render(text, folder)
    try:
        return RENDERER.read(render, (text, folder), seconds)
    except faults.PackageErrors:
        log.warning("a statement takes too long to render", title=title, characters=len(text), seconds=seconds)
        return f"<p>{UNRENDERED}</p>\n<pre>{escape(text)}</pre>\n"


def title_of(names: Mapping[str, str], language: str) -> str:
    """The problem's name in a language, otherwise in English, otherwise any."""
    return names.get(language) or names.get("en") or next(iter(names.values()))


class Problem(BaseModel):
    """A CLICS problem; `rule` says how this contest scores it, `names` and `languages` are those of its statements.

    credits  names by contribution (authors, contributors, ...)
    sources  where it was used first: a name, and a url where there is one
    """

    model_config = ConfigDict(extra="allow")

    id: str
    uuid: str
    label: str
    name: str
    ordinal: int
    rgb: str | None = None
    color: str | None = None
    test_data_count: int
    max_score: float
    statement: list[dict[str, str]]
    package: list[dict[str, str]] | None = None
    names: dict[str, str]
    languages: list[str]
    rule: Rule
    credits: dict[str, list[str]]
    sources: list[dict[str, str]]
    license: str


def _document(viewer: Viewer, scored: ScoredProblem, entry: ContestProblemRow, row: ProblemRow, cases: int) -> Problem:
    document = Problem(
        id=row.id,
        uuid=row.uuid,
        label=entry.label,
        name=title_of(row.names, "en"),
        ordinal=entry.ordinal,
        test_data_count=cases,
        max_score=float(scored.rule.max_points),
        statement=[_reference(entry, language, file) for language, file in sorted(row.statements.items())],
        names=row.names,
        languages=sorted(row.statements),
        rule=Rule.of(scored.rule),
        credits=credited(row.metadata_),
        sources=[_source(each) for each in row.metadata_.get("source", [])],
        license=row.metadata_.get("license", "unknown"),
    )
    if entry.rgb is not None:
        document.rgb = entry.rgb
    if entry.color is not None:
        document.color = entry.color
    if viewer.sees_all:
        href = f"problems/{row.id}/package.zip"
        document.package = [{"href": href, "filename": f"{row.id}.zip", "mime": "application/zip"}]
    return document


def credited(metadata: json_documents.MetadataDocument) -> dict[str, list[str]]:
    """The names of those who are credited, without their addresses; translators of all languages together."""
    shown: dict[str, list[str]] = {}
    for deed, people in metadata.get("credits", {}).items():
        groups = list(people.values()) if isinstance(people, dict) else [people or []]
        if names := [person["name"] for group in groups for person in group]:
            shown[deed] = names
    return shown


def _source(source: json_documents.OriginDocument) -> dict[str, str]:
    url = source.get("url")
    return {"name": source["name"], **({} if url is None else {"url": url})}


def _reference(entry: ContestProblemRow, language: str, file: json_documents.StatementDocument) -> dict[str, str]:
    suffix = "html" if file["kind"] == "md" else file["kind"]
    return {
        "href": f"contests/{entry.contest_id}/problems/{entry.problem_id}/statement?lang={language}",
        "filename": f"{entry.label}.{language}.{suffix}",
        "mime": MIMES[file["kind"]],
    }


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[Problem]:
    """The problems this viewer may see, in order."""
    seen = {problem.id: problem for problem in snapshot.problems}
    counts = stored.case_counts(session)
    counts |= {each: len(ordinals) for each, ordinals in pins.ordinals(session, snapshot.contest.id).items()}
    return [
        _document(
            viewer, seen[row.id], entry, row, counts.get(row.id, 0) if viewer.sees_all else len(seen[row.id].cases)
        )
        for entry, row in scoring_input.entries(session, snapshot.contest.id)
        if row.id in seen
    ]


def problem(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str) -> Problem:
    """A problem of a contest; raises NotFound where the viewer does not see it."""
    the_problem(snapshot, problem_id)
    return next(each for each in documents(viewer, snapshot, session) if each.id == problem_id)


def samples(session: Session, service: Service, contest_id: str, problem_id: str) -> list[Sample]:
    """The samples of a contest's problem, as shown with its statement."""
    row = pins.row(session, contest_id, problem_id)
    return samples_of(service, row, pins.cases(session, contest_id, problem_id))


def samples_of(service: Service, row: ProblemRow, cases: Sequence[TestCaseRow]) -> list[Sample]:
    """The samples among the cases of a problem, as shown with its statement."""
    shown = []
    outputs = row.metadata_.get("sample_outputs", {})
    for case in cases:
        if case.group_name == "sample":
            digest = outputs.get(case.name, case.answer_sha256)
            expected = service.files.load(digest) if digest is not None else b""
            given = service.files.load(case.input_sha256)
            shown.append(Sample(case.name, given.decode(errors="replace"), expected.decode(errors="replace")))
    return shown

"""The problems of a contest as CLICS shows them, and their statements."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.schemas.settings import Rule
from app.contests.service.visibility import the_problem
from app.core.json_documents import MetadataDocument, OriginDocument, StatementDocument
from app.core.service import Service
from app.domain.contests import ScoredProblem
from app.problems.queries import pins
from app.problems.queries import problems as stored
from app.problems.queries.scoring_input import entries
from app.problems.service.statements import MIMES, Sample, title_of
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestProblemRow, ProblemRow


class Problem(BaseModel):
    """A CLICS problem; `rule` says how this contest scores it, `names` and `languages` what there is to read.

    credits  the names of those who made it, by what they did (authors, contributors, ...)
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


def credited(metadata: MetadataDocument) -> dict[str, list[str]]:
    """The names of those who are credited, without their addresses; translators of all languages together."""
    shown: dict[str, list[str]] = {}
    for deed, people in metadata.get("credits", {}).items():
        groups = list(people.values()) if isinstance(people, dict) else [people or []]
        if names := [person["name"] for group in groups for person in group]:
            shown[deed] = names
    return shown


def _source(source: OriginDocument) -> dict[str, str]:
    url = source.get("url")
    return {"name": source["name"], **({} if url is None else {"url": url})}


def _reference(entry: ContestProblemRow, language: str, file: StatementDocument) -> dict[str, str]:
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
        for entry, row in entries(session, snapshot.contest.id)
        if row.id in seen
    ]


def problem(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str) -> Problem:
    """A problem of a contest; raises NotFound where the viewer does not see it."""
    the_problem(snapshot, problem_id)
    return next(each for each in documents(viewer, snapshot, session) if each.id == problem_id)


def samples(session: Session, service: Service, contest_id: str, problem_id: str) -> list[Sample]:
    """The samples of a contest's problem, as shown with its statement."""
    shown = []
    row = pins.row(session, contest_id, problem_id)
    outputs = row.metadata_.get("sample_outputs", {}) if row is not None else {}
    for case in pins.cases(session, contest_id, problem_id):
        if case.group_name == "sample":
            digest = outputs.get(case.name, case.answer_sha256)
            expected = service.files.load(digest) if digest is not None else b""
            given = service.files.load(case.input_sha256)
            shown.append(Sample(case.name, given.decode(errors="replace"), expected.decode(errors="replace")))
    return shown

"""The problems of a contest as CLICS shows them, and their statements."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from app.api import statements
from app.api.auth import Viewer
from app.api.deps import CurrentViewer, Reading, TheService
from app.api.downloads import ANY_FILE, BINARY, WORDS
from app.api.errors import NotFound
from app.api.gated import GatedRoute
from app.api.lists.reply import Small, TheLists
from app.api.named import did_you_mean
from app.api.standings import TheStanding, the_problem
from app.api.statements import Sample, title_of
from app.domain.contests import ScoredProblem
from app.domain.rules import write_rule
from app.grading.boards import Standing
from app.packages.markdown import image_type, with_image_folder
from app.service import Service
from app.storage import problems as stored
from app.storage.scored import entries
from app.storage.tables import ContestProblemRow, ProblemRow

router = APIRouter(route_class=GatedRoute, tags=["problems"])
MIMES = {"md": "text/html", "tex": "application/x-tex", "pdf": "application/pdf"}


class Problem(BaseModel):
    """A CLICS problem; `rule` says how this contest scores it, `names` and `languages` what there is to read."""

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
    rule: dict[str, Any]


def _document(
    viewer: Viewer, scored: ScoredProblem, entry: ContestProblemRow, row: ProblemRow, cases: int
) -> dict[str, Any]:
    document = {
        "id": row.id,
        "uuid": row.uuid,
        "label": entry.label,
        "name": title_of(row.names, "en"),
        "ordinal": entry.ordinal,
        "test_data_count": cases,
        "max_score": float(scored.rule.max_points),
        "statement": [_reference(entry, language, kept) for language, kept in sorted(row.statements.items())],
        "names": row.names,
        "languages": sorted(row.statements),
        "rule": write_rule(scored.rule),
    }
    for key in ("rgb", "color"):
        if (value := getattr(entry, key)) is not None:
            document[key] = value
    if viewer.sees_all:
        href = f"problems/{row.id}/package.zip"
        document["package"] = [{"href": href, "filename": f"{row.id}.zip", "mime": "application/zip"}]
    return document


def _reference(entry: ContestProblemRow, language: str, kept: dict[str, str]) -> dict[str, str]:
    suffix = "html" if kept["kind"] == "md" else kept["kind"]
    return {
        "href": f"contests/{entry.contest_id}/problems/{entry.problem_id}/statement?lang={language}",
        "filename": f"{entry.label}.{language}.{suffix}",
        "mime": MIMES[kept["kind"]],
    }


def documents(viewer: Viewer, standing: Standing, session: Session) -> list[dict[str, Any]]:
    """The problems this viewer may see, in order."""
    seen = {problem.id: problem for problem in standing.problems}
    counts = stored.case_counts(session)
    return [
        _document(
            viewer, seen[row.id], entry, row, counts.get(row.id, 0) if viewer.sees_all else len(seen[row.id].cases)
        )
        for entry, row in entries(session, standing.contest.id)
        if row.id in seen
    ]


def _has_begun(viewer: Viewer, standing: Standing) -> bool:
    """Teams with a clock of their own see the problems before everybody does."""
    return viewer.team_id in standing.contest.participations


PROBLEMS = Small("problems", Problem, documents, sparse=True, special=_has_begun)


@router.get(
    "/contests/{contest_id}/problems",
    response_model=list[Problem],
    response_model_exclude_unset=True,
    summary="The contest's problems",
)
async def list_contest_problems(viewer: CurrentViewer, standing: TheStanding, lists: TheLists) -> Any:
    """In order; none before the start, unless for judges."""
    return await lists.small(PROBLEMS, viewer, standing)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}",
    response_model=Problem,
    response_model_exclude_unset=True,
    summary="One problem",
)
def get_contest_problem(problem_id: str, viewer: CurrentViewer, standing: TheStanding, session: Reading) -> Any:
    """Its name, its points and how they are given."""
    the_problem(standing, problem_id)
    return next(each for each in documents(viewer, standing, session) if each["id"] == problem_id)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/statement",
    response_class=Response,
    responses={200: {"content": {"text/html": WORDS, "text/markdown": WORDS, "application/pdf": BINARY}}},
    summary="The statement",
)
def get_statement(
    request: Request,
    problem_id: str,
    standing: TheStanding,
    session: Reading,
    service: TheService,
    lang: Annotated[str | None, Query(description="a language such as es; else by Accept-Language")] = None,
) -> Response:
    """HTML, or Markdown where Accept asks for text/markdown; in another language where the wanted one is missing."""
    the_problem(standing, problem_id)
    row = stored.get(session, problem_id)
    if row is None or not row.statements:
        raise NotFound(f"problem {problem_id!r} has no statement")
    language = statements.choose_language(lang, request.headers.get("accept-language", ""), sorted(row.statements))
    kept = row.statements[language]
    data = service.files.load(kept["sha256"])
    headers = {"Content-Language": language, "Vary": "Accept, Accept-Language, Authorization"}
    if kept["kind"] != "md":
        return Response(data, media_type=MIMES[kept["kind"]], headers=headers)
    text = statements.with_samples(data.decode(), samples(session, service, problem_id), language)
    title = title_of(row.names, language)
    if "text/markdown" in request.headers.get("accept", ""):
        text = with_image_folder(text, _address_of(request))
        return Response(f"# {title}\n\n{text}", media_type="text/markdown; charset=utf-8", headers=headers)
    headers["Content-Security-Policy"] = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'"
    return Response(statements.page(title, text, language), media_type="text/html; charset=utf-8", headers=headers)


def _address_of(request: Request) -> str:
    """The whole address that was asked, with the path prefix, without the query."""
    return f"{request.url.scheme}://{request.url.netloc}{request.scope.get('root_path', '')}{request.url.path}"


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/statement/{path:path}",
    response_class=Response,
    responses={**ANY_FILE, 304: {"description": "the client has it already"}},
    summary="An image of the statement",
)
def get_statement_image(
    request: Request, problem_id: str, path: str, standing: TheStanding, session: Reading, service: TheService
) -> Response:
    """One that the statement shows in some language, for those who may read the statement."""
    the_problem(standing, problem_id)
    row = stored.get(session, problem_id)
    by_language = [] if row is None else [kept.get("images", {}) for kept in row.statements.values()]
    images = {name: sha256 for images in by_language for name, sha256 in images.items()}
    sha256, media_type = images.get(path), image_type(path)
    if sha256 is None or media_type is None:
        raise NotFound(f"the statement of problem {problem_id!r} has no image {path!r}{did_you_mean(path, images)}")
    headers = {
        "ETag": f'"{sha256}"',
        "Cache-Control": "private, no-cache",  # asked for again each time: the reader may have lost the right to it
        "Vary": "Authorization",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",  # an SVG may hold scripts
    }
    if sha256 in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(service.files.load(sha256), media_type=media_type, headers=headers)


def samples(session: Session, service: Service, problem_id: str) -> list[Sample]:
    """The samples of a problem, as shown with its statement."""
    found = []
    row = stored.get(session, problem_id)
    outputs = row.metadata_.get("sample_outputs", {}) if row is not None else {}
    for case in stored.test_cases(session, problem_id):
        if case.group_name == "sample":
            shown = outputs.get(case.name, case.answer_sha256)
            expected = service.files.load(shown) if shown is not None else b""
            given = service.files.load(case.input_sha256)
            found.append(Sample(case.name, given.decode(errors="replace"), expected.decode(errors="replace")))
    return found

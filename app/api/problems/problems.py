"""HTTP routes: the problems of a contest as CLICS shows them, and their statements."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from app.api.http.deps import CurrentViewer, Reading, TheService
from app.api.http.downloads import ANY_FILE, BINARY, WORDS
from app.api.http.gated import GatedRoute
from app.api.http.lists.reply import Small, TheLists
from app.api.http.snapshot import TheSnapshot
from app.packages.markdown import image_type, with_image_folder
from app.services.errors import NotFound
from app.services.names import did_you_mean
from app.services.problems import statements
from app.services.problems.problems import MIMES, Problem, documents, has_begun, samples
from app.services.problems.statements import title_of
from app.services.visibility import the_problem
from app.storage import problems as stored

router = APIRouter(route_class=GatedRoute, tags=["problems"])
PROBLEMS = Small("problems", Problem, documents, sparse=True, special=has_begun)


@router.get(
    "/contests/{contest_id}/problems",
    response_model=list[Problem],
    response_model_exclude_unset=True,
    summary="The contest's problems",
)
async def list_contest_problems(viewer: CurrentViewer, snapshot: TheSnapshot, lists: TheLists) -> Any:
    """In order; none before the start, unless for judges."""
    return await lists.small(PROBLEMS, viewer, snapshot)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}",
    response_model=Problem,
    response_model_exclude_unset=True,
    summary="One problem",
)
def get_contest_problem(problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> Any:
    """Its name, its points and how they are given."""
    the_problem(snapshot, problem_id)
    return next(each for each in documents(viewer, snapshot, session) if each["id"] == problem_id)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/statement",
    response_class=Response,
    responses={200: {"content": {"text/html": WORDS, "text/markdown": WORDS, "application/pdf": BINARY}}},
    summary="The statement",
)
def get_statement(
    request: Request,
    problem_id: str,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
    lang: Annotated[str | None, Query(description="a language such as es; else by Accept-Language")] = None,
) -> Response:
    """HTML, or Markdown where Accept asks for text/markdown; in another language where the wanted one is missing."""
    the_problem(snapshot, problem_id)
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
    request: Request, problem_id: str, path: str, snapshot: TheSnapshot, session: Reading, service: TheService
) -> Response:
    """One that the statement shows in some language, for those who may read the statement."""
    the_problem(snapshot, problem_id)
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

"""HTTP routes: the problems of a contest as CLICS shows them, and their statements."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheService, TheSnapshot
from app.core.http.downloads import ANY_FILE, BINARY, WORDS
from app.core.http.lists import TheLists
from app.feed.service.collections import BY_NAME
from app.problems.service.problems import Problem, problem
from app.problems.service.shown_statements import HTML, Reader, Statement, solution, statement, statement_image

router = APIRouter(route_class=GatedRoute, tags=["problems"])
AS_TEXT: dict[int | str, dict[str, object]] = {
    200: {"content": {"text/html": WORDS, "text/markdown": WORDS, "application/pdf": BINARY}}
}


async def _reader(
    request: Request,
    problem_id: str,
    lang: Annotated[str | None, Query(description="a language such as es; default: by Accept-Language")] = None,
) -> Reader:
    """The reader's options, from the query and the headers."""
    wants_markdown = "text/markdown" in request.headers.get("accept", "")
    address = _statement_address(request, problem_id)
    return Reader(lang, request.headers.get("accept-language", ""), wants_markdown, address)


def _statement_address(request: Request, problem_id: str) -> str:
    """The whole address of the statement, with the path prefix: by the problem's id, also where its label was asked."""
    folder = request.url.path.rpartition("/problems/")[0]
    root = f"{request.url.scheme}://{request.url.netloc}{request.scope.get('root_path', '')}"
    return f"{root}{folder}/problems/{problem_id}/statement"


TheReader = Annotated[Reader, Depends(_reader)]


@router.get(
    "/contests/{contest_id}/problems",
    response_model=list[Problem],
    response_model_exclude_unset=True,
    summary="The contest's problems",
)
async def list_contest_problems(viewer: CurrentViewer, snapshot: TheSnapshot, lists: TheLists) -> Response:
    """In order; none before the start, unless for judges."""
    return await lists.small(BY_NAME["problems"], viewer, snapshot)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}",
    response_model=Problem,
    response_model_exclude_unset=True,
    summary="One problem",
)
def get_contest_problem(problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> Problem:
    """Its name, its points and how they are given."""
    return problem(viewer, snapshot, session, problem_id)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/statement",
    response_class=Response,
    responses=AS_TEXT,
    summary="The statement",
)
def get_statement(
    problem_id: str, snapshot: TheSnapshot, session: Reading, service: TheService, reader: TheReader
) -> Response:
    """HTML, or Markdown where Accept asks for text/markdown; in another language where the wanted one is missing."""
    return _reply(statement(service, snapshot, session, problem_id, reader))


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/solution",
    response_class=Response,
    responses=AS_TEXT,
    summary="The solution text",
)
def get_solution(
    problem_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
    reader: TheReader,
) -> Response:
    """As the statement; until every contest with the problem is over and its results are public, for judges alone."""
    return _reply(solution(service, viewer, snapshot, session, problem_id, reader))


def _reply(shown: Statement) -> Response:
    headers = {"Content-Language": shown.language, "Vary": "Accept, Accept-Language, Authorization"}
    if shown.media_type == HTML:
        headers["Content-Security-Policy"] = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'"
    return Response(shown.data, media_type=shown.media_type, headers=headers)


@router.get(
    "/contests/{contest_id}/problems/{problem_id}/statement/{path:path}",
    response_class=Response,
    responses={**ANY_FILE, 304: {"description": "the client has it already"}},
    summary="An image of the statement",
)
def get_statement_image(
    request: Request, problem_id: str, path: str, snapshot: TheSnapshot, session: Reading, service: TheService
) -> Response:
    """An image of the statement, for readers of the statement."""
    sha256, media_type = statement_image(snapshot, session, problem_id, path)
    headers = {
        "ETag": f'"{sha256}"',
        "Cache-Control": "private, no-cache",  # asked for again each time: the reader may have lost the right to it
        "Vary": "Authorization",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",  # an SVG may hold scripts
    }
    if sha256 in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(service.files.load(sha256), media_type=media_type, headers=headers)

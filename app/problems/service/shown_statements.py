"""The statement of a problem as a reader of a contest gets it, its images, and its solution text."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.names import did_you_mean
from app.contests.service.visibility import the_problem
from app.core.errors import Forbidden, NotFound
from app.core.messages import N_, Message
from app.core.service import Service
from app.packages.markdown import image_type, with_image_folder
from app.problems.queries import pins
from app.problems.service import statements
from app.problems.service.problems import samples
from app.problems.service.solution_rights import SolutionAccess, solution_access
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ProblemRow

HTML = "text/html; charset=utf-8"
MARKDOWN = "text/markdown; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader's options: a language or the header Accept-Language, and Markdown in place of HTML.

    address  of the statement: images in Markdown are named from there
    """

    language: str | None
    accepted_languages: str
    wants_markdown: bool
    address: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in one language, and its type; `is_made` where the server makes its HTML."""

    data: bytes
    media_type: str
    language: str

    @property
    def is_made(self) -> bool:
        """Whether it is HTML made of Markdown, rather than a file of the package."""
        return self.media_type == HTML


@dataclass(frozen=True, slots=True)
class StatementBody:
    """The text of a statement as HTML for a page around it, and its language; empty where it is a file."""

    html: str
    language: str


@dataclass(frozen=True, slots=True)
class StatementImage:
    """An image of a statement in the store."""

    sha256: str
    media_type: str


def statement(
    service: Service, snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader
) -> Statement:
    """The statement in the reader's language, or in another one where that is missing; raises NotFound."""
    row, language = _chosen(snapshot, session, problem_id, reader)
    file = row.statements[language]
    if file["kind"] != "md":
        return Statement(service.files.load(file["sha256"]), statements.MIMES[file["kind"]], language)
    text = _markdown(service, session, snapshot.contest.id, row, language)
    title = statements.title_of(row.names, language)
    if reader.wants_markdown:
        text = with_image_folder(text, reader.address)
        return Statement(f"# {title}\n\n{text}".encode(), MARKDOWN, language)
    return Statement(statements.page(title, text, language).encode(), HTML, language)


def statement_body(
    service: Service, snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader
) -> StatementBody:
    """The text of a statement for a page of ours, with images below the reader's address; raises NotFound."""
    row, language = _chosen(snapshot, session, problem_id, reader)
    if row.statements[language]["kind"] != "md":
        return StatementBody("", language)
    text = _markdown(service, session, snapshot.contest.id, row, language)
    title = statements.title_of(row.names, language)
    return StatementBody(statements.fragment(title, text, reader.address), language)


def _chosen(snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader) -> tuple[ProblemRow, str]:
    """The problem and the language of its statement for a reader; raises NotFound."""
    the_problem(snapshot, problem_id)
    row = pins.row(session, snapshot.contest.id, problem_id)
    if row is None or not row.statements:
        raise NotFound(N_("problem %(problem)r has no statement"), problem=problem_id)
    return row, statements.choose_language(reader.language, reader.accepted_languages, sorted(row.statements))


def _markdown(service: Service, session: Session, contest_id: str, row: ProblemRow, language: str) -> str:
    """A statement in Markdown with its samples."""
    text = service.files.load(row.statements[language]["sha256"]).decode()
    return statements.with_samples(text, samples(session, service, contest_id, row.id), language)


def solution(
    service: Service, viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader
) -> Statement:
    """The solution text in the reader's language, or in another one where that is missing; raises NotFound.

    Raises Forbidden, whether or not there is a text, while a contest that the viewer sees withholds it.
    """
    the_problem(snapshot, problem_id)
    access = solution_access(viewer, session, problem_id)
    if access is SolutionAccess.WITHHELD:
        raise Forbidden(
            N_("solution texts are readable once every contest with the problem is over and its results are public")
        )
    row = pins.row(session, snapshot.contest.id, problem_id)
    texts = {} if row is None else row.metadata_["solutions"]
    if row is None or not texts or access is SolutionAccess.HIDDEN:
        raise NotFound(N_("there is no solution text of problem %(problem)r to read"), problem=problem_id)
    language = statements.choose_language(reader.language, reader.accepted_languages, sorted(texts))
    file = texts[language]
    data = service.files.load(file["sha256"])
    if file["kind"] != "md":
        return Statement(data, statements.MIMES[file["kind"]], language)
    title = f"{statements.title_of(row.names, language)}: {statements.solution_word(language)}"
    if reader.wants_markdown:
        return Statement(f"# {title}\n\n{data.decode()}".encode(), MARKDOWN, language)
    return Statement(statements.page(title, data.decode(), language).encode(), HTML, language)


def statement_image(snapshot: ContestSnapshot, session: Session, problem_id: str, path: str) -> StatementImage:
    """An image that the statement shows in some language; raises NotFound."""
    the_problem(snapshot, problem_id)
    row = pins.row(session, snapshot.contest.id, problem_id)
    by_language = [] if row is None else [file["images"] for file in row.statements.values()]
    images = {name: sha256 for images in by_language for name, sha256 in images.items()}
    sha256, media_type = images.get(path), image_type(path)
    if sha256 is None or media_type is None:
        raise NotFound(
            did_you_mean(
                Message(
                    N_("the statement of problem %(problem)r has no image %(image)r"), problem=problem_id, image=path
                ),
                path,
                images,
            )
        )
    return StatementImage(sha256, media_type)

"""The statement of a problem as a reader of a contest gets it, its images, and its solution text.

- Rights to a problem's solution texts: judges always, others after the last contest that has the problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.service.visibility import the_problem
from app.core import clock, json_documents
from app.core.messages import N_, Message, NotFound, did_you_mean
from app.core.service import Service
from app.domain.participation import ParticipationKind, is_for_practice, own_clock
from app.packages.markdown import image_type, with_image_folder
from app.problems.queries import pins
from app.problems.service import problems
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestProblemRow, ContestRow, ProblemRow


def may_read_solution(viewer: Viewer, session: Session, problem_id: str) -> bool:
    """Once every contest with the problem is over with public results, and the viewer's own clocks have ended."""
    if viewer.sees_all:
        return True
    now = clock.utc_now()
    contests = session.scalars(
        select(ContestRow)
        .join(ContestProblemRow, ContestProblemRow.contest_id == ContestRow.id)
        .join(ProblemRow, ProblemRow.id == ContestProblemRow.problem_id)
        .where(ProblemRow.uuid == select(ProblemRow.uuid).where(ProblemRow.id == problem_id).scalar_subquery())
    )
    return not any(_withholds(session, row, viewer.team_id, now) for row in contests.unique())


def _withholds(session: Session, row: ContestRow, team_id: str | None, now: datetime) -> bool:
    times = contests_queries.clock(row)
    if is_for_practice(times):
        return not times.started(now)
    if not times.decided(now):
        return True
    if team_id is None:
        return False
    own, extra = (
        contests_queries.participation(session, row.id, team_id),
        contests_queries.extra_time(session, row.id, team_id),
    )
    has_own_end = bool(extra) or (own is not None and own.kind is ParticipationKind.VIRTUAL)
    return has_own_end and not own_clock(times, row.settings.personal_duration, own, extra).ended(now)


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
    """A statement in one language, and its type: HTML is made of Markdown, otherwise it is a file of the package."""

    data: bytes
    media_type: str
    language: str


def statement(
    service: Service, snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader
) -> Statement:
    """The statement in the reader's language, or in another one where that is missing; raises NotFound."""
    row, language = _chosen(snapshot, session, problem_id, reader)
    shown = problems.samples(session, service, snapshot.contest.id, row.id)
    title = problems.title_of(row.names, language)
    return _statement(service, row.statements[language], title, shown, language, reader)


def _statement(
    service: Service,
    file: json_documents.StatementDocument,
    title: str,
    samples: Sequence[problems.Sample] | None,
    language: str,
    reader: Reader,
) -> Statement:
    """A text as the reader wants it: a file as it is, Markdown with the samples put in, or HTML made of it."""
    data = service.files.load(file["sha256"])
    if file["kind"] != "md":
        return Statement(data, problems.MIMES[file["kind"]], language)
    text = data.decode() if samples is None else problems.with_samples(data.decode(), samples, language)
    if reader.wants_markdown:
        return Statement(f"# {title}\n\n{with_image_folder(text, reader.address)}".encode(), MARKDOWN, language)
    return Statement(problems.page(title, text, language).encode(), HTML, language)


def statement_body(
    service: Service, snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader
) -> tuple[str, str]:
    """A statement for a page of ours: HTML with images below the reader's address, and its language.

    The HTML is empty where the statement is a file; raises NotFound.
    """
    row, language = _chosen(snapshot, session, problem_id, reader)
    if row.statements[language]["kind"] != "md":
        return "", language
    shown = problems.samples(session, service, snapshot.contest.id, row.id)
    text = problems.with_samples(service.files.load(row.statements[language]["sha256"]).decode(), shown, language)
    title = problems.title_of(row.names, language)
    return problems.fragment(title, text, reader.address), language


def _chosen(snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader) -> tuple[ProblemRow, str]:
    """The problem and the language of its statement for a reader; raises NotFound."""
    the_problem(snapshot, problem_id)
    row = pins.row(session, snapshot.contest.id, problem_id)
    if not row.statements:
        raise NotFound(N_("problem %(problem)r has no statement"), problem=problem_id)
    return row, problems.choose_language(reader.language, reader.accepted_languages, sorted(row.statements))


def has_solution(session: Session, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str) -> bool:
    """Return whether the viewer may read a solution text of the problem now."""
    row = pins.row(session, snapshot.contest.id, problem_id)
    return bool(row.metadata_["solutions"]) and may_read_solution(viewer, session, problem_id)


def solution(
    service: Service, viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader
) -> Statement:
    """The solution text in the reader's language, or in another one where that is missing; raises NotFound.

    Refused alike where there is none and where a contest withholds it: that contest may be one that no one knows of.
    """
    row, language = _solution(viewer, snapshot, session, problem_id, reader)
    word = problems.title_of(problems.SOLUTIONS, language.partition("-")[0])
    title = f"{problems.title_of(row.names, language)}: {word}"
    return _statement(service, row.metadata_["solutions"][language], title, None, language, reader)


def solution_body(
    service: Service, viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader
) -> tuple[str, str]:
    """Return the solution text as HTML for a page, and its language; the HTML is empty if the text is a file."""
    row, language = _solution(viewer, snapshot, session, problem_id, reader)
    file = row.metadata_["solutions"][language]
    text = service.files.load(file["sha256"]).decode() if file["kind"] == "md" else ""
    return text and problems.fragment(problem_id, text, reader.address), language


def _solution(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str, reader: Reader
) -> tuple[ProblemRow, str]:
    """Return the problem and the language of its solution text for a reader; raises NotFound."""
    the_problem(snapshot, problem_id)
    if not has_solution(session, viewer, snapshot, problem_id):
        raise NotFound(N_("there is no solution text of problem %(problem)r to read"), problem=problem_id)
    row = pins.row(session, snapshot.contest.id, problem_id)
    texts = row.metadata_["solutions"]
    return row, problems.choose_language(reader.language, reader.accepted_languages, sorted(texts))


def statement_image(snapshot: ContestSnapshot, session: Session, problem_id: str, path: str) -> tuple[str, str]:
    """An image that the statement shows in some language: its sha256 and media type; raises NotFound."""
    the_problem(snapshot, problem_id)
    row = pins.row(session, snapshot.contest.id, problem_id)
    by_language = [file["images"] for file in row.statements.values()]
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
    return sha256, media_type

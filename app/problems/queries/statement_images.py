"""Statements with their images, and solution texts, as they are stored; also for problems taken before that was so."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.files.files import FileStore
from app.core.json_documents import StatementDocument
from app.packages.files import LARGEST, archive_files
from app.packages.markdown import FOLDER, image_links, image_type, local_image
from app.packages.model import Statement
from app.packages.read import stored_solutions
from app.problems.queries.stored_packages import laid_out
from app.tables import ProblemRow

MARKDOWN = "md"


def keep_statements(
    store: FileStore, statements: Mapping[str, Statement], package_files: Mapping[str, bytes]
) -> dict[str, StatementDocument]:
    """Store each language's text as contestants read it: with the problem's constants put in, and with its images."""
    documents: dict[str, StatementDocument] = {}
    for language, statement in statements.items():
        text = "" if statement.kind == "pdf" else statement.text
        data = statement.file.read() if statement.kind == "pdf" else text.encode()
        documents[language] = {
            "kind": statement.kind,
            "file": statement.file.name,
            "sha256": store.keep(data),
            "images": keep_images(store, statement.kind, text, package_files),
        }
    return documents


def keep_images(store: FileStore, kind: str, text: str, package_files: Mapping[str, bytes]) -> dict[str, str]:
    """Store the images of a package that a statement shows; gives their digests by their paths below `statement/`."""
    links = image_links(text) if kind == MARKDOWN else ()
    names = {name for link in links if (name := local_image(link.address)) is not None and image_type(name)}
    return {name: store.keep(data) for name in sorted(names) if (data := package_files.get(f"{FOLDER}/{name}"))}


def incomplete(session: Session) -> list[str]:
    """The problems stored without their solution texts, or without the images of their statements."""
    return [row.id for row in session.scalars(select(ProblemRow)) if not _is_complete(row)]


def complete(session: Session, store: FileStore, problem_id: str) -> None:
    """Take what is missing of a problem's texts from its stored package; raises PackageErrors if it does not open."""
    row = session.get_one(ProblemRow, problem_id)
    with laid_out(store, row.package_sha256) as laid:
        _, package_files = archive_files(laid.archive, LARGEST, spool=laid.spool)
        statements: dict[str, StatementDocument] = {}
        for language, statement in row.statements.items():
            text = store.load(statement["sha256"]).decode() if statement["kind"] == MARKDOWN else ""
            statements[language] = {**statement, "images": keep_images(store, statement["kind"], text, package_files)}
        row.statements = statements
        row.metadata_ = {**row.metadata_, "solutions": keep_statements(store, stored_solutions(package_files), {})}


def _is_complete(row: ProblemRow) -> bool:
    return "solutions" in row.metadata_ and all("images" in statement for statement in row.statements.values())

"""Images of statements: stored beside the statement that shows them, also for problems taken before that was so."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.packages.files import archive_files
from app.packages.markdown import FOLDER, image_links, image_type, local_image
from app.storage.documents import StatementDocument
from app.storage.files import FileStore
from app.storage.tables import ProblemRow

MARKDOWN = "md"


def keep_images(store: FileStore, kind: str, text: str, package_files: Mapping[str, bytes]) -> dict[str, str]:
    """Store the images of a package that a statement shows; gives their digests by their paths below `statement/`."""
    links = image_links(text) if kind == MARKDOWN else ()
    names = {name for link in links if (name := local_image(link.address)) is not None and image_type(name)}
    return {name: store.keep(data) for name in sorted(names) if (data := package_files.get(f"{FOLDER}/{name}"))}


def without_images(session: Session) -> list[str]:
    """The problems whose statements do not say which images they show."""
    return [row.id for row in session.scalars(select(ProblemRow)) if not all(map(_has_images, row.statements.values()))]


def add_images(session: Session, store: FileStore, problem_id: str) -> None:
    """Take the images of a problem's statements out of its stored package; raises PackageErrors if it does not open."""
    row = session.get_one(ProblemRow, problem_id)
    _, package_files = archive_files(store.load(row.package_sha256))
    statements: dict[str, StatementDocument] = {}
    for language, statement in row.statements.items():
        text = store.load(statement["sha256"]).decode() if statement["kind"] == MARKDOWN else ""
        statements[language] = {**statement, "images": keep_images(store, statement["kind"], text, package_files)}
    row.statements = statements


def _has_images(statement: StatementDocument) -> bool:
    return "images" in statement

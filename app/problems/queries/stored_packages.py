"""The zip of a stored package as a file on disk, for the time that somebody reads it: it may be larger than memory.

- Statements with their images, and solution texts, as they are stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from app.core.files.files import FileStore
from app.core.files.temporary import PACKAGE_PREFIX, locked_folder
from app.core.json_documents import StatementDocument
from app.packages.markdown import FOLDER, image_links, image_type, local_image
from app.packages.model import Statement


class Laid(NamedTuple):
    """The zip, and a place beside it where its files may be inflated to."""

    archive: Path
    spool: Path


@contextmanager
def laid_out(files: FileStore, sha256: str) -> Iterator[Laid]:
    """Write a stored zip to a temporary folder, which goes at the end."""
    with locked_folder(PACKAGE_PREFIX) as folder:
        laid = Laid(folder / "package.zip", folder / "files")
        with laid.archive.open("wb") as file:
            file.writelines(files.pieces(sha256))
        yield laid


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

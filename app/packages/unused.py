"""Files of a package that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.faults import PackageError
from app.packages.markdown import image_links, local_image
from app.packages.model import Package
from app.packages.submissions import FILE
from app.packages.tools import program_of

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg")
DEFAULT_PATTERNS = ("{case}.out", "{case}.ans", "{case}.txt", "output_{case}.txt")


def check_unused(package: Package) -> Iterator[PackageError]:
    """Yield images that no statement shows, and answer files of example submissions that belong to no test case."""
    yield from _of_statements(package)
    yield from _of_submissions(package)


def _of_statements(package: Package) -> Iterator[PackageError]:
    for folder, texts in (("statement/", package.statements), ("solution/", package.solutions)):
        known = {written.file.path for written in texts.values()}
        sources = [written for written in texts.values() if written.kind != "pdf"]
        for written in sources:
            if written.kind == "md":
                names = (local_image(link.address) for link in image_links(written.text))
                known |= {f"{folder}{name}" for name in names if name is not None}
        for name in package.files:
            if name.startswith(folder) and name not in known and name.endswith(IMAGES):
                short = name.removeprefix(folder)
                if not any(written.kind == "tex" and short.rpartition(".")[0] in written.text for written in sources):
                    yield _note(name, "no statement shows this image")


def _of_submissions(package: Package) -> Iterator[PackageError]:
    """Yield answer files that no test case is called like."""
    pattern = package.settings.answers.pattern
    patterns = (pattern,) if pattern else DEFAULT_PATTERNS
    expected = {each.format(case=case.name) for case in package.cases for each in patterns}
    for submission in package.submissions:
        if program_of(submission, package.files) is None:
            for file in submission.answers:
                if file.name not in expected and file.path != FILE:
                    yield _note(file.path, "no test case is called like this answer file")


def _note(file: str, message: str) -> PackageError:
    return PackageError(file, "", message, "note")

"""A problem as a package again: the imported one, with the test cases as they are now.

- Groups of a problem as files of its package: test_group.yaml of each, the sum of their points, and the final ones.
- The zip of a stored package as a file on disk, for the time that someone reads it: it may be larger than memory.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from tempfile import TemporaryFile
from typing import IO

import yaml

from app.core.faults import PackageErrors
from app.core.files.files import PIECE, FileStore
from app.core.files.temporary import PACKAGE_PREFIX, locked_folder
from app.core.parsing import StrictLoader
from app.domain.documents import CaseListDocument
from app.packages import model, read, zips
from app.packages.contents import EXTENSIONS, GROUP_FILE, ComposedFiles, Content, File, SizedFiles, bytes_of
from app.packages.files import LARGEST, check_zip
from app.problems.queries.testcases import package_group
from app.tables import ProblemRow, TestCaseRow, TestGroupRow

SECRET = f"data/secret/{GROUP_FILE}"
# A map of a package's YAML, checked when it was taken.
GroupValue = dict[str, object]
Constants = Mapping[str, Mapping[str, int | float | str]]


def read_map(data: bytes, constants: Constants) -> GroupValue:
    """A map of a package's YAML with the constants put in; empty where there is nothing."""
    value: GroupValue | None = yaml.load(model.replace_constants(data.decode(), constants), StrictLoader)
    return value or {}


def write_map(files: dict[str, Content], name: str, before: GroupValue, after: GroupValue) -> None:
    """Write a map again where it has changed: comments are lost."""
    if after != before:
        files[name] = yaml.safe_dump(after, sort_keys=False, allow_unicode=True).encode()


def _write_groups(files: dict[str, Content], package: model.Package, rows: Sequence[TestGroupRow]) -> None:
    """Write the groups that the rows have otherwise than the package.

    Groups without a row, and what names them, are left out: the format knows none without a case.
    """
    names = {row.name for row in rows}
    secret = [row for row in rows if row.kind != "sample"]
    after = {
        row.name: replace(package_group(row), require_pass=tuple(each for each in row.require_pass if each in names))
        for row in secret
    }
    before = {group.name: group for group in package.groups if group.name != "sample"}
    gone = tuple(f"data/{name}/" for name in before if name not in names and name != "secret")
    for name in [name for name in files if name.startswith(gone)]:
        del files[name]
    constants = package.problem.constants
    if "secret" not in names and before != after:
        known = read_map(bytes_of(files.get(SECRET, b"")), constants)
        rest = {key: value for key, value in known.items() if key not in {"require_pass", "score_aggregation"}}
        write_map(files, SECRET, known, {**rest, "max_score": sum(each.max_score or 0 for each in after.values())})
    for group in after.values():
        if before.get(group.name) != group:
            path = f"data/{group.name}/{GROUP_FILE}"
            known = read_map(bytes_of(files.get(path, b"")), constants)
            own = {"max_score": group.max_score, "score_aggregation": group.aggregation}
            write_map(files, path, known, {**known, **own, "require_pass": list(group.require_pass)})


def _write_settings(
    files: dict[str, Content], package: model.Package, row: ProblemRow, groups: Sequence[TestGroupRow], names: set[str]
) -> None:
    """Write jurado.yaml with the final groups, and the order and points of the cases `names`."""
    known, own = row.settings.get("testcases", model.NOTHING), package.settings.testcases
    listed: CaseListDocument = {
        "order": [name for name in known["order"] if name in names],
        "points": {name: points for name, points in known["points"].items() if name in names},
    }
    final = [group.name for group in groups if group.kind == "final"]
    changed: GroupValue = {}
    if sorted(final) != sorted(group.name for group in package.groups if group.kind == "final"):
        changed["final"] = final
    if listed != (model.NOTHING if own is None else own.document()):
        changed["testcases"] = listed
    jurado = read_map(bytes_of(files["jurado.yaml"]), {})
    write_map(files, "jurado.yaml", jurado, {**jurado, **changed})


ARGUMENTS = "output_validator_args"
SHOWN = (".out", ".statement", ".download", ".png", ".jpg", ".jpeg", ".svg")
# Folder of the inputs that have no expected answer yet: the format knows no such cases, but authors need them.
UNANSWERED = "generators/unanswered"


class NotPackable(Exception):
    """The package format cannot say a problem as it is; the text names what it demands."""


@contextmanager
def stored_package(files: FileStore, problem_id: str, sha256: str) -> Iterator[model.Package]:
    """A stored package; its files lie in a temporary folder, which goes at the end."""
    with locked_folder(PACKAGE_PREFIX) as folder:
        with (folder / "package.zip").open("wb") as file:
            file.writelines(files.pieces(sha256))
        yield read.read_archive(folder / "package.zip", problem_id, LARGEST, folder / "files")


def packed(files: FileStore, row: ProblemRow, groups: Sequence[TestGroupRow], rows: Sequence[TestCaseRow]) -> IO[bytes]:
    """The problem with these groups and test cases as a package zip that reads back, unanswered inputs in UNANSWERED.

    An open temporary file at its beginning, which has no name; making it, one file of the package is in memory at a
    time. Raises NotPackable for a problem that no package can hold, such as one without an answered secret case.
    """
    with ExitStack() as undo, stored_package(files, row.id, row.package_sha256) as package:
        target = undo.enter_context(TemporaryFile(prefix="jurado-package-"))
        try:
            changed = _changed(files, package, row, groups, rows)
            composed = ComposedFiles({f"{package.slug}/{name}": content for name, content in changed.items()})
            zips.write_files(target, composed)
            check_zip(composed, target.tell(), LARGEST)
        except PackageErrors as faults:
            text = f"expected a problem that reads as a package, found that it would not: {faults}"
            raise NotPackable(text) from None
        target.seek(0)
        undo.pop_all()
        return target


def pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield what is left of an open file in pieces, and close it."""
    with file:
        while piece := file.read(PIECE):
            yield piece


def _changed(
    files: FileStore,
    package: model.Package,
    row: ProblemRow,
    groups: Sequence[TestGroupRow],
    rows: Sequence[TestCaseRow],
) -> dict[str, Content]:
    """The files of the problem's package as it is now."""
    answered = [each for each in rows if each.answer_sha256 is not None]
    if all(each.group_name == "sample" for each in answered):
        raise NotPackable("expected a secret test case with an expected answer, as each package has one, found none")
    changed = _with_cases(files, package, answered, row.metadata_.get("sample_outputs", {}))
    packed = [each for each in groups if each.name in {case.group_name for case in answered}]
    _write_groups(changed, package, packed)
    _write_settings(changed, package, row, packed, {each.name for each in answered})
    for each in rows:
        name = f"{UNANSWERED}/{each.group_name}/{each.name}.in"
        if each.answer_sha256 is None:
            changed[name] = _stored(files, each.input_sha256, each.input_size)
        else:
            changed.pop(name, None)
    _write_arguments(package.slug, changed, answered)
    return changed


def _with_cases(
    files: FileStore, package: model.Package, cases: Sequence[TestCaseRow], shown: Mapping[str, str]
) -> dict[str, Content]:
    """The package's files, its inputs and answers taken from the tables; `shown`: what stands in place of answers."""
    rows = {row.name: row for row in cases}
    paths = {case.name: case.path for case in package.cases}
    moved = {case.name for case in package.cases if case.name in rows and rows[case.name].group_name != case.group}
    gone = {f"data/{path}" for name, path in paths.items() if name not in rows or name in moved}
    remaining: dict[str, Content] = {
        name: File(name, package.files) for name in package.files if _stem(name) not in gone
    }
    hidden = {case.name for case in package.cases if case.output is not None and case.name not in shown}
    renewed = {f"data/{case.path}" for case in package.cases if case.name in hidden or _has_another_input(case, rows)}
    for name in [name for name in remaining if _stem(name) in renewed and name.endswith(SHOWN)]:
        del remaining[name]  # what was shown in place of the old input and its answer
    for name, row in rows.items():
        path = _free_path(row, remaining) if name in moved or name not in paths else f"data/{paths[name]}"
        remaining[f"{path}.in"] = _stored(files, row.input_sha256, row.input_size)
        remaining[f"{path}.ans"] = _stored(files, str(row.answer_sha256), row.answer_size or 0)
    return remaining


def _stored(files: FileStore, sha256: str, size: int) -> File:
    return File(sha256, StoredContents(files, {sha256: size}))


class StoredContents(SizedFiles[int]):
    """Files of a store by their sha256, with their sizes."""

    def __init__(self, files: FileStore, sizes: Mapping[str, int]) -> None:
        super().__init__(sizes)
        self._files = files

    def size(self, name: str) -> int:
        """The bytes of a file."""
        return self._places[name]

    def __getitem__(self, name: str) -> bytes:
        return self._files.load(name)


def _has_another_input(case: model.Case, rows: Mapping[str, TestCaseRow]) -> bool:
    return case.name in rows and rows[case.name].input_sha256 != hashlib.sha256(case.input.read()).hexdigest()


def _free_path(row: TestCaseRow, files: Collection[str]) -> str:
    """The path of a new case: inside of a folder that has its name, as the format allows none beside it."""
    path = f"data/{row.group_name}/{row.name}"
    while any(name.startswith(f"{path}/") for name in files):
        path = f"{path}/{row.name}"
    return path


def _stem(name: str) -> str:
    """The path of the test case a file belongs to."""
    extension = next((e for e in EXTENSIONS if name.endswith(e)), "")
    return name.removesuffix(extension)


def _write_arguments(slug: str, files: dict[str, Content], rows: Sequence[TestCaseRow]) -> None:
    """Write a NAME.yaml where a case would read back with other checker arguments than its row has.

    Raises PackageErrors for files that are no package.
    """
    package = read.assemble(slug, ComposedFiles(files))
    wanted: Mapping[str, tuple[str, ...]] = {row.name: tuple(row.checker_args or ()) for row in rows}
    for case in package.cases:
        if case.checker_args != wanted[case.name]:
            path = f"data/{case.path}.yaml"
            own = yaml.safe_load(bytes_of(files.get(path, b""))) or {}
            files[path] = yaml.safe_dump({**own, ARGUMENTS: list(wanted[case.name])}).encode()

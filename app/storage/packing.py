"""A problem as a package again: the imported one, with the test cases as they are now."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import yaml

from app.domain.documents import CaseListDocument
from app.packages import case_list
from app.packages.errors import PackageErrors
from app.packages.export import write_archive
from app.packages.files import LARGEST, check_zip
from app.packages.model import Case, Package
from app.packages.read import assemble, read_archive
from app.packages.testdata import EXTENSIONS
from app.storage.empty_groups import read_map, without_empty_groups, write_map
from app.storage.files import FileStore
from app.storage.packed_groups import with_groups
from app.storage.tables import ProblemRow, TestCaseRow, TestGroupRow

ARGUMENTS = "output_validator_args"
SHOWN = (".out", ".statement", ".download", ".png", ".jpg", ".jpeg", ".svg")
TEXTS: tuple[Literal["hint", "description"], ...] = ("hint", "description")
"""Texts of NAME.yaml that came with a case."""
UNANSWERED = "generators/unanswered"
"""Folder of the inputs that have no expected answer yet: the format knows no such cases, but authors need them."""


class NotPackable(Exception):
    """The package format cannot say a problem as it is; the text names what it demands."""


def packed(files: FileStore, row: ProblemRow, groups: Sequence[TestGroupRow], rows: Sequence[TestCaseRow]) -> bytes:
    """The problem with these groups and test cases as a package zip that reads back, unanswered inputs in UNANSWERED.

    Raises NotPackable for a problem that no package can hold, such as one without an answered secret case.
    """
    package = read_archive(files.load(row.package_sha256), row.id, LARGEST)
    answered = [each for each in rows if each.answer_sha256 is not None]
    if all(each.group_name == "sample" for each in answered):
        raise NotPackable("expected a secret test case with an expected answer, as each package has one, found none")
    changed = _with_cases(files, package, answered, row.metadata_.get("sample_outputs", {}))
    used = {each.group_name for each in answered}
    changed = with_groups(changed, package, [each for each in groups if each.name in used])
    changed = _with_case_list(changed, package, row, {each.name for each in answered})
    stale = {f"{UNANSWERED}/{_path(each)}.in" for each in answered}
    changed = {name: data for name, data in changed.items() if name not in stale}
    for each in rows:
        if each.answer_sha256 is None:
            changed[f"{UNANSWERED}/{_path(each)}.in"] = files.load(each.input_sha256)
    if changed == dict(package.files) and not _reads_otherwise(package, answered):
        return files.load(row.package_sha256)
    try:
        named = _with_arguments(package.slug, changed, answered)
        data = write_archive(replace(package, files=named))
        check_zip({f"{package.slug}/{name}": each for name, each in named.items()}, len(data), LARGEST)
    except PackageErrors as faults:
        raise NotPackable(f"expected a problem that reads as a package, found that it would not: {faults}") from None
    return data


def _with_cases(
    files: FileStore, package: Package, cases: Sequence[TestCaseRow], shown: Mapping[str, str]
) -> dict[str, bytes]:
    """The package's files, its inputs and answers taken from the tables; `shown`: what stands in place of answers."""
    rows = {row.name: row for row in cases}
    paths = {case.name: case.path for case in package.cases}
    moved = {case.name for case in package.cases if case.name in rows and rows[case.name].group_name != case.group}
    gone = {f"data/{path}" for name, path in paths.items() if name not in rows or name in moved}
    remaining = {name: data for name, data in package.files.items() if _stem(name) not in gone}
    hidden = {case.name for case in package.cases if case.output is not None and case.name not in shown}
    renewed = {f"data/{case.path}" for case in package.cases if case.name in hidden or _has_another_input(case, rows)}
    for name in [name for name in remaining if _stem(name) in renewed and name.endswith(SHOWN)]:
        del remaining[name]  # what was shown in place of the old input and its answer
    for name, row in rows.items():
        path = _free_path(row, remaining) if name in moved or name not in paths else f"data/{paths[name]}"
        remaining[f"{path}.in"] = files.load(row.input_sha256)
        if row.answer_sha256 is not None:
            remaining[f"{path}.ans"] = files.load(row.answer_sha256)
        texts: dict[str, object] = {key: row.provenance[key] for key in TEXTS if key in (row.provenance or {})}
        if texts:
            own = yaml.safe_load(remaining.get(f"{path}.yaml", b"")) or {}
            write_map(remaining, f"{path}.yaml", own, {**own, **texts})
    return without_empty_groups(remaining, package.problem.constants)


def _with_case_list(
    files: dict[str, bytes], package: Package, row: ProblemRow, names: Collection[str]
) -> dict[str, bytes]:
    """The files with the order and points of cases in jurado.yaml, as the problem has them."""
    known = row.settings.get("testcases", case_list.NOTHING)
    wanted: CaseListDocument = {
        "order": [name for name in known["order"] if name in names],
        "points": {name: points for name, points in known["points"].items() if name in names},
    }
    own = package.settings.testcases
    if wanted == (case_list.NOTHING if own is None else own.document()):
        return files
    jurado = read_map(files["jurado.yaml"], {})
    changed = dict(files)
    write_map(changed, "jurado.yaml", jurado, {**jurado, "testcases": wanted})
    return changed


def _has_another_input(case: Case, rows: Mapping[str, TestCaseRow]) -> bool:
    return case.name in rows and rows[case.name].input_sha256 != hashlib.sha256(case.input.read()).hexdigest()


def _free_path(row: TestCaseRow, files: Collection[str]) -> str:
    """The path of a new case: inside of a folder that has its name, as the format allows none beside it."""
    path = f"data/{_path(row)}"
    while any(name.startswith(f"{path}/") for name in files):
        path = f"{path}/{row.name}"
    return path


def _path(row: TestCaseRow) -> str:
    return f"{row.group_name}/{row.name}"


def _stem(name: str) -> str:
    """The path of the test case a file belongs to."""
    extension = next((e for e in EXTENSIONS if name.endswith(e)), "")
    return name.removesuffix(extension)


def _reads_otherwise(package: Package, rows: Sequence[TestCaseRow]) -> bool:
    """Whether a case has other checker arguments than the package gives it."""
    arguments = {row.name: tuple(row.checker_args or ()) for row in rows}
    return any(case.checker_args != arguments.get(case.name) for case in package.cases)


def _with_arguments(slug: str, files: dict[str, bytes], rows: Sequence[TestCaseRow]) -> dict[str, bytes]:
    """The files, and a NAME.yaml where a case would read back with other checker arguments than its row has.

    Raises PackageErrors for files that are no package.
    """
    package = assemble(slug, files)
    wanted: Mapping[str, tuple[str, ...]] = {row.name: tuple(row.checker_args or ()) for row in rows}
    for case in package.cases:
        if case.checker_args != wanted[case.name]:
            path = f"data/{case.path}.yaml"
            own = yaml.safe_load(files.get(path, b"")) or {}
            files[path] = yaml.safe_dump({**own, ARGUMENTS: list(wanted[case.name])}).encode()
    return files

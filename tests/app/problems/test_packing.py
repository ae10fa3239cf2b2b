"""A problem is written as a package that reads back as it is, or refused where the format has no words for it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from app.core.faults import PackageErrors
from app.core.service import Service
from app.packages.read import read_archive
from app.problems.queries import problems, testdata
from app.problems.queries.packing import UNANSWERED, NotPackable, packed
from app.problems.queries.testcases import NewCase, keep
from app.problems.queries.testdata import DataChange
from app.tables import ProblemRow
from tests.builders.contests import FINAL, add_problem
from tests.builders.packages import case_of
from tests.builders.service import open_service

Files = Mapping[str, str | bytes | None]
GROUPS: Files = {
    **FINAL,
    "data/secret/z/test_group.yaml": "max_score: 60\nscore_aggregation: sum\nrequire_pass: [sample]\n",
    "data/secret/z/deep/04.in": "4\n",
    "data/secret/z/deep/04.ans": "4\n",
}
FOLDERS: Files = {"data/secret/x/05.in": "5\n", "data/secret/x/05.ans": "5\n", "data/secret/x/05.yaml": "hint: five\n"}
NO_SAMPLES: Files = {"data/sample/01.in": None, "data/sample/01.ans": None, "data/sample/test_group.yaml": "{}\n"}
PACKAGES: Mapping[str, Files] = {"plain": {}, "groups": GROUPS, "folders": FOLDERS, "nosamples": NO_SAMPLES}
NAMES = (
    "01",
    "02",
    "03",
    "04",
    "05",
    "x",
    "deep",
    "a.in",
    "b.ans",
    "c.files",
    "d.in.statement",
    "__pycache__",
    "n" * 250,
)

puts = st.tuples(
    st.sampled_from(["sample", "secret", "secret/a", "secret/z"]),
    st.sampled_from(NAMES),
    st.sampled_from([b"1\n", b"2\n"]),
    st.sampled_from([None, None, b"1\n"]),
)


def put(session: Session, service: Service, slug: str, case: tuple[str, str, bytes, bytes | None]) -> None:
    group, name, given_input, answer = case
    if group != "sample" and group not in {each.name for each in problems.groups(session, slug)}:
        return
    with suppress(PackageErrors):  # it was the only secret case
        files = [None if data is None else keep(service.files, data) for data in (given_input, answer)]
        testdata.write(session, DataChange(slug, [NewCase(group, name, *files)]))


def answered(session: Session, slug: str) -> dict[str, tuple[str, bytes, bytes]]:
    """The group, input and answer of each case that has one, by its name."""
    return {
        row.name: (row.group_name, row.input_sha256, row.answer_sha256)
        for row in problems.test_cases(session, slug)
        if row.answer_sha256 is not None
    }


def as_package(session: Session, service: Service, slug: str) -> bytes:
    """The problem as a package, with its test cases as they are."""
    groups, cases = problems.groups(session, slug), problems.test_cases(session, slug)
    with packed(service.files, session.get_one(ProblemRow, slug), groups, cases) as file:
        return file.read()


def check_round_trip(session: Session, service: Service, slug: str) -> None:
    cases = answered(session, slug)
    if all(group == "sample" for group, _, _ in cases.values()):
        with pytest.raises(NotPackable, match="expected a secret test case with an expected answer"):
            as_package(session, service, slug)
        return
    data = as_package(session, service, slug)
    package = read_archive(data)
    keep = service.files.keep
    assert {
        each.name: (each.group, keep(each.input.read()), keep(each.answer.read())) for each in package.cases
    } == cases
    beside = {name for name in package.files if name.startswith(UNANSWERED)}
    missing = [each for each in problems.test_cases(session, slug) if each.answer_sha256 is None]
    assert beside == {f"{UNANSWERED}/{each.group_name}/{each.name}.in" for each in missing}
    session.expunge_all()
    problems.import_package(session, service.files, package)
    assert answered(session, slug) == cases
    assert as_package(session, service, slug) == data


@pytest.mark.parametrize("slug", PACKAGES)
def test_a_problem_of_any_test_cases_is_packed_so_that_it_reads_back(
    sqlite_url: str, tmp_path: Path, slug: str
) -> None:
    with open_service(sqlite_url, tmp_path / "home") as service:
        add_problem(service, PACKAGES[slug], slug)

        @settings(max_examples=25)
        @given(st.lists(puts, max_size=6))
        def packs(cases: list[tuple[str, str, bytes, bytes | None]]) -> None:
            with service.database.write() as session:
                for case in cases:
                    put(session, service, slug, case)
                check_round_trip(session, service, slug)
                session.rollback()

        packs()


def test_a_problem_without_an_answered_secret_case_is_refused_and_says_why(sqlite_url: str, tmp_path: Path) -> None:
    """Whether a sample is answered or not: the format demands a secret case, and an answer of each case."""
    with open_service(sqlite_url, tmp_path / "home") as service:
        add_problem(service)
        with service.database.write() as session:
            for name in ("02", "03"):
                put(session, service, "echo", ("secret", name, b"22\n", None))
            check_round_trip(session, service, "echo")
            put(session, service, "echo", ("sample", "01", b"11\n", None))
            check_round_trip(session, service, "echo")
            put(session, service, "echo", ("secret", "02", b"22\n", b"22\n"))
            check_round_trip(session, service, "echo")


def test_a_case_named_as_a_folder_is_packed_inside_of_it(sqlite_url: str, tmp_path: Path) -> None:
    with open_service(sqlite_url, tmp_path / "home") as service:
        add_problem(service, FOLDERS)
        with service.database.write() as session:
            put(session, service, "echo", ("secret", "x", b"6\n", b"6\n"))
            package = read_archive(as_package(session, service, "echo"))
            assert case_of(package, "x").path == "secret/x/x"
            check_round_trip(session, service, "echo")

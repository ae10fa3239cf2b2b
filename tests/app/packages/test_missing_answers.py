"""Expected answers that a package does not have are made by its solution in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app.core.faults import PackageErrors
from app.packages.formats.cms import format_of, import_files
from app.packages.model import Package
from app.packages.read import assemble, read_archive
from app.packages.trials import LocalDesk
from app.packages.verify import examine
from tests.builders.foreign import CMS, KATTIS_LEGACY, foreign_files
from tests.builders.packages import case_of, verify_package, zip_package

pytestmark = pytest.mark.machine("sandbox")
SOLUTION = "print(input())\n"
NO_ANSWERS: Mapping[str, str | None] = {
    "data/sample/01.ans": None,
    "data/secret/02.ans": None,
    "submissions/accepted/solution.py": SOLUTION,
}


def package(changes: Mapping[str, str | None]) -> Package:
    return read_archive(zip_package(changes))


def findings(read: Package) -> list[str]:
    return [str(fault) for fault in verify_package(read)]


def test_a_solution_makes_missing_answers_which_the_checker_then_sees() -> None:
    assert findings(package(NO_ANSWERS)) == []
    wrong = {
        "submissions/accepted/solution.py": "print('x' * 5)\n",
        "jurado.yaml": "checker: comesolo\nscoring: {kind: absolute}\n",
    }
    assert any("refuses" in fault for fault in findings(package({**NO_ANSWERS, **wrong})))


def test_a_solution_that_fails_on_an_input_is_named() -> None:
    failing = {"submissions/accepted/solution.py": "n = int(input())\nprint(n // (n - 2))\n"}
    found = findings(package({**NO_ANSWERS, **failing}))
    assert any(
        "data/secret/02.in: submissions/accepted/solution.py does not answer this input" in each for each in found
    )


def test_without_a_sandbox_the_answers_are_left_to_the_upload() -> None:
    found = [str(each) for each in examine(package(NO_ANSWERS), LocalDesk()).faults]
    assert found == ["data: 2 cases have no expected answer: a reference run makes them after the upload"]


def test_without_a_solution_every_missing_answer_is_named() -> None:
    with pytest.raises(PackageErrors) as refused:
        package({**NO_ANSWERS, "submissions/accepted/solution.py": None})
    text = "missing file, and no solution in submissions/accepted/ that could make it"
    assert {str(each) for each in refused.value.errors} == {
        f"data/sample/01.ans: {text}",
        f"data/secret/02.ans: {text}",
    }


@pytest.mark.parametrize(
    ("files", "missing", "case"),
    [
        (KATTIS_LEGACY, {"data/secret/more/02.ans": None}, "02"),
        (CMS, {"output/output2.txt": None, "sol/solution.py": "n = int(input().split()[0])\nprint(2 * n)\n"}, "002"),
    ],
)
def test_packages_of_other_judges_may_lack_answers_too(
    files: Mapping[str, str], missing: Mapping[str, str | None], case: str
) -> None:
    given = foreign_files(files, missing)
    format = format_of(given)
    assert format is not None
    result = import_files(given, format, None, "sums")
    read = assemble(result.slug, result.files)
    assert case_of(read, case).answer is None
    assert [str(fault) for fault in verify_package(read) if fault.severity == "error"] == []

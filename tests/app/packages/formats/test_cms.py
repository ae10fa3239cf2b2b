"""Task folders of CMS become packages: their cases, subtasks, score types, checkers and statements."""

from __future__ import annotations

import pytest
import yaml

from app.core.faults import PackageErrors
from app.packages.formats.cms import Imported, format_of, import_files
from app.packages.model import Package
from app.packages.read import assemble
from tests.builders.foreign import CMS, Changes, foreign_files
from tests.builders.packages import case_of, verify_package

TASK = "name: sums\ntitle: Sums of two\noutput_only: true\nn_input: 4\nprimary_language: en\n"
CHECKER: Changes = {"check/checker.cpp": "int main() {}\n", "check/testlib.h": "//\n", "check/checker": b"\x7fELF"}


def imported(changes: Changes | None = None) -> Imported:
    return import_files(foreign_files(CMS, changes), "cms", None, "folder")


def package(changes: Changes | None = None) -> Package:
    result = imported(changes)
    return assemble(result.slug, result.files)


def groups(changes: Changes | None = None) -> dict[str, tuple[int | None, str, list[str]]]:
    read = package(changes)
    members = {group.name: [case.name for case in read.cases if case.group == group.name] for group in read.groups}
    return {group.name: (group.max_score, group.aggregation, members[group.name]) for group in read.groups}


def faults(changes: Changes) -> list[str]:
    with pytest.raises(PackageErrors) as refused:
        imported(changes)
    return [str(fault) for fault in refused.value.errors]


def notes(changes: Changes | None = None) -> list[str]:
    return [str(note) for note in imported(changes).notes]


def scored(kind: str, parameters: str) -> Changes:
    return {"task.yaml": f"{TASK}score_type: {kind}\nscore_type_parameters: {parameters}\n"}


def test_a_task_is_known_by_its_yaml_and_becomes_a_sound_package() -> None:
    assert format_of(foreign_files(CMS)) == "cms"
    read = package()
    assert (read.slug, read.problem.name) == ("sums", {"en": "Sums of two", "es": "Sums of two"})
    assert [fault for fault in verify_package(read) if fault.severity == "error"] == []
    assert read.files["statement/problem.es.pdf"] == b"%PDF-1.4 es"
    assert read.files["attachments/hint.txt"] == b"Add.\n"
    assert any("left out: gen/generatore.py" in note for note in notes())


def test_subtasks_of_gen_are_groups_that_count_by_their_worst_case() -> None:
    assert groups() == {
        "secret/subtask0": (0, "min", ["000"]),
        "secret/subtask1": (40, "min", ["001", "002"]),
        "secret/subtask2": (60, "min", ["003"]),
    }
    assert case_of(package(), "003").answer.read() == b"6\n"


@pytest.mark.parametrize("gen", [None, "1 1\n2 2\n\n3 3\n4 4 # last\n"])
def test_cases_without_subtasks_share_the_total_value(gen: str | None) -> None:
    assert groups({"gen/GEN": gen}) == {"secret": (100, "sum", ["000", "001", "002", "003"])}
    assert groups({"gen/GEN": gen, "task.yaml": f"{TASK}total_value: 30\n"})["secret"][0] == 30


def test_score_types_of_the_yaml_come_before_gen() -> None:
    assert groups(scored("Sum", "2.5"))["secret"][:2] == (10, "sum")
    by_count = {"secret/subtask0": (30, "min", ["000"]), "secret/subtask1": (70, "min", ["001", "002", "003"])}
    assert groups(scored("GroupMin", "[[30, 1], [70, 3]]")) == by_count
    assert groups(scored("GroupMul", "[[30, 1], [70, 3]]")) == by_count


def test_a_checker_with_its_source_becomes_a_program() -> None:
    result = imported(CHECKER)
    assert sorted(name for name in result.files if name.startswith("output_validator/")) == [
        "output_validator/checker.cpp",
        "output_validator/testlib.h",
    ]
    assert yaml.safe_load(result.files["jurado.yaml"])["program"] == {"protocol": "cms", "points": "fraction"}
    script = imported({"cor/correttore": "#!/usr/bin/env python3\nprint(1)\n"})
    assert "output_validator/correttore.py" in script.files


def test_products_beside_a_checker_count_by_the_worst_case_with_a_warning() -> None:
    changes = {**CHECKER, **scored("GroupMul", "[[100, 4]]")}
    assert any("GroupMul multiplies the outcomes" in note for note in notes(changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"task.yaml": None}, "task.yaml: missing file"),
        ({"task.yaml": "name: [\n"}, "task.yaml, line 2: not valid YAML"),
        ({"task.yaml": "a: &a [*a]\n"}, "task.yaml, line 1: not valid YAML: expected no aliases"),
        ({"check/checker": b"\x7fELF"}, "expected its source in the same folder (checker.cpp"),
        ({"check/manager": "x"}, "check/manager: expected answers that are files: a Communication task has none"),
        ({"output/output2.txt": None, "input/input3.txt": None}, "input/input3.txt: missing file"),
        ({"gen/GEN": "# ST: all\n1\n2\n3\n4\n"}, "gen/GEN, line 1: expected `# ST: POINTS`"),
        ({"gen/GEN": "1\n# ST: 100\n2\n"}, "gen/GEN: expected a line for each of the 4 test cases, found 2"),
        ({"gen/GEN": "1\n# ST: 100\n2\n"}, "expected every case after a line `# ST: POINTS`, found 1 before"),
        (scored("GroupMin", "[[100, 3]]"), "expected 4 test cases in all groups, found 3"),
        (scored("GroupMin", "[[100, '00.']]"), "expected a list of [points, number of cases], found [[100, '00.']]"),
        (scored("GroupMin", "100"), "score_type_parameters: expected a list of [points, number of cases]"),
        (scored("GroupThreshold", "[[100, 4, 0.5]]"), "score_type: expected 'Sum', 'GroupMin' or 'GroupMul'"),
        (scored("Sum", "[[1, 2]]"), "expected points of a case, above 0"),
        (scored("Best", "1"), "score_type: expected 'Sum', 'GroupMin' or 'GroupMul'"),
        ({"statement/statement.pdf": None, "statement/spanish.pdf": None}, "expected statement.pdf or LANGUAGE.pdf"),
        ({"statement/es.pdf": "%PDF"}, "two statements have the language es"),
    ],
)
def test_what_has_no_equivalent_is_refused_by_name(changes: Changes, expected: str) -> None:
    assert any(expected in fault for fault in faults(changes)), faults(changes)

"""omegaUp's zips become packages: their cases, weights, groups, validators, statements and samples."""

from __future__ import annotations

import pytest
import yaml

from app.core.faults import PackageErrors
from app.packages.arrivals import read_arrival
from app.packages.formats.cms import Imported, format_of, import_files
from app.packages.model import Package
from app.packages.read import assemble
from tests.builders.foreign import OMEGAUP, Changes, foreign_files, foreign_zip
from tests.builders.packages import case_of, verify_package

PLAIN: Changes = {"testplan": None, "settings.json": None, "cases/2.a.in": None, "cases/2.a.out": None,
                  "cases/2.b.in": None, "cases/2.b.out": None, "cases/x.in": "1 1\n", "cases/x.out": "2\n"}  # fmt: skip


def imported(changes: Changes | None = None) -> Imported:
    return import_files(foreign_files(OMEGAUP, changes), "omegaup", None, "A Sum!")


def package(changes: Changes | None = None) -> Package:
    result = imported(changes)
    return assemble(result.slug, result.files)


def notes(changes: Changes | None = None) -> list[str]:
    return [str(note) for note in imported(changes).notes]


def faults(changes: Changes) -> list[str]:
    with pytest.raises(PackageErrors) as refused:
        imported(changes)
    return [str(fault) for fault in refused.value.errors]


def test_a_zip_is_known_by_its_cases_and_becomes_a_sound_package() -> None:
    assert format_of(foreign_files(OMEGAUP)) == "omegaup"
    read = package()
    assert read.slug == "asum"
    assert [fault for fault in verify_package(read) if fault.severity == "error"] == []


def test_weights_become_points_and_groups_count_by_their_worst_case() -> None:
    read = package()
    assert [(group.name, group.max_score, group.aggregation) for group in read.groups] == [
        ("sample", None, "pass-fail"),
        ("secret/2", 80, "min"),
        ("secret/cases", 20, "sum"),
    ]
    assert [(case.name, case.group, case.answer.read()) for case in read.cases if case.group != "sample"] == [
        ("2.a", "secret/2", b"10\n"),
        ("2.b", "secret/2", b"12\n"),
        ("1", "secret/cases", b"3\n"),
    ]


def test_cases_without_groups_share_100_points() -> None:
    read = package(PLAIN)
    assert [(group.name, group.max_score, group.aggregation) for group in read.groups[1:]] == [("secret", 100, "sum")]
    assert [case.max_points for case in read.cases if case.group == "secret"] == [50, 50]


def test_cases_of_different_weights_have_points_of_their_own() -> None:
    read = package({**PLAIN, "testplan": "1 1\nx 3\n"})
    assert {case.name: case.max_points for case in read.cases if case.group == "secret"} == {"1": 25, "x": 75}


def test_weights_that_make_no_whole_hundred_are_scaled_to_whole_numbers() -> None:
    assert package({"testplan": "1 0.5\n2.a 0.25\n2.b 0.75\n"}).max_score == 3
    assert package({"testplan": None}).max_score == 3


def test_weights_may_come_from_settings() -> None:
    settings = """{"Cases": [{"Name": "1", "Cases": [{"Name": "1", "Weight": 0.9}]},
      {"Name": "2", "Cases": [{"Name": "2.a", "Weight": 0.05}, {"Name": "2.b", "Weight": 0.05}]}]}"""
    read = package({"testplan": None, "settings.json": settings})
    assert {group.name: group.max_score for group in read.groups[1:]} == {"secret/cases": 90, "secret/2": 10}


@pytest.mark.parametrize(
    ("validator", "checker", "args"),
    [
        ('{"Name": "token"}', "tokens", ("case_sensitive",)),
        ('{"Name": "token-caseless"}', "tokens", ()),
        ('{"Name": "token-numeric"}', "tokens", ("float_tolerance", "1e-6")),
        ('{"Name": "token-numeric", "Tolerance": 0.001}', "tokens", ("float_tolerance", "0.001")),
    ],
)
def test_validators_become_standard_checkers(validator: str, checker: str, args: tuple[str, ...]) -> None:
    read = package({"settings.json": f'{{"Validator": {validator}}}'})
    assert (read.settings.checker, {case.checker_args for case in read.cases}) == (checker, {args})


def test_a_validator_of_its_own_becomes_a_program() -> None:
    result = imported({"validator.py": "print(1.0)\n", "settings.json": None})
    assert result.files["output_validator/validator.py"] == b"print(1.0)\n"
    settings = yaml.safe_load(result.files["jurado.yaml"])
    assert settings["program"] == {"protocol": "omegaup", "points": "fraction"}
    assert "checker" not in settings
    assert any("sum-if-not-zero" in str(note) and "2 count by the worst case" in str(note) for note in result.notes)


def test_samples_of_statements_become_test_cases() -> None:
    read = package()
    samples = [(case.name, case.input.read(), case.answer.read()) for case in read.cases if case.group == "sample"]
    assert samples == [("sample01", b"2 3\n", b"5\n"), ("sample02", b"0 0\n", b"0\n")]
    text = read.statements["es"].text
    assert "||" not in text
    assert text.count("{{nextsample}}") == 2
    assert text.startswith("## Descripción\n")
    assert "statement/suma.png" in read.files
    assert "statements/es.markdown: descriptions of samples have no place here and have been left out" in notes()


def test_samples_may_lie_in_files() -> None:
    files: Changes = {
        "statements/es.markdown": "Suma.\n\n||examplefile\nuno\n||end\n",
        "statements/en.markdown": None,
        "examples/uno.in": "1 1\n",
        "examples/uno.out": "2\n",
    }
    assert [case.answer.read() for case in package(files).cases if case.group == "sample"] == [b"2\n"]


def test_what_is_left_is_named() -> None:
    result = imported()
    assert any("left out: tests/settings.json, tests/solutions/good.py" in str(note) for note in result.notes)
    assert result.files["solution/solution.es.md"] == "## Solución\n\nSumar.\n".encode()


def test_every_fault_is_listed_at_once_with_its_line() -> None:
    wrong: Changes = {
        "testplan": "1 20\n# a comment\n2.a eighty\n2.c 3\n",
        "interactive/sum.idl": "x",
        "settings.json": '{"Validator": {"Name": "best"}}',
        "statements/es.markdown": "||input\n1\n",
    }
    assert faults(wrong) == [
        "interactive: expected answers that are files: an interactive problem has none",
        "settings.json, Validator.Name: expected 'token', 'token-caseless', 'token-numeric', 'literal' or 'custom', "
        "found text 'best'",
        "statements/es.markdown, line 1: expected `||end` after `||input`, found the end of the file",
        "testplan: no weight for 2.a, 2.b",
        "testplan, line 3: expected `CASE WEIGHT`, found '2.a eighty'",
        "testplan, line 4: case 2.c has no files cases/2.c.in and .out",
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"settings.json": "{"}, "settings.json: not valid JSON"),
        ({"settings.json": "[" * 100_000}, "settings.json: not valid JSON"),
        ({"settings.json": "[1]"}, "settings.json: expected an object, found list"),
        ({"settings.json": '{"Validator": {"Name": "literal"}}'}, "expected a validator that compares answers"),
        ({"settings.json": '{"Validator": {"Name": "custom"}}'}, "expected one file validator.EXTENSION, found none"),
        ({"testplan": "1 0\n2.a 0\n2.b 0\n"}, "expected test cases that give points, found none"),
        ({"testplan": "1 1\n1 2\n2.a 1\n2.b 1\n"}, "testplan, line 2: case 1 stands twice"),
        ({"testplan": "1 0.0000000001\n2.a 7\n2.b 1\n"}, "expected points with few digits"),
        ({"statements/klingon.markdown": "nuqneH"}, "expected a language, such as es.markdown, found klingon"),
        ({"cases/deep/1.in": "1\n"}, "expected NAME.in and NAME.out directly in cases/, found another file"),
    ],
)
def test_what_has_no_equivalent_is_refused_by_name(changes: Changes, expected: str) -> None:
    assert any(expected in fault for fault in faults(changes))


def test_line_ends_of_test_data_are_made_those_of_the_format() -> None:
    read = package({"cases/1.in": "\ufeff1 2\r\n", "cases/1.out": "3"})
    case = case_of(read, "1")
    assert (case.input.read(), case.answer.read()) == (b"1 2\n", b"3\n")
    assert any("line ends have been changed" in note for note in notes({"cases/1.out": "3"}))


def test_an_archive_is_named_by_its_folder_its_file_or_the_id_asked_for() -> None:
    assert read_arrival(foreign_zip(OMEGAUP, top="A-Sum/"), None, None).package.slug == "asum"
    assert read_arrival(foreign_zip(OMEGAUP), None, "Sum (2)").package.slug == "sum2"
    assert read_arrival(foreign_zip(OMEGAUP, top="x/"), "mine", None).package.slug == "mine"
    with pytest.raises(PackageErrors, match="expected an id of lowercase letters and digits, found ''"):
        read_arrival(foreign_zip(OMEGAUP), None, None)


def test_an_import_gives_the_same_files_each_time() -> None:
    assert imported().files == imported().files

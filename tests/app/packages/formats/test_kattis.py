"""Kattis packages of older versions, and of problems for programs, become packages for answer files."""

from __future__ import annotations

import pytest
import yaml

from app.core.faults import PackageErrors
from app.packages.formats.cms import Imported, format_of, import_files
from app.packages.model import Package
from app.packages.read import assemble
from tests.builders.foreign import KATTIS_LEGACY, SCORED, Changes, foreign_files
from tests.builders.packages import package_files, verify_package

VALIDATOR: Changes = {"output_validators/own/validate.cc": "int main() {}\n", "output_validators/own/v.h": "//\n"}
MODERN = "problem_format_version: 2025-09\nuuid: 0f8b0a52-7f4e-4c39-9a3c-5a8f5a8f3c11\nname: {en: Echo, es: Eco}\n"


def imported(changes: Changes | None = None) -> Imported:
    return import_files(foreign_files(KATTIS_LEGACY, changes), "kattis", None, "sums")


def package(changes: Changes | None = None) -> Package:
    result = imported(changes)
    return assemble(result.slug, result.files)


def groups(changes: Changes) -> dict[str, tuple[int | None, str, list[str]]]:
    read = package({**SCORED, **changes})
    members = {group.name: [case.name for case in read.cases if case.group == group.name] for group in read.groups}
    return {group.name: (group.max_score, group.aggregation, members[group.name]) for group in read.groups[1:]}


def notes(changes: Changes | None = None) -> list[str]:
    return [str(note) for note in imported(changes).notes]


def faults(changes: Changes) -> list[str]:
    with pytest.raises(PackageErrors) as refused:
        imported(changes)
    return [str(fault) for fault in refused.value.errors]


def test_a_pass_fail_problem_is_all_or_nothing_and_sound() -> None:
    assert format_of(foreign_files(KATTIS_LEGACY)) == "kattis"
    assert format_of(package_files()) is None
    assert format_of(package_files({"jurado.yaml": None})) is None
    read = package()
    (group,) = (each for each in read.groups if each.name != "sample")
    assert (group.name, group.max_score, group.aggregation) == ("secret", 100, "pass-fail")
    assert [case.name for case in read.cases] == ["1", "01-small", "02"]
    assert {case.checker_args for case in read.cases} == {("case_sensitive",)}
    assert [fault for fault in verify_package(read) if fault.severity == "error"] == []


def test_metadata_and_statements_keep_their_meaning() -> None:
    read = package()
    assert read.problem.name == {"en": "Sums of Two", "sv": "Summor"}
    assert [person.name for person in read.problem.credits.authors or ()] == ["Ann Author", "Bo Writer", "Cy"]
    assert [(source.name, source.url) for source in read.problem.source] == [("A contest", "https://contest.example")]
    assert (read.problem.license, read.problem.keywords) == ("cc by-sa", ("sums", "easy"))
    assert read.files["statement/picture.png"] == b"png"
    assert "input_validators/validate.py" in read.files
    assert "submissions/accepted/good.py" in read.files
    assert any("left out: limits" in note for note in notes())


def test_output_validator_flags_of_legacy_problems_go_to_the_checker() -> None:
    read = package({"problem.yaml": "name: A\noutput_validator_flags: float_tolerance 1e-6\ncolor: red\n"})
    assert {case.checker_args for case in read.cases} == {("float_tolerance", "1e-6")}
    assert any("left out: color" in note for note in notes({"problem.yaml": "name: A\n\ncolor: 1\n"}))


def test_groups_of_a_scoring_problem_keep_their_points() -> None:
    assert groups({}) == {
        "secret/one": (40, "min", ["2", "one-1"]),
        "secret/two": (60, "sum", ["b", "c", "two-1"]),
    }
    read = package(SCORED)
    assert {case.checker_args for case in read.cases if case.group == "secret/two"} == {("float_tolerance", "1e-3")}


def test_cases_of_one_name_are_named_by_their_folders_too() -> None:
    """Samples give way to secret cases."""
    assert {case.name for case in package(SCORED).cases} == {
        "sample-1", "one-1", "2", "two-1", "b", "c"
    }  # fmt: skip
    assert any("base names were used twice" in note for note in notes(SCORED))


def test_a_group_of_the_default_flags_gives_all_or_nothing() -> None:
    strict = {"data/secret/two/testdata.yaml": "accept_score: 20\ngrader_flags: worst_error\n"}
    assert groups(strict)["secret/two"][:2] == (60, "pass-fail")
    average = {"data/secret/two/testdata.yaml": "accept_score: 20\ngrader_flags: always_accept avg\n"}
    assert groups(average)["secret/two"][:2] == (20, "sum")


def test_an_output_validator_becomes_a_program_whose_range_gives_the_points() -> None:
    changes: Changes = {**SCORED, **VALIDATOR, "problem.yaml": "name: S\ntype: scoring\nvalidation: custom score\n",
                        "data/secret/two/testdata.yaml": "range: 0 60\ngrader_flags: min\n"}  # fmt: skip
    result = imported(changes)
    assert {name for name in result.files if name.startswith("output_validator/")} == {
        "output_validator/validate.cc",
        "output_validator/v.h",
    }
    settings = yaml.safe_load(result.files["jurado.yaml"])
    assert settings["program"] == {"protocol": "kattis", "points": "absolute"}
    group = yaml.safe_load(result.files["data/secret/two/test_group.yaml"])
    assert (group["max_score"], group["score_aggregation"]) == (60, "min")


def test_a_problem_that_minimises_is_scored_relatively() -> None:
    result = imported({**SCORED, "problem.yaml": "name: S\ntype: scoring\ngrading: {objective: min}\n"})
    assert yaml.safe_load(result.files["jurado.yaml"])["scoring"] == {"kind": "relative", "direction": "minimise"}


def test_todays_packages_of_problems_for_programs_are_taken() -> None:
    files = package_files({"problem.yaml": f"{MODERN}type: pass-fail\n", "jurado.yaml": None})
    assert format_of(files) == "kattis"
    result = import_files(files, "kattis", None, "echo")
    read = assemble(result.slug, result.files)
    assert [(group.name, group.max_score, group.aggregation) for group in read.groups[1:]] == [
        ("secret", 100, "pass-fail")
    ]
    assert {case.room for case in read.validation_cases} == {"invalid_input", "invalid_output", "valid_output"}
    assert [submission.path for submission in read.submissions] == ["accepted/copy"]


def test_groups_of_todays_scoring_problems_stay_as_they_are() -> None:
    group = "max_score: 70\nscore_aggregation: min\n"
    files = package_files({"problem.yaml": f"{MODERN}type: scoring\n", "jurado.yaml": None,
                           "data/secret/test_group.yaml": group})  # fmt: skip
    result = import_files(files, "kattis", None, "echo")
    assert result.files["data/secret/test_group.yaml"] == group.encode()
    assert assemble(result.slug, result.files).max_score == 70


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"problem.yaml": None}, "problem.yaml: missing file"),
        ({"problem.yaml": "- a\n"}, "expected a map of keys to values, found list"),
        ({"problem.yaml": "problem_format_version: 2031-01\n"}, "expected 'legacy', 'legacy-icpc'"),
        ({"problem.yaml": "name: A\nvalidation: custom interactive\n"}, "found a problem that is interactive"),
        ({"problem.yaml": "name: A\ntype: [pass-fail, multi-pass]\n"}, "line 2, type: expected answers that are files"),
        ({"problem.yaml": "name: A\nvalidation: custom\n"}, "expected one program in output_validators/, found none"),
        ({**VALIDATOR, "output_validators/b.py": "1\n"}, "output_validators: expected one program, found b.py, own"),
        ({"graders/g.py": "1\n"}, "graders: expected the default grader"),
        ({**SCORED, "data/secret/testdata.yaml": "grading: custom\n"}, "grading: expected 'default', found"),
        ({**SCORED, "data/secret/testdata.yaml": "grader_flags: best\n"}, "grader_flags.0: expected 'always_accept'"),
        ({**SCORED, "data/secret/testdata.yaml": "grader_flags: max\n"}, "expected sum, as points of groups are added"),
        ({**SCORED, "data/secret/testdata.yaml": "a: &a [*a]\n"}, "line 1: not valid YAML: expected no aliases"),
        ({**SCORED, "data/secret/one/testdata.yaml": "accept_score: much\n"}, "accept_score: expected a number"),
        ({**SCORED, "data/secret/one/testdata.yaml": "scores: 1\n"}, "line 1, scores: unknown key"),
    ],
)  # fmt: skip
def test_what_has_no_equivalent_is_refused_by_name(changes: Changes, expected: str) -> None:
    assert any(expected in fault for fault in faults(changes)), faults(changes)

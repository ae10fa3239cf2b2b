"""Polygon's packages become packages: their tests, groups, points, checkers and statements."""

from __future__ import annotations

import pytest
import yaml

from app.core.faults import PackageErrors
from app.packages.arrivals import check_rules
from app.packages.formats.cms import Imported, format_of, import_files
from app.packages.model import Package
from app.packages.read import assemble
from tests.builders.foreign import POLYGON, Changes, foreign_files, polygon_xml
from tests.builders.packages import case_of, verify_package

BOMB = '<!DOCTYPE p [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;&a;">]>\n<problem>&b;</problem>\n'
PLAIN = '<test sample="true"/><test/><test/><test/>'


def imported(changes: Changes | None = None) -> Imported:
    return import_files(foreign_files(POLYGON, changes), "polygon", None, "folder")


def package(changes: Changes | None = None) -> Package:
    result = imported(changes)
    return assemble(result.slug, result.files)


def groups(changes: Changes | None = None) -> dict[str, tuple[int | None, str, list[str]]]:
    read = package(changes)
    members = {group.name: [case.name for case in read.cases if case.group == group.name] for group in read.groups}
    return {group.name: (group.max_score, group.aggregation, members[group.name]) for group in read.groups}


def checked_by(name: str) -> Changes:
    return {"problem.xml": polygon_xml().replace("std::wcmp.cpp", name)}


def faults(changes: Changes) -> list[str]:
    with pytest.raises(PackageErrors) as refused:
        imported(changes)
    return [str(fault) for fault in refused.value.errors]


def test_a_package_is_known_by_its_xml_and_becomes_a_sound_one() -> None:
    assert format_of(foreign_files(POLYGON)) == "polygon"
    read = package()
    assert (read.slug, read.problem.keywords) == ("aplusb", ("math",))
    assert read.problem.name == {"en": "A+B", "ru": "A и B"}
    assert {language: each.kind for language, each in read.statements.items()} == {"en": "pdf", "ru": "tex"}
    assert read.files["statement/sum.png"] == b"png"
    assert case_of(read, "02").input.read() == b"2 1\n"
    assert [fault for fault in verify_package(read) if fault.severity == "error"] == []


def test_groups_have_their_points_and_dependencies() -> None:
    assert groups() == {
        "sample": (None, "pass-fail", ["01"]),
        "secret/1": (30, "pass-fail", ["02", "03"]),
        "secret/2": (70, "sum", ["04"]),
    }
    assert package().groups[2].require_pass == ("secret/1",)


def test_a_problem_without_points_is_all_or_nothing() -> None:
    assert groups({"problem.xml": polygon_xml(PLAIN, "")}) == {
        "sample": (None, "pass-fail", ["01"]),
        "secret": (100, "pass-fail", ["02", "03", "04"]),
    }


def test_points_that_are_all_zero_are_none() -> None:
    zeros = PLAIN.replace("<test ", '<test points="0.0" ')
    assert groups({"problem.xml": polygon_xml(zeros, "")}) == groups({"problem.xml": polygon_xml(PLAIN, "")})


def test_tests_of_different_points_without_groups_keep_them_as_whole_numbers() -> None:
    tests = '<test points="10"/><test points="10"/><test points="0.5"/><test points="79.5"/>'
    read = package({"problem.xml": polygon_xml(tests, "")})
    assert [(case.group, case.max_points) for case in read.cases] == [("secret", at) for at in (20, 20, 1, 159)]


@pytest.mark.parametrize(
    ("name", "checker", "args"),
    [
        ("std::ncmp.cpp", "tokens", ("case_sensitive",)),
        ("std::yesno.cpp", "tokens", ()),
        ("std::lcmp.cpp", "lines", ()),
        ("std::rcmp9.cpp", "floats", ("float_tolerance", "1e-9")),
        ("std::rcmp.cpp", "floats", ("float_absolute_tolerance", "1.5e-6")),
    ],
)
def test_standard_checkers_of_testlib_are_those_here(name: str, checker: str, args: tuple[str, ...]) -> None:
    read = package(checked_by(name))
    assert (read.settings.checker, {case.checker_args for case in read.cases}) == (checker, {args})
    assert not any(path.startswith("output_validator/") for path in read.files)
    assert [fault for fault in check_rules(read) if fault.severity == "error"] == []


@pytest.mark.parametrize("name", ["check.cpp", "std::uncmp.cpp"])
def test_other_checkers_are_programs(name: str) -> None:
    result = imported(checked_by(name))
    assert {path for path in result.files if path.startswith("output_validator/")} == {
        "output_validator/check.cpp",
        "output_validator/testlib.h",
    }
    settings = yaml.safe_load(result.files["jurado.yaml"])
    assert settings["program"] == {"protocol": "testlib", "points": "fraction"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"problem.xml": None}, "problem.xml: missing file"),
        ({"problem.xml": "<problem>\n<names></problem>"}, "problem.xml: not valid XML: mismatched tag: line 2"),
        ({"problem.xml": BOMB}, "problem.xml: not valid XML: DTDForbidden"),
        ({"problem.xml": "<contest/>"}, "problem.xml: expected <problem>, found <contest>"),
        ({"problem.xml": "<problem/>"}, "expected a test set called tests, found 0"),
        ({"tests/03": None, "tests/03.a": None}, "tests/03: missing file: a full package has the generated tests too"),
        ({"problem.xml": polygon_xml().replace("</solutions>", "</solutions><interactor/>")}, "an interactive problem"),
        ({"problem.xml": polygon_xml('<test points="many"/>', "")}, "test 1: expected points of 0 or more"),
        ({"problem.xml": polygon_xml('<test group="a b"/>', "")}, "expected a group named by letters"),
        ({**checked_by("check.cpp"), "files/check.cpp": None}, "files/check.cpp: missing file: the checker's source"),
        ({"problem.xml": polygon_xml(groups='<group name="1" points-policy="best"/>')}, "complete-group or each-test"),
    ],
)  # fmt: skip
def test_what_has_no_equivalent_is_refused_by_name(changes: Changes, expected: str) -> None:
    assert any(expected in fault for fault in faults(changes)), faults(changes)


def test_an_xml_of_many_bytes_is_refused_unparsed() -> None:
    assert "bytes of XML" in faults({"problem.xml": "<problem>" + " " * (5 * 2**20)})[0]

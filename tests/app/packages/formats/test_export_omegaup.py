"""Packages leave as omegaUp's zips, and come back with all that this format says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

import pytest

from app.core.faults import PackageErrors
from app.packages.catalog import bundled
from app.packages.formats.cms import import_files
from app.packages.formats.export_omegaup import LANGUAGES, export_omegaup
from app.packages.model import Package
from app.packages.read import assemble, read_package
from tests.builders.packages import package_files

Cases = dict[str, tuple[bytes, bytes, Fraction]]
Groups = set[tuple[Fraction, frozenset[str]]]


def said(package: Package) -> tuple[Cases, Groups, list[tuple[bytes, bytes]], dict[str, str]]:
    """What omegaUp's format says of a package.

    Cases of sums by name with their points of 1 in all; groups that count whole, with their points and their cases
    without the group's name; samples as they are shown; statements but for their places of samples and empty lines.
    """
    total = Fraction(package.max_score)
    cases: Cases = {}
    groups: Groups = set()
    members: dict[str, set[str]] = defaultdict(set)
    by_name = {group.name: group for group in package.groups}
    samples: list[tuple[bytes, bytes]] = []
    for case in package.cases:
        group = by_name[case.group]
        name = case.name.removeprefix(f"{group.name.rpartition('/')[2]}.")
        whole = group.aggregation != "sum"
        if group.kind == "sample":
            samples.append((case.input.read(), (case.output or case.answer).read()))
            continue
        members[group.name].add(name)
        share = Fraction(0) if whole else case.max_points / total
        cases[name] = (case.input.read(), case.answer.read(), share)
    for name, held in members.items():
        if by_name[name].aggregation != "sum":
            groups.add((Fraction(by_name[name].max_score or 0) / total, frozenset(held)))
    texts = {language: bare(each.text) for language, each in package.statements.items() if language in LANGUAGES}
    return cases, groups, samples, texts


def bare(text: str) -> str:
    return re.sub(r"\n\n+", "\n", re.sub(r"\{\{(next|remaining)samples?\}\}", "\n", text)).strip()


def cases_of(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if name.startswith("cases/")}


def returned(package: Package, *, data_only: bool = False) -> Package:
    exported = export_omegaup(package, data_only=data_only)
    back = import_files(exported.files, "omegaup", package.slug, None)
    return assemble(back.slug, back.files)


@pytest.mark.parametrize("slug", sorted(bundled()))
def test_every_bundled_problem_comes_back_with_all_that_the_format_says(slug: str) -> None:
    package = read_package(bundled()[slug])
    back = returned(package, data_only=True)
    assert said(back) == said(package)
    images = {name: data for name, data in package.files.items() if re.fullmatch(r"statement/.*\.(png|svg|jpg)", name)}
    assert {name: back.files.get(name) for name in images} == images


@pytest.mark.parametrize("slug", sorted(bundled()))
def test_a_second_trip_changes_nothing(slug: str) -> None:
    once = export_omegaup(read_package(bundled()[slug]), data_only=True)
    back = import_files(once.files, "omegaup", slug, None)
    again = export_omegaup(assemble(slug, back.files), data_only=True)
    assert cases_of(again.files) == cases_of(once.files)
    assert set(again.files["testplan"].splitlines()) == set(once.files["testplan"].splitlines())


@pytest.mark.parametrize(
    ("args", "name"),
    [("", "token-caseless"), ("[case_sensitive]", "token"), ("[float_tolerance, 1e-4]", "token-numeric")],
)
def test_comparisons_of_tokens_come_back_with_their_arguments(args: str, name: str) -> None:
    group = f"max_score: 100\nscore_aggregation: min\noutput_validator_args: {args or '[]'}\n"
    files = package_files({
        "jurado.yaml": "checker: tokens\nscoring: {kind: absolute}\n",
        "data/secret/test_group.yaml": group,
        "data/sample/test_group.yaml": f"output_validator_args: {args or '[]'}\n",
    })  # fmt: skip
    package = assemble("echo", files)
    assert f'"{name}"' in export_omegaup(package).files["settings.json"].decode()
    back = returned(package)
    assert {case.checker_args for case in back.cases} == {
        tuple(word.replace("1e-4", "0.0001") for word in case.checker_args) for case in package.cases
    }


OWN = {
    "jurado.yaml": "program: {protocol: omegaup}\nscoring: {kind: absolute}\n",
}


@pytest.mark.parametrize(
    ("checker", "text"), [("check.py", "print(1.0)\n"), ("check.cpp", "int main() { return 0; }\n")]
)
def test_packages_with_a_validator_of_omegaup_come_back_with_it(checker: str, text: str) -> None:
    package = assemble("echo", package_files({**OWN, f"output_validator/{checker}": text}))
    back = returned(package)
    assert said(back) == said(package)
    assert back.program is not None
    assert (back.program.protocol, list(back.program.files.values())) == ("omegaup", [text.encode()])
    large = package_files({**OWN, f"output_validator/{checker}": text, "output_validator/lib.h": "//\n"})
    with pytest.raises(PackageErrors, match="output_validator/: expected one file without arguments"):
        export_omegaup(assemble("echo", large))


def test_a_checker_that_omegaup_does_not_have_is_refused() -> None:
    with pytest.raises(PackageErrors, match="expected the checker tokens or floats and absolute scoring"):
        export_omegaup(assemble("echo", package_files()))


def test_what_is_left_out_is_named() -> None:
    exported = export_omegaup(assemble("echo", package_files()), data_only=True)
    named = {warning.file for warning in exported.warnings}
    assert named == {"jurado.yaml", "problem.yaml", "data", "input_validators", "submissions"}
    assert "settings.json" not in exported.files

"""Verifying a package: its validators, its checker and its example submissions must agree with its data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.core.faults import PackageErrors
from app.packages import catalog
from app.packages.read import read_archive
from app.packages.settings import STANDARD_CHECKERS
from app.packages.submissions import matches
from app.packages.verify import verify_report
from tests.builders.packages import JURADO, verify_package, write_package, zip_package

pytestmark = pytest.mark.machine("sandbox")
Changes = Mapping[str, str | bytes | None]


def findings(changes: Changes) -> list[str]:
    return [str(finding) for finding in verify_package(read_archive(zip_package(changes)))]


def case(room: str, name: str, *, given: str, answer: str, output: str, description: str = "") -> dict[str, str]:
    files = {".in": given, ".ans": answer, ".out": output, ".yaml": f"description: {json.dumps(description)}\n"}
    return {f"data/{room}/{name}{extension}": text for extension, text in files.items()}


def test_a_sound_package_has_no_findings() -> None:
    bad = case("invalid_output", "x", given="5\n", answer="5\n", output="6", description="other")
    good = case("valid_output", "y", given="5\n", answer="5\n", output="5\n")
    invalid = {"data/invalid_input/z.in": "five\n", "data/invalid_input/z.yaml": "description: a word\n"}
    assert findings({**bad, **good, **invalid}) == []


def test_an_input_that_a_validator_refuses_is_named_with_its_reason() -> None:
    assert findings({"data/secret/02.in": "two\n"}) == [
        "data/secret/02.in: validate.py refuses this input: line 1: expected a number"
    ]


def test_an_invalid_input_that_every_validator_takes_is_named() -> None:
    text = "data/invalid_input/z.in: expected at least one input validator to refuse this input, found none"
    assert findings({"data/invalid_input/z.in": "5\n"}) == [text]


def test_the_checker_must_refuse_what_the_validators_refuse() -> None:
    found = findings({"jurado.yaml": JURADO.replace("exact", "comesolo"), "data/invalid_input/z.in": "one\n"})
    assert any("data/sample/01.in: the checker refuses this input" in fault for fault in found)


@pytest.mark.parametrize(
    ("room", "output", "expected"),
    [
        ("invalid_output", "5\n", "expected the checker to reject this answer, found it accepted"),
        ("valid_output", "6\n", "expected the checker to accept this answer, found: line 1: "),
    ],
)
def test_an_output_the_checker_thinks_otherwise_of_is_named(room: str, output: str, expected: str) -> None:
    (found,) = findings(case(room, "x", given="5\n", answer="5\n", output=output))
    assert found.startswith(f"data/{room}/x.out: {expected}")


def test_the_shown_output_of_a_sample_must_be_right() -> None:
    (found,) = findings({"data/sample/01.out": "7\n"})
    assert found.startswith("data/sample/01.out: expected an answer that the checker accepts")


def test_arguments_the_checker_does_not_take_are_named() -> None:
    files = {"data/secret/02.yaml": "output_validator_args: [fuzzy]\n"}
    (found,) = findings(files)
    assert found.endswith("failed: ValueError: checker exact: expected no arguments, found ['fuzzy']")
    tokens = {**files, "jurado.yaml": JURADO.replace("exact", "tokens")}
    assert "expected one of case_sensitive" in findings(tokens)[0]


def test_a_checker_that_is_not_there_is_named() -> None:
    (found,) = findings({"jurado.yaml": JURADO.replace("exact", "nosuch")})
    assert found.startswith("jurado.yaml, line 1, checker: expected a checker that is bundled")


def test_an_answer_over_the_limit_is_rejected_by_its_size() -> None:
    found = findings({"jurado.yaml": JURADO + "answers: {limit: 1}\n"})
    assert any("expected at most 1 bytes, found 2" in fault for fault in found)


def test_a_submission_in_accepted_needs_every_case_right() -> None:
    (found,) = findings({"submissions/accepted/copy/03.out": "4\n"})
    assert found.startswith(
        "submissions/submissions.yaml, accepted: submissions/accepted/copy: expected only AC, found WA on case 03"
    )
    (found,) = findings({"submissions/accepted/copy/03.out": None})
    assert "WA on case 03 (expected an answer file, found none)" in found


def test_a_submission_in_wrong_answer_needs_a_case_wrong() -> None:
    files = {"submissions/wrong_answer/right/02.out": "2\n", "submissions/wrong_answer/right/03.out": "3\n"}
    (found,) = findings(files)
    assert found.endswith("submissions/wrong_answer/right: expected WA on at least one case, found AC")


def test_scores_are_held_against_their_ranges() -> None:
    half = {"submissions/wrong_answer/half/02.out": "2\n"}
    for score, met in (("50", True), ("[40, 60]", True), ("[51, 60]", False), ("0", False)):
        found = findings({**half, "submissions/submissions.yaml": f"wrong_answer/half: {{score: {score}}}\n"})
        assert (found == []) is met, found
    assert "expected a score of 0, found 50" in found[0]


def test_demands_may_be_made_on_some_of_the_cases() -> None:
    rules = "wrong_answer/half:\n  secret/02: {permitted: [AC]}\n  secret/*3: {required: [WA], message: found none}\n"
    half = {"submissions/wrong_answer/half/02.out": "2\n"}
    assert findings({**half, "submissions/submissions.yaml": rules}) == []
    assert findings({**half, "submissions/submissions.yaml": rules.replace("/02", "/03")})
    assert findings({**half, "submissions/submissions.yaml": rules.replace("found none", "too slow")})


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("accepted", "accepted/a", True),
        ("accepted/*", "accepted/a", True),
        ("*", "accepted/a", True),
        ("accepted/{a,b}", "accepted/b", True),
        ("accepted/{a,b}", "accepted/c", False),
        ("accept", "accepted/a", False),
        ("accepted/a.c", "accepted/abc", False),
        ("{a", "{a", True),
        ("{a", "{a/b", True),
        ("{a/*,b{c,d}}/?", "a/b/c", True),
        ("{a/*,b{c,d}}/?", "bd/e/f", True),
        ("{a/*,b{c,d}}/?", "bd/ef", False),
        ("{" * 250 + "a,b" + "}" * 250, "b", True),
        ("a,b/*", "a,b/c", True),
    ],
)
def test_globs_match_a_path_or_a_folder_above_it(glob: str, path: str, expected: bool) -> None:
    assert matches(glob, path) is expected


def test_the_report_is_plain_data_for_programs(tmp_path: Path) -> None:
    report = verify_report(write_package(tmp_path))
    assert json.loads(json.dumps(report)) == report
    assert (report["slug"], report["valid"], report["points"]) == ("echo", True, {"accepted/copy": 100.0})
    assert report["cases"] == {"sample": 1, "secret": 2}
    broken = verify_report(write_package(tmp_path, {"jurado.yaml": None}, "broken"))
    assert broken["valid"] is False
    (error,) = broken["errors"]
    assert (error["file"], error["message"], error["severity"]) == ("jurado.yaml", "missing file", "error")
    packed = tmp_path / "echo.zip"
    packed.write_bytes(zip_package())
    assert verify_report(packed)["valid"] is True


def test_bundled_problems_are_found_by_walking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.VARIABLE, str(tmp_path))
    assert catalog.bundled() == {}
    root = write_package(tmp_path)
    (tmp_path / "notes").mkdir()
    assert catalog.bundled() == {"echo": root}
    monkeypatch.setenv(catalog.VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(PackageErrors, match="expected a folder of problem packages"):
        catalog.bundled()
    monkeypatch.delenv(catalog.VARIABLE)
    assert "comesolo" in catalog.bundled()


def test_every_standard_checker_is_bundled_also_one_that_borrows_its_doors() -> None:
    assert set(catalog.checkers()) >= STANDARD_CHECKERS
    assert set(catalog.checkers()).isdisjoint({"doors", "numbers", "tables", "comparison"})


def test_each_rule_that_a_submission_breaks_is_a_fault() -> None:
    wrong = {"submissions/accepted/copy/03.out": "4\n"}
    rules = "accepted/copy:\n  permitted: [AC]\n  score: 100\n  secret/03: {permitted: [AC]}\n"
    found = findings({**wrong, "submissions/submissions.yaml": rules})
    assert [fault.partition(": submissions/accepted/copy: ")[2].partition(" (")[0] for fault in found] == [
        "expected only AC, found WA on case 03",
        "expected a score of 100, found 50",
        "expected only AC, found WA on case 03",
        "expected only AC, found WA on case 03",
    ]

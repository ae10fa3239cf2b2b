"""The files shown in the guide to writing a problem make a package that is taken, and say there what the guide says."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from app.core.faults import PackageErrors
from app.packages.read import assemble
from scripts import make_testdata
from tests.builders.packages import package_files

GUIDE = Path(__file__).resolve().parents[1] / "docs/guides/problem-packages.md"
SHOWN = dict(re.findall(r"^```yaml\n# (\S+)\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL))
ECHOED = ("sample/01-small", "secret/1-small/102-n06", "secret/2-large/103-n30")


def shown_package(changes: dict[str, str | None] | None = None) -> dict[str, bytes]:
    """The package of the builders, with the guide's files and cases in place of its own."""
    own = {name: None for name in package_files() if name.startswith(("data/sample", "data/secret", "submissions"))}
    cases = {f"data/{case}.{end}": "1\n" for case in ECHOED for end in ("in", "ans")}
    answers = {
        f"submissions/{folder}/{case.rpartition('/')[2]}.out": "1\n"
        for folder in ("accepted/reference", "partial/greedy", "wrong_answer/one_based")
        for case in ECHOED
    }
    first = {"data/secret/1-small/test_group.yaml": "max_score: 40\n", "jurado.yaml": SETTINGS}
    return package_files({**own, **cases, **answers, **first, **SHOWN, **(changes or {})})


SETTINGS = "checker: tokens\nscoring: {kind: absolute}\n"


def test_the_guide_shows_every_file_it_describes() -> None:
    assert set(SHOWN) == {
        "data/secret/test_group.yaml",
        "data/secret/2-large/test_group.yaml",
        "generators/cases.yaml",
        "submissions/submissions.yaml",
    }


def test_the_groups_and_demands_of_the_guide_are_read_as_it_says() -> None:
    package = assemble("shown", shown_package())
    large = next(group for group in package.groups if group.name == "secret/2-large")
    assert (large.max_score, large.aggregation, large.require_pass) == (60, "min", ("secret/1-small",))
    assert package.max_score == Fraction(100)
    case = next(case for case in package.cases if case.name == "103-n30")
    assert case.checker_args == ("float_tolerance", "1e-6")
    rules = {(rule.glob, rule.cases): rule for rule in package.submission_rules}
    assert rules["partial/greedy", None].demands.score == (28, 36)
    assert rules["wrong_answer/one_based", "secret/2-large"].demands.permitted == ("WA",)


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("data/secret/test_group.yaml", "max_score: 90\n", "expected the sum of its groups' max_score, 100"),
        ("data/secret/test_group.yaml", "score_aggregation: min\n", "expected sum"),
        ("data/secret/1-small/test_group.yaml", "max_score: 40\nscore_aggregation: min\n", "pass-fail"),
        ("data/secret/1-small/test_group.yaml", None, "max_score"),
        ("data/secret/1-small/test_group.yaml", "max_score: 40\nscores: 3\n", "scores"),
    ],
)
def test_what_the_guide_says_of_groups_is_held_to(path: str, text: str | None, fault: str) -> None:
    with pytest.raises(PackageErrors) as refused:
        assemble("shown", shown_package({path: text}))
    assert fault in str(refused.value)


def test_the_plan_of_the_guide_is_one_that_make_testdata_reads(tmp_path: Path) -> None:
    for name, data in shown_package().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    plans = make_testdata.read_plans(tmp_path)
    assert [plan.name for plan in plans] == ["01-small", "102-n06", "103-n30"]
    assert plans[2].reference == {"steps": 12000000, "seed": 2}
    assert plans[0].submissions == yaml.safe_load(SHOWN["generators/cases.yaml"])["submissions"]

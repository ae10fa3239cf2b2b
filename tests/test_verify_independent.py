"""What the independent readers are shown of a package says what the package says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from app.packages.catalog import bundled
from app.packages.read import read_package
from scripts.kattis_validator import ACCEPT, REJECT, served
from scripts.verify_independent import check_schema, composed_group, composed_problem, draft_files, draft_folder

SAMPLE = Path(__file__).parents[1] / "problems/lazypiglets/data/sample/01-sample.in"


@pytest.mark.parametrize(
    ("slug", "path", "folder"),
    [
        ("lazypiglets", "accepted/reference", "accepted"),
        ("lazypiglets", "partial/bfs", "wrong_answer"),
        ("lazypiglets", "wrong_answer/no_jump", "wrong_answer"),
        ("netgame", "partial/figures", "wrong_answer"),
        ("comesolo", "partial/dfs", "partially_accepted"),
    ],
)
def test_only_a_submission_that_may_not_be_wrong_anywhere_is_partially_accepted(
    slug: str, path: str, folder: str
) -> None:
    package = read_package(bundled()[slug])
    (submission,) = (submission for submission in package.submissions if submission.path == path)
    assert draft_folder(package, submission) == folder


def test_a_group_may_have_the_keys_of_groups_and_those_of_cases() -> None:
    """As shipped, each half of the schema refuses the other's keys."""
    schema = {
        "$defs": {
            "test_case_or_group_configuration": {"properties": {"full_feedback": {"type": "boolean"}}},
            "test_group_configuration": {"properties": {"max_score": {"type": "integer"}}},
        }
    }
    whole = composed_group(schema)
    assert list(check_schema("g", {"max_score": 0, "full_feedback": True}, whole)) == ["g: fits"]
    for wrong in ({"max_score": "0"}, {"full_feedback": 1}, {"most": 1}):
        assert all(line.startswith("FAULT g") for line in check_schema("g", wrong, whole))


def test_credits_need_no_authors() -> None:
    """The format: each of their keys is optional."""
    people = {"type": "object", "required": ["authors"], "properties": {"authors": {}, "packagers": {}}}
    problem = {"type": "object", "properties": {"credits": {"anyOf": [{"type": "string"}, people]}}}
    shipped = {"$defs": {"Problem_2025_09": problem}, "$ref": "#/$defs/Problem_2025_09"}
    nobody = {"credits": {"packagers": "We"}}
    assert list(check_schema("p", nobody, composed_problem(shipped))) == ["p: fits"]
    assert next(check_schema("p", nobody, shipped)).startswith("FAULT p")


def test_statements_refer_to_a_png_for_each_drawing() -> None:
    package = read_package(bundled()["optimiza"])
    files = draft_files(package)
    drawings = {name.removesuffix(".svg") for name in package.files if name.endswith(".svg")}
    assert drawings
    assert drawings == {name.removesuffix(".png") for name in files if name.endswith(".png")}
    for name, text in files.items():
        assert not name.endswith(".svg")
        assert not name.endswith(".md") or b".svg" not in text


def test_the_validator_put_into_a_package_rejects_a_file_above_the_size_bound(tmp_path: Path) -> None:
    client = tmp_path / "run"
    with served("lazypiglets", tmp_path, {}, limit=8) as program:
        client.write_bytes(program)
        client.chmod(0o755)
        answer = tmp_path / "case.ans"
        answer.write_text("3\n")
        command = [str(client), str(SAMPLE), str(answer), str(tmp_path)]
        assert subprocess.run(command, input=b"3\n", check=False).returncode == ACCEPT
        assert subprocess.run(command, input=b"3        \n", check=False).returncode == REJECT
    assert (tmp_path / "judgemessage.txt").read_text() == "expected at most 8 bytes, found 10\n"

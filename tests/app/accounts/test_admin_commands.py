"""The admin's commands against a real service."""

from __future__ import annotations

import json
import shutil
import uuid
from pathlib import Path

import pytest

from app.packages.catalog import problems_folder
from tests.app.conftest import BOARD, Jurado


@pytest.fixture
def name() -> str:
    """An id that nothing on the shared service has."""
    return f"x{uuid.uuid4().hex[:8]}"


@pytest.fixture
def problem(admin: Jurado, name: str, tmp_path: Path) -> str:
    """A problem like comesolo that no one else on the shared service has: new answers of it change no board.

    A new expected answer of a problem with submissions waits in a rejudging until someone applies it.
    """
    package, original = tmp_path / name, problems_folder() / "comesolo"
    shutil.copytree(original, package, ignore=shutil.ignore_patterns("10[2-9]-*", "1[1-9]*", "submissions.yaml"))
    (package / "jurado.yaml").write_text(
        "checker: comesolo\nscoring: {kind: absolute}\nreference: {method: greedy, seconds: 0.2}\n"
    )
    put = admin("admin", "problem", "upload", package)
    assert put.exit_code == 0, put.output
    return name


def listed(admin: Jurado, *words: str) -> dict[str, dict[str, object]]:
    return {each["id"]: each for each in json.loads(admin("admin", *words, "list", "--json").stdout)}


def test_a_team_and_its_account_are_added_listed_and_deleted(admin: Jurado, name: str) -> None:
    assert admin("admin", "team", "add", name, "The Reds", "--hidden").exit_code == 0
    added = admin("admin", "user", "add", name, "--team", name, "--password-stdin", stdin="a long secret\n")
    assert added.exit_code == 0
    assert listed(admin, "team")[name]["hidden"] is True
    assert listed(admin, "user")[name]["team_id"] == name
    assert admin("admin", "user", "delete", name).exit_code == 0
    assert admin("admin", "team", "delete", name).exit_code == 0
    assert name not in listed(admin, "team")


def test_teams_and_accounts_are_imported_from_files(admin: Jurado, name: str, tmp_path: Path) -> None:
    (tmp_path / "teams.json").write_text(json.dumps([{"id": name, "name": "Imported"}]))
    (tmp_path / "accounts.yaml").write_text(
        f"- {{username: {name}, password: long enough, type: team, team_id: {name}}}"
    )
    assert admin("admin", "team", "import", tmp_path / "teams.json").exit_code == 0
    assert admin("admin", "user", "import", tmp_path / "accounts.yaml").exit_code == 0
    assert name in listed(admin, "user")
    assert admin("admin", "team", "import", tmp_path / "teams.json").exit_code == 1
    assert admin("admin", "team", "import", tmp_path / "teams.json", "--replace").exit_code == 0


def test_every_fault_of_an_import_is_listed(admin: Jurado, tmp_path: Path) -> None:
    (tmp_path / "teams.json").write_text(json.dumps([{"id": "a b", "name": "x"}, {"id": "c"}]))
    done = admin("admin", "team", "import", tmp_path / "teams.json")
    assert done.exit_code == 1
    assert "[0].id" in done.stderr
    assert "[1].name" in done.stderr


def test_a_contest_is_exported_and_imported_under_another_id(admin: Jurado, name: str, tmp_path: Path) -> None:
    assert admin("admin", "contest", "create", name, "A contest", "--duration", "1:00:00").exit_code == 0
    assert admin("admin", "contest", "add-problem", name, "comesolo", "--label", "C").exit_code == 0
    path = tmp_path / "contest.zip"
    assert admin("admin", "contest", "export", name, "-o", path).exit_code == 0
    done = admin("admin", "contest", "import", path, "--id", f"{name}b", "--json")
    assert json.loads(done.stdout)["id"] == f"{name}b"
    again = admin("admin", "contest", "import", path)
    assert again.exit_code == 1
    assert "a new contest" in again.stderr
    for each in (name, f"{name}b"):
        assert admin("admin", "contest", "delete", each).exit_code == 0


def test_a_contest_is_made_filled_and_deleted(admin: Jurado, name: str) -> None:
    made = admin(
        "admin", "contest", "create", name, "A contest", "--duration", "1:00:00", "--freeze", "0:10:00", "--json"
    )
    assert json.loads(made.stdout)["scoreboard_freeze_duration"] == "0:10:00.000"
    rule = ("--kind", "relative", "--counting", "last", "--carry", "none", "--max-points", "50", "--reference-counts")
    added = admin("admin", "contest", "add-problem", name, "rollingballs", "--label", "R", *rule, "--json")
    assert json.loads(added.stdout)["rule"]["kind"] == "relative"
    assert admin("admin", "team", "add", name, "A team", "--contest", name).exit_code == 0
    assert admin("admin", "contest", "remove-problem", name, "rollingballs").exit_code == 0
    assert admin("admin", "contest", "delete", name).exit_code == 0
    assert name not in listed(admin, "contest")


def test_a_test_case_gets_its_expected_answer_from_a_reference_run(
    admin: Jurado, problem: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "board.in").write_bytes(BOARD)
    how = ("--method", "greedy", "--seconds", "0.2")
    put = admin("admin", "testcase", "put", problem, f"secret/{name}", tmp_path / "board.in", *how)
    assert put.exit_code == 0, put.output
    assert (
        f"test case secret/{name} of {problem} has no expected answer yet, so it takes no answers: job " in put.stderr
    )
    assert "greedy, seed" in put.stderr
    ran = admin("admin", "reference", "run", problem, name, *how, "--json")
    assert ran.exit_code == 0
    assert json.loads(ran.stdout)["result"]["cases"][name]["method"] == "greedy"
    cases = json.loads(admin("admin", "testcase", "list", problem, "--json").stdout)
    assert next(case for case in cases if case["name"] == name)["answer_size"] > 0
    assert admin("admin", "testcase", "delete", problem, f"secret/{name}").exit_code == 0
    assert admin("admin", "problem", "delete", problem).exit_code == 0


def test_a_damaged_test_case_is_refused_with_its_reason(admin: Jurado, name: str, tmp_path: Path) -> None:
    (tmp_path / "board.in").write_text("2\noo\nox\n")
    done = admin("admin", "testcase", "put", "comesolo", f"secret/{name}", tmp_path / "board.in")
    assert done.exit_code == 1
    assert 'expected "o" or "."' in done.stderr


def test_a_package_is_uploaded_downloaded_and_deleted(admin: Jurado, name: str, tmp_path: Path) -> None:
    folder, archive = tmp_path / name, tmp_path / "back.zip"
    admin("package", "new", folder)
    assert admin("admin", "problem", "upload", folder).exit_code == 0
    assert admin("package", "import", folder).exit_code == 0
    assert name in listed(admin, "problem")
    assert admin("admin", "problem", "download", name, "--out", archive).exit_code == 0
    assert admin("package", "verify", archive).exit_code == 0
    assert admin("admin", "problem", "delete", name).exit_code == 0


def test_a_job_that_has_ended_cannot_be_cancelled(admin: Jurado, problem: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "board.in").write_bytes(BOARD)
    put = ("admin", "testcase", "put", problem, f"secret/{name}", tmp_path / "board.in")
    admin(*put, "--method", "greedy", "--seconds", "0.2", "--no-wait")
    ran = admin("admin", "reference", "run", problem, name, "--method", "greedy", "--seconds", "0.2", "--json")
    job = json.loads(ran.stdout)["id"]
    assert admin("admin", "job", "watch", job).exit_code == 0
    done = admin("api", "DELETE", f"jobs/{job}")
    assert (done.exit_code, done.stderr) == (1, f"jurado: job {job} has ended already\n")
    assert admin("admin", "problem", "delete", problem).exit_code == 0


def test_a_team_may_not_administer(team: Jurado, name: str) -> None:
    done = team("admin", "team", "add", name, "Mine")
    assert (done.exit_code, done.stderr) == (1, "jurado: only an owner of the contest or an admin may do this\n")

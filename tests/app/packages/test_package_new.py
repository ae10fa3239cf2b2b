"""`jurado package new`: what it takes, and a whole problem's way from it to a contest's board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.commands.fresh_service import Running
from app.packages.read import read_package
from tests.app.conftest import Jurado
from tests.builders.terminal import Terminal


def test_an_empty_package_verifies_once_it_has_a_case_and_a_solution(jurado: Jurado, tmp_path: Path) -> None:
    folder = tmp_path / "sums"
    assert jurado("package", "new", folder, "--empty", "--checker", "python").exit_code == 0
    assert jurado("package", "new", tmp_path / "copy", "--empty").exit_code == 0
    faults = jurado("package", "verify", tmp_path / "copy").stdout
    assert "data/secret: error: expected at least one test case" in faults
    assert "submissions/accepted: error: expected at least one accepted submission" in faults
    (folder / "submissions/accepted").mkdir(parents=True)
    (folder / "submissions/accepted/solution.py").write_text("print(input())\n")
    for place in ("01.in", "01.ans"):
        (folder / "data/secret" / place).write_text("1\n")
    done = jurado("package", "verify", folder)
    assert done.exit_code == 0, done.stderr


def test_the_scoring_chooses_the_checker(jurado: Jurado, tmp_path: Path) -> None:
    assert jurado("package", "new", tmp_path / "tour", "--scoring", "minimise").exit_code == 0
    settings = read_package(tmp_path / "tour").settings
    assert (settings.checker, settings.scoring.kind) == ("program", "relative")


def test_all_options_have_defaults(jurado: Jurado, tmp_path: Path) -> None:
    made = jurado("package", "new", tmp_path / "mysum", "--json")
    assert made.exit_code == 0
    document = json.loads(made.stdout)
    assert sorted(
        path.relative_to(tmp_path / "mysum").as_posix() for path in (tmp_path / "mysum").rglob("*.*")
    ) == sorted(document["files"])
    assert jurado("package", "new").exit_code == 2


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["My-Sum"], "expected a folder named by lowercase letters and digits, at most 36, found 'My-Sum'"),
        (["a" * 37], "at most 36"),
        (["sum", "--scoring", "rank", "--checker", "tokens"], "expected one that can score rank (python, c++, metric)"),
        (["sum", "--language", "Spanish"], "--language: expected a code such as en or pt-BR, found 'Spanish'"),
    ],
)
def test_what_cannot_be_made_is_one_clear_line_and_leaves_nothing(
    jurado: Jurado, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], fault: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = jurado("package", "new", *words)
    assert (done.exit_code, fault in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_summary_fits_a_terminal_of_80_columns(
    jurado: Jurado, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = jurado("package", "new", "tour", "--scoring", "minimise", "--checker", "python")
    assert max(map(len, made.stdout.splitlines())) <= 80


@pytest.mark.long
@pytest.mark.machine("sandbox")
def test_a_problem_that_nobody_saw_goes_from_nothing_to_the_board_of_a_contest(
    service: Running, admin_token: str, tmp_path: Path
) -> None:
    """Begun, verified, tried alone, brought to a server, put into a contest, submitted to by two teams: all real."""
    terminal = Terminal(tmp_path)
    name = "nobodysaw"
    terminal.run("package", "new", name, "--scoring", "minimise", "--checker", "python")
    assert "sound" in terminal.run("package", "verify", name, "--strict")
    with terminal.running("package", "serve", name, "--no-examples") as serving:
        serving.until("Ctrl-C ends")
    jury = Terminal(tmp_path, {"JURADO_URL": service.url, "JURADO_TOKEN": admin_token})
    assert "6 test cases" in jury.run("admin", "problem", "upload", name)
    jury.run("admin", "contest", "create", "unseen", "Unseen", "--start", "now", "--duration", "5:00:00")
    jury.run("admin", "contest", "add-problem", "unseen", name)
    points = {}
    for team, answers in (("unseen-ants", "accepted/reference"), ("unseen-bees", "partial/simple")):
        jury.run("admin", "team", "add", team, team, "--contest", "unseen")
        jury.exported["JURADO_PASSWORD"] = "a secret of theirs"
        jury.run("admin", "user", "add", team, "--team", team)
        contestant = Terminal(tmp_path, {"JURADO_PASSWORD": "a secret of theirs"})
        contestant.run("login", service.url, team)
        assert "Nobodysaw" in contestant.run("problems", "unseen", "--inputs", "inputs")
        assert (tmp_path / f"inputs/{name}/05.in").is_file()
        contestant.run("submit", "unseen", name, f"{name}/submissions/{answers}", "--wait")
    for row in json.loads(jury.run("scoreboard", "unseen", "--json"))["rows"]:
        points[row["team_id"]] = row["score"]["score"]
    verified = json.loads(jury.run("package", "verify", name, "--json"))["points"]
    assert points == {
        "unseen-ants": pytest.approx(verified["accepted/reference"]),
        "unseen-bees": pytest.approx(verified["partial/simple"]),
    }

"""`jurado package new`: what it asks, what it takes, and a whole problem's way from it to a contest's board."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from app.commands import package_new
from app.commands.fresh_service import Running
from app.packages.read import read_package
from app.sandbox.child import environment, module_command
from tests.app.conftest import Jurado
from tests.builders.terminal import Terminal


def test_a_person_at_a_terminal_is_asked_and_asked_again(tmp_path: Path) -> None:
    """Words and numbers of the lists are taken, an empty answer is the default, and nonsense is asked again."""
    keyboard, screen = os.openpty()
    process = subprocess.Popen(
        module_command("app.commands", "package", "new"),
        cwd=tmp_path,
        stdin=screen,
        stdout=screen,
        stderr=screen,
        env=environment(),
    )
    os.close(screen)
    answers = "guess\nGuess the price\nen, es\nprediction\n9\nminimise\n\n30,20\n50\n\n"
    os.write(keyboard, answers.encode())
    shown = b""
    try:
        while data := os.read(keyboard, 4096):
            shown += data
    except OSError:  # the terminal's other side is closed
        pass
    os.close(keyboard)
    assert process.wait(60) == 0, shown.decode()
    assert b"expected one of points, minimise, maximise, rank, pass-fail, or a number from 1 to 5, found '9'" in shown
    assert b"tokens" not in shown  # as no checker that only knows right and wrong can score so
    package = read_package(tmp_path / "guess")
    assert (package.settings.checker, package.settings.scoring.direction) == ("metric", "minimise")
    assert package.problem.name == {"en": "Guess the price", "es": "Guess the price"}
    assert [(group.kind, group.max_score) for group in package.groups[1:]] == [
        ("provisional", 30), ("provisional", 20), ("final", 50),
    ]  # fmt: skip


def test_an_empty_package_verifies_once_it_has_a_case_and_a_solution(jurado: Jurado, tmp_path: Path) -> None:
    folder = tmp_path / "sums"
    assert jurado("package", "new", folder, "--empty", "--kind", "partial", "--final", "20").exit_code == 0
    assert jurado("package", "new", tmp_path / "copy", "--empty").exit_code == 0
    faults = jurado("package", "verify", tmp_path / "copy").stdout
    assert "data/secret: error: expected at least one test case" in faults
    assert "submissions/accepted: error: expected at least one accepted submission" in faults
    (folder / "submissions/accepted").mkdir(parents=True)
    (folder / "submissions/accepted/solution.py").write_text("print(input())\n")
    for place in ("provisional/01", "final/02"):
        (folder / "data/secret" / f"{place}.in").write_text("1\n")
        (folder / "data/secret" / f"{place}.ans").write_text("1\n")
    done = jurado("package", "verify", folder)
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(
    ("kind", "checker"), [("right-or-wrong", "tokens"), ("prediction", "metric"), ("optimization", "")]
)
def test_the_kind_of_problem_sets_scoring_and_checker(jurado: Jurado, tmp_path: Path, kind: str, checker: str) -> None:
    assert jurado("package", "new", tmp_path / "sums", "--kind", kind).exit_code == 0
    settings = read_package(tmp_path / "sums").settings
    assert settings.checker == (checker or "program")
    assert settings.scoring.kind == ("relative" if kind == "optimization" else "absolute")


def test_a_pipe_is_asked_nothing(jurado: Jurado, tmp_path: Path) -> None:
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
        (["sum", "--scoring", "rank", "--checker", "exact"], "expected one that can score rank (python, c++, metric)"),
        (["sum", "--groups", "30,many"], "--groups: expected whole numbers of points, found 'many'"),
        (["sum", "--groups", "0,100"], "--groups: expected points from 1 to 1000000, found 0"),
        (["sum", "--final", "-5"], "--final: expected points from 1 to 1000000, found -5"),
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
    texts = [*package_new.SCORING_MEANINGS.values(), *package_new.CHECKER_MEANINGS.values()]
    assert max(map(len, texts)) <= 80 - len("  1  pass-fail  ")
    assert max(map(len, package_new.KIND_MEANINGS.values())) <= 80 - len("  1  right-or-wrong  ")


@pytest.mark.long
@pytest.mark.machine("sandbox")
def test_a_problem_that_nobody_saw_goes_from_nothing_to_the_board_of_a_contest(
    service: Running, admin_token: str, tmp_path: Path
) -> None:
    """Begun, verified, tried alone, brought to a server, put into a contest, submitted to by two teams: all real."""
    terminal = Terminal(tmp_path)
    name = "nobodysaw"
    terminal.run("package", "new", name, "--scoring", "minimise", "--checker", "python", "--groups", "40,60", "--yes")
    assert "sound" in terminal.run("package", "verify", name, "--strict")
    with terminal.running("package", "serve", name, "--no-examples") as serving:
        serving.until("Ctrl-C ends")
    jury = Terminal(tmp_path, {"JURADO_URL": service.url, "JURADO_TOKEN": admin_token})
    assert "7 test cases" in jury.run("admin", "problem", "upload", name)
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
        assert (tmp_path / f"inputs/{name}/06.in").is_file()
        contestant.run("submit", "unseen", name, f"{name}/submissions/{answers}", "--wait")
    for row in json.loads(jury.run("scoreboard", "unseen", "--json"))["rows"]:
        points[row["team_id"]] = row["score"]["score"]
    verified = json.loads(jury.run("package", "verify", name, "--json"))["points"]
    assert points == {
        "unseen-ants": pytest.approx(verified["accepted/reference"]),
        "unseen-bees": pytest.approx(verified["partial/simple"]),
    }

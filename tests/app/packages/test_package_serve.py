"""`jurado package serve`: a package alone on a server, brought in again whenever a file of it changes."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import httpx
import psutil
import pytest
from watchfiles import Change

from app.commands.package_stage import names_of_changes
from tests.builders.terminal import Running, Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def exported(running: Running) -> dict[str, str]:
    """The variables that the command says to export for a contestant."""
    running.until("As a judge")
    return dict(re.findall(r"export (JURADO_\w+)=(\S+)", "\n".join(running.lines)))


def test_a_package_is_tried_changed_broken_and_mended_while_it_is_served(terminal: Terminal) -> None:
    """The last good state goes on beside errors; a changed answer judges again; Ctrl-C leaves nothing behind."""
    folder = terminal.folder / "mysum"
    terminal.run("package", "new", "mysum")
    with terminal.running("package", "serve", "mysum") as running:
        assert running.until("brought in").endswith("mysum: brought in")
        terminal.exported = exported(running)
        assert terminal.run("statement", "mysum").startswith("# Mysum")
        sent = terminal.run("submit", "practice", "mysum", "mysum/submissions/accepted/reference", "--wait")
        assert "AC, 100.00 of 100.00 points" in sent
        board = json.loads(terminal.run("scoreboard", "practice", "--json"))
        assert [row["score"]["score"] for row in board["rows"]] == [100.0, 100.0, 80.0, 0.0]

        settings = (folder / "jurado.yaml").read_text()
        (folder / "jurado.yaml").write_text(settings.replace("kind: absolute", "kind: sometimes"))
        fault = running.until("error:")
        assert re.match(r"mysum/jurado\.yaml:\d+: error: scoring\.kind: expected 'absolute'", fault), fault
        assert "jurado.yaml: 1 error; its last good state goes on" in running.until("goes on")
        sent = terminal.run("submit", "practice", "mysum", "mysum/submissions/wrong_answer/simple", "--wait")
        assert "points" in sent

        (folder / "jurado.yaml").write_text(settings)
        (folder / "data/secret/05.ans").write_text("1\n1\n")
        running.until("accepted/reference: expected only AC, found WA on case 05")
        assert "2 of 5 submissions judged otherwise" in running.until("judged otherwise")
        assert "accepted/reference, submission 1: AC 100.00 -> PC 80.00 (1 case)" in running.until("submission 1")
        board = json.loads(terminal.run("scoreboard", "practice", "--json"))
        assert [row["score"]["score"] for row in board["rows"]] == [80.0, 80.0, 80.0, 0.0]

        (folder / "submissions/wrong_answer/late").mkdir()
        (folder / "submissions/wrong_answer/late/01.out").write_text("0\n")
        running.until("wrong_answer/late")
        url = terminal.exported["JURADO_URL"]
    assert running.lines[-1] == "Stopped serving mysum; nothing was kept"
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health/live")
    assert list((terminal.folder / ".tmp").iterdir()) == []


def test_a_package_with_errors_comes_in_once_they_are_mended(terminal: Terminal) -> None:
    """In the end the command is killed by a signal that it never hears of: its server ends with it."""
    terminal.run("package", "new", "mysum")
    statement = terminal.folder / "mysum/statement/problem.en.md"
    text = statement.read_text()
    statement.write_text(f"{text}\n![a picture](missing.png)\n")
    with terminal.running("package", "serve", "mysum", "--json", "--no-examples") as running:
        running.until('"stored"')
        first, server = json.loads(running.lines[-1]), json.loads(running.until('"token"'))
        assert (first["stored"], first["faults"][0]["file"]) == (False, "statement/problem.en.md")
        assert first["faults"][0]["line"] == len(text.splitlines()) + 2
        auth = {"Authorization": f"Bearer {server['token']}"}
        assert httpx.get(f"{server['url']}/api/contests/practice/problems", headers=auth).json() == []
        statement.write_text(text)
        running.until('"stored"')
        assert json.loads(running.lines[-1])["changed"] == ["statement/problem.en.md"]
        (problem,) = httpx.get(f"{server['url']}/api/contests/practice/problems", headers=auth).json()
        assert problem["id"] == server["problem"] == "mysum"
        (contest,) = httpx.get(f"{server['url']}/api/contests", headers=auth).json()
        assert contest["id"] == server["contest"]
        (team,) = httpx.get(f"{server['url']}/api/contests/practice/teams", headers=auth).json()
        assert team["id"] == "you"
        started = psutil.Process(running.process.pid).children(recursive=True)
        assert len(started) > 1  # the server and its graders
        running.process.kill()
        running.code = -signal.SIGKILL
        assert psutil.wait_procs(started, timeout=60)[1] == []


def test_a_new_folder_stands_for_its_files_and_what_has_gone_again_for_none(tmp_path: Path) -> None:
    """A file made before its new folder was watched is in no change of its own."""
    (tmp_path / "late/inner").mkdir(parents=True)
    (tmp_path / "late/inner/01.out").write_text("0\n")
    changes = {(Change.added, str(tmp_path / "late")), (Change.added, str(tmp_path / "4913~"))}
    assert names_of_changes(tmp_path, changes) == ["late/inner/01.out"]
    changes = {(Change.modified, str(tmp_path / "late")), (Change.deleted, str(tmp_path / "old.in"))}
    assert names_of_changes(tmp_path, changes) == ["old.in"]


def test_what_is_no_folder_is_one_clear_line(terminal: Terminal) -> None:
    (terminal.folder / "a.zip").write_bytes(b"")
    for place, fault in (("nowhere", "found nothing"), ("a.zip", "found a file")):
        assert terminal.run("package", "serve", place, code=2).strip().endswith(fault)


@pytest.mark.machine("sandbox")
def test_faults_of_a_checker_are_shown_at_its_line_and_a_mended_one_judges_again(terminal: Terminal) -> None:
    checker = terminal.folder / "tour/checker.py"
    terminal.run("package", "new", "tour", "--scoring", "rank")
    text = checker.read_text()
    broken = text.replace("return length,", "return lenght,")
    line = 1 + broken[: broken.index("lenght")].count("\n")
    with terminal.running("package", "serve", "tour") as running:
        running.until("Ctrl-C ends")
        checker.write_text(broken)
        fault = f"tour/checker.py:{line}: error: NameError: name 'lenght' is not defined (data/sample/1-square.in and"
        assert running.until("error:").startswith(fault)
        checker.write_text(text.replace("def score(", "def score(:"))
        assert "checker.py" in running.until("SyntaxError: invalid syntax")
        checker.write_text(text.replace("return length,", "return 30000 - length,"))
        assert "2 of 3 submissions judged otherwise" in running.until("judged otherwise")
        running.until("accepted/reference, submission 1: AC 100.00 -> AC")

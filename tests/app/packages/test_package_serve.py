"""`jurado package serve`: a package alone on a server, brought in again whenever a file of it changes."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import httpx
import psutil
import pytest

from tests.builders.terminal import Running, Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def exported(running: Running) -> dict[str, str]:
    """The variables that the command says to export for a contestant."""
    running.until("As a judge")
    return dict(re.findall(r"export (JURADO_\w+)=(\S+)", "\n".join(running.lines)))


def test_a_package_is_tried_changed_broken_and_mended_while_it_is_served(terminal: Terminal) -> None:
    """The last good state continues beside errors; a changed answer judges again; Ctrl-C leaves nothing behind."""
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
        assert "mysum: 1 error; its last valid state is served" in running.until("is served")
        sent = terminal.run("submit", "practice", "mysum", "mysum/submissions/wrong_answer/simple", "--wait")
        assert "points" in sent

        (folder / "jurado.yaml").write_text(settings)
        (folder / "data/secret/05.ans").write_text("1\n1\n")
        running.until("accepted/reference: expected only AC, found WA on case 05")
        assert "2 of 5 submissions judged otherwise" in running.until("judged otherwise")
        board = json.loads(terminal.run("scoreboard", "practice", "--json"))
        assert [row["score"]["score"] for row in board["rows"]] == [80.0, 80.0, 80.0, 0.0]

        (folder / "submissions/wrong_answer/late").mkdir()
        (folder / "submissions/wrong_answer/late/01.out").write_text("0\n")
        running.until("brought in")
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
    with terminal.running("package", "serve", "mysum", "--no-examples") as running:
        line = len(text.splitlines()) + 2
        assert running.until("error:").startswith(f"mysum/statement/problem.en.md:{line}: error: ")
        server = exported(running)
        problems = f"{server['JURADO_URL']}/api/contests/practice/problems"
        auth = {"Authorization": f"Bearer {server['JURADO_TOKEN']}"}
        assert httpx.get(problems, headers=auth).json() == []
        statement.write_text(text)
        running.until("mysum: brought in")
        (problem,) = httpx.get(problems, headers=auth).json()
        assert problem["id"] == "mysum"
        (team,) = httpx.get(f"{server['JURADO_URL']}/api/contests/practice/teams", headers=auth).json()
        assert team["id"] == "you"
        started = psutil.Process(running.process.pid).children(recursive=True)
        assert len(started) > 1  # the server and its graders
        running.process.kill()
        running.code = -signal.SIGKILL
        assert psutil.wait_procs(started, timeout=60)[1] == []


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

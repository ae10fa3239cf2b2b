"""A contest goes from one server to another by the command line: two processes, with graders of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import Running, fresh_service
from app.packages.catalog import bundled
from tests.app.conftest import BOARD, FEW_GRADERS, Jurado
from tests.conftest import forked

CASE = "150-mine"
CHANGED = b"3\no.o\no..\n...\n"
"""The board without the piece that the second jump of the better answer eats."""
ANCHORS = b"par 1\nbest 2\n"
ANSWERS = {"a": b"1\n0 0 2 0\n", "b": b"2\n0 0 2 0\n0 2 0 0\n"}


@dataclass(frozen=True)
class Server:
    """A running server, asked as admin over HTTP and by the command line."""

    url: str
    token: str
    http: httpx.Client
    jurado: Jurado
    environment: pytest.MonkeyPatch

    def run(self, *words: object) -> str:
        """A command that has to succeed; returns what it prints."""
        self.environment.setenv("JURADO_URL", self.url)
        self.environment.setenv("JURADO_TOKEN", self.token)
        done = self.jurado(*words)
        assert done.exit_code == 0, done.output
        return done.stdout

    def post(self, path: str, **more: Any) -> dict[str, Any]:
        """A request that has to succeed; returns its reply."""
        made: dict[str, Any] = self.http.post(path, **more).raise_for_status().json()
        return made

    def rows(self) -> list[Any]:
        """The board as an admin sees it over HTTP, but for the ids of problems."""
        board = self.http.get("contests/moved/scoreboard").raise_for_status().json()
        for row in board["rows"]:
            for cell in row["problems"]:
                del cell["problem_id"]
        return list(board["rows"])


@contextmanager
def server(running: Running, jurado: Jurado, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Log in to a server as admin."""
    token = new_login(running.url, "admin", running.password).token
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{running.url}/api/", headers=headers, timeout=100) as http:
        yield Server(running.url, token, http, jurado, monkeypatch)


@pytest.fixture
def origin(tmp_path: Path, jurado: Jurado, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server of which comesolo is the only problem."""
    home, problems = tmp_path / "origin", tmp_path / "problems"
    home.mkdir()
    problems.mkdir()
    (problems / "comesolo").symlink_to(bundled()["comesolo"])
    with (
        fresh_service(home, {"JURADO_PROBLEMS": str(problems), **FEW_GRADERS}, forked) as running,
        server(running, jurado, monkeypatch) as origin,
    ):
        yield origin


@pytest.fixture
def there(service: Running, jurado: Jurado, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server that all tests of the command line share: it has comesolo as it is bundled, and other contests."""
    with server(service, jurado, monkeypatch) as there:
        yield there


def put_case(origin: Server, folder: Path, board: bytes) -> str:
    """Give comesolo the case; returns what the command prints."""
    (folder / "case").write_bytes(board)
    (folder / "anchors").write_bytes(ANCHORS)
    return origin.run(
        "admin", "testcase", "put", "comesolo", f"secret/{CASE}", folder / "case", "--answer", folder / "anchors"
    )


def play(origin: Server, folder: Path) -> None:
    """Two teams answer a case that was added to comesolo, which is then judged again with another board."""
    put_case(origin, folder, BOARD)
    start = "2026-01-01T00:00:00Z"
    origin.post("contests", json={"id": "moved", "name": "M", "start_time": start, "duration": "90000:00:00"})
    origin.post("contests/moved/problems", json={"id": "comesolo"})
    origin.post("teams", json=[{"id": f"moved{team}", "name": team} for team in ANSWERS])
    origin.post("contests/moved/teams", json={"team_ids": [f"moved{team}" for team in ANSWERS]})
    for team, answer in ANSWERS.items():
        form = {"problem_id": "comesolo", "team_id": f"moved{team}"}
        made = origin.post("contests/moved/submissions", data=form, files={"files": (f"{CASE}.out", answer)})
        while origin.http.get(f"contests/moved/submissions/{made['id']}/report").json()["state"] != "done":
            pass
    assert [row["team_id"] for row in origin.rows()] == ["movedb", "moveda"]
    number = put_case(origin, folder, CHANGED).split(" as rejudging ")[1].split()[0]
    origin.run("admin", "rejudging", "watch", "moved", number)
    origin.run("admin", "rejudging", "apply", "moved", number)
    assert [row["team_id"] for row in origin.rows()] == ["moveda", "movedb"]


def make_busy(server: Server) -> None:
    """A contest of the server's own, whose submissions have the numbers 1 and 2."""
    start = "2026-01-01T00:00:00Z"
    server.post("contests", json={"id": "own", "name": "O", "start_time": start, "duration": "90000:00:00"})
    server.post("contests/own/problems", json={"id": "comesolo"})
    server.post("teams", json={"id": "own", "name": "Own"})
    server.post("contests/own/teams", json={"team_ids": ["own"]})
    form = {"problem_id": "comesolo", "team_id": "own"}
    sent = {"files": ("101-n05-p70.out", b"0\n")}
    while int(server.post("contests/own/submissions", data=form, files=sent)["id"]) < len(ANSWERS):
        pass


def test_a_rejudged_contest_has_its_board_on_another_server_and_its_solver(
    origin: Server, there: Server, tmp_path: Path
) -> None:
    """The other server has comesolo as it is bundled, and submissions of the same numbers; its graders judge all."""
    play(origin, tmp_path)
    before, package = origin.rows(), tmp_path / "moved.zip"
    origin.run("admin", "contest", "export", "moved", "-o", package)
    make_busy(there)
    said = there.run("admin", "contest", "import", package)
    assert "comesolo is another one here; the package's is used, as comesolo2" in said
    assert "2 submissions have been queued" in said
    while there.rows() != before:  # as they are judged
        pass
    assert [each["id"] for each in there.http.get("contests/moved/submissions").json()] == ["1", "2"]
    runs = {server.url: server.http.get("contests/moved/runs").json() for server in (origin, there)}
    verdicts = [[each["judgement_type_id"] for each in some][-2:] for some in runs.values()]
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[1]) == 2
    how = ("--method", "greedy", "--seconds", "0.2", "--json")
    solved = json.loads(there.run("admin", "reference", "run", "comesolo2", "101-n05-p70", *how))
    assert solved["result"]["cases"]["101-n05-p70"]["method"] == "greedy"

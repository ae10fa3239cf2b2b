"""`jurado serve` and `init`, and the demo that plays everything."""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
import subprocess
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.commands.fresh_service import Running, fresh_service
from app.core.commands.output import Failure
from app.core.db.serving import hold
from app.core.files.open_files import LocalFiles
from app.core.settings import Settings
from app.operations.commands.running import bind
from app.packages.catalog import VARIABLE
from app.sandbox.child import environment, module_command
from tests.app.conftest import FEW_GRADERS, Jurado
from tests.builders.packages import write_problems
from tests.conftest import forked


def test_port_0_prints_the_port_that_was_taken(service: Running) -> None:
    assert not service.url.endswith(":0")
    assert httpx.get(f"{service.url}/health/live").json() == {"status": "alive"}


def test_a_port_in_use_is_one_clear_line(jurado: Jurado, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = jurado("serve", "--port", port, "--home", tmp_path / "home")
    assert done.exit_code == 1
    assert done.stderr == f"jurado: cannot listen on 127.0.0.1 port {port}: Address already in use\n"
    assert not (tmp_path / "home").exists()


def test_a_bound_port_refuses_connections_until_the_server_can_answer() -> None:
    with bind("127.0.0.1", 0) as bound:
        address = bound.getsockname()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
        bound.listen()
        with pytest.raises(Failure, match="Address already in use"):
            bind(*address)
        socket.create_connection(address).close()


def test_a_wrong_setting_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "jurado.toml").write_text('port = "many"\nsurprise = 1\n')
    done = subprocess.run(
        module_command("app.commands", "serve"),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("jurado: settings: ")
    assert "port" in done.stderr
    assert "surprise" in done.stderr


@pytest.mark.parametrize("verb", ["serve --port 0", "init"])
def test_a_database_of_a_newer_version_is_one_clear_line(jurado: Jurado, tmp_path: Path, verb: str) -> None:
    with closing(sqlite3.connect(tmp_path / "jurado.db")) as newer, newer:
        newer.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        newer.execute("INSERT INTO alembic_version VALUES ('ffffffffffff')")
    done = jurado(*verb.split(), "--home", tmp_path)
    assert done.exit_code == 1
    assert done.stderr.startswith("jurado: the database has the schema ffffffffffff, which this version")
    assert "restore a backup from before it" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said", "code"),
    [
        ("JURADO_FILES_URL", "ftp://me:secret@there", "settings: files_url: expected file:///FOLDER or s3://BUCKET", 2),
        ("JURADO_DATABASE_URL", "mysql://me:secret@there/x", "settings: database_url: expected postgresql://...", 2),
        ("JURADO_BROKER_URL", "redis://there", "settings: broker_url: expected amqp://... or nothing", 2),
        ("JURADO_BROKER_URL", "amqp://there", "settings: broker_url: requires a database_url of PostgreSQL", 2),
        ("JURADO_DATABASE_URL", "postgresql://me@/x?host=/nowhere", "the database cannot be used: connection", 1),
        ("JURADO_HOME", "/dev/null/home", "/dev/null/home: Not a directory", 1),
    ],
)
@pytest.mark.parametrize("verb", ["serve --port 0", "init"])
def test_a_place_that_cannot_be_used_is_one_clear_line(
    jurado: Jurado,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    verb: str,
    name: str,
    value: str,
    said: str,
    code: int,
) -> None:
    monkeypatch.setenv("JURADO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(name, value)
    done = jurado(*verb.split())
    assert done.exit_code == code
    assert done.stderr.startswith(f"jurado: {said}")
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr


def test_a_jurado_toml_that_does_not_read_is_named(
    jurado: Jurado, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "jurado.toml").write_text('port = "x\n')
    monkeypatch.chdir(tmp_path)
    assert jurado("init").stderr.startswith("jurado: settings: jurado.toml: Illegal character")


def few(folder: Path) -> dict[str, str]:
    """Settings of a service with one grader and two small problems."""
    return {VARIABLE: str(write_problems(folder / "problems")), **FEW_GRADERS}


def test_a_service_that_is_asked_to_stop_ends_its_streams_and_says_so(tmp_path: Path) -> None:
    with ExitStack() as streams:
        with fresh_service(tmp_path, few(tmp_path), forked) as running:
            assert httpx.get(f"{running.url}/health/ready").status_code in {200, 503}
            replies = [
                streams.enter_context(
                    httpx.stream("GET", f"{running.url}/api/contests/demo/{path}", timeout=20, auth=user)
                )
                for path, user in (
                    ("event-feed", None),
                    ("scoreboard/stream", None),
                    ("submissions/stream", ("admin", running.password)),
                )
            ]
            assert [reply.status_code for reply in replies] == [200, 200, 200]
            assert {reply.headers.get("content-encoding") for reply in replies} == {None}  # httpx had asked for gzip
            lines = replies[0].iter_lines()
            assert json.loads(next(lines))["type"] == "contest"
        assert all(json.loads(line)["type"] for line in lines if line)  # to the end, and that without an error
    log = (tmp_path / "server.log").read_text()
    events = [json.loads(line)["event"] for line in log.splitlines()]  # nothing else is in the log
    assert events[-1].startswith("Finished server process")
    assert "graceful shutdown exceeded" not in log  # what the server says of streams that it had to cancel


def test_init_says_what_is_there_and_changes_nothing_the_second_time(jurado: Jurado, tmp_path: Path) -> None:
    first = jurado("init", "--home", tmp_path / "home", "--json")
    second = jurado("init", "--home", tmp_path / "home", "--json")
    there = json.loads(second.stdout)
    assert json.loads(first.stdout) == there
    assert there["accounts"] == ["admin"]
    assert "comesolo" in there["problems"]
    assert "the password" in first.stderr
    assert "the password" not in second.stderr


def test_the_demo_plays_to_its_end_without_a_fault() -> None:
    done = subprocess.run(
        module_command("app.commands", "demo"),
        env=os.environ | environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    frozen = re.findall(r"(?:the board freezes:|the frozen board shows) (.*)", done.stdout)
    undone = re.findall(r"(?:before|undone): +(.*)", done.stdout)
    assert [len(frozen), len(undone)] == [2, 2]
    assert [len(set(frozen)), len(set(undone))] == [1, 1], done.stdout


@pytest.mark.parametrize("verb", ["serve --port 0", "init"])
def test_a_home_in_use_is_one_clear_line(jurado: Jurado, tmp_path: Path, verb: str) -> None:
    """Of two servers on one home each would show its own boards; the second says who is there, and since when."""
    held = hold("jurado serve", tmp_path)
    done = jurado(*verb.split(), "--home", tmp_path)
    held.release()
    assert done.exit_code == 1
    assert f"{tmp_path.resolve()} is in use by jurado serve on " in done.stderr
    assert f"process {os.getpid()}, since 20" in done.stderr


@pytest.mark.parametrize("verb", ["serve --port 0", "init"])
def test_files_without_their_database_are_refused(jurado: Jurado, tmp_path: Path, verb: str) -> None:
    LocalFiles(tmp_path / "files").keep(b"an answer")
    done = jurado(*verb.split(), "--home", tmp_path)
    assert done.exit_code == 1
    assert "holds files, but their database is not there" in done.stderr


def test_a_server_without_a_broker_is_refused_beside_others_that_share_the_database_and_the_other_way_round(
    jurado: Jurado, postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JURADO_DATABASE_URL", postgresql_url)
    database = Settings(home=tmp_path, database_url=postgresql_url).database
    shared = hold("jurado serve", tmp_path / "one", database, shared=True)
    alone = jurado("serve", "--port", "0", "--home", tmp_path / "two")
    assert (alone.exit_code, "is in use by jurado serve" in alone.stderr) == (1, True)
    shared.release()
    own = hold("jurado serve", tmp_path / "one", database)
    monkeypatch.setenv("JURADO_BROKER_URL", "amqp://127.0.0.1:1")
    for words in (["serve", "--port", "0"], ["worker"]):
        refused = jurado(*words, "--home", tmp_path / "two")
        assert (refused.exit_code, "is in use by jurado serve" in refused.stderr) == (1, True), words
    own.release()


@pytest.mark.machine("sandbox")
def test_a_full_disk_refuses_submissions_and_is_not_ready(tmp_path: Path) -> None:
    """On a real file system of 48 MB; what was acknowledged stays, and reading works."""
    (tmp_path / "var").mkdir()

    def start(command: list[str], **options: Any) -> subprocess.Popen[str]:
        small = ["--dev-bind", "/", "/", "--size", str(48 * 2**20), "--tmpfs", str(tmp_path / "var")]
        return subprocess.Popen(["bwrap", "--die-with-parent", *small, "--", *command], **options)

    team = ("ants", "a secret of theirs")
    with (
        fresh_service(tmp_path, few(tmp_path), start) as running,
        httpx.Client(base_url=f"{running.url}/api/", auth=("admin", running.password), timeout=60) as client,
    ):
        assert client.post("teams", json={"id": "ants", "name": "Ants"}).is_success
        account = {"id": "ants", "username": "ants", "type": "team", "team_id": "ants", "password": team[1]}
        assert client.post("accounts", json=account).is_success
        case = client.get("contests/practice/problems/comesolo/testcases").json()[0]["name"]
        assert httpx.get(f"{running.url}/health/ready").status_code == 200
        statuses = []
        while not statuses or (statuses[-1] == 201 and len(statuses) < 9):
            files = [("files", (f"{case}.out", b"x\n")), ("sources", ("a.py", os.urandom(8 * 2**20)))]
            data = {"problem_id": "comesolo"}
            reply = client.post("contests/practice/submissions", auth=team, data=data, files=files)
            statuses.append(reply.status_code)
        assert (statuses[0], statuses[-1]) == (201, 507)
        ready = httpx.get(f"{running.url}/health/ready")
        assert (ready.status_code, ready.json()["room"]) == (503, False)
        stored = client.get("contests/practice/submissions").json()
        assert len(stored) == statuses.count(201)

"""Questions, awards, boards and verdicts as they come, against a real service."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
from jurado_client.server_events import EVENT_STREAM, events_of

from app.commands.fresh_service import Running
from app.core.commands.client import Client
from app.core.commands.registry import Shown, Table, keys
from app.packages.catalog import problems_folder
from app.sandbox.sandbox import protections
from app.scoreboard.commands import boards
from tests.app.conftest import Jurado
from tests.builders.waiting import until

ANSWER = problems_folder() / "comesolo/submissions/accepted/reference/101-n05-p70.out"


@pytest.fixture
def contest(admin: Jurado) -> str:
    """A running contest of the ants, who have not submitted yet."""
    name = f"x{uuid.uuid4().hex[:8]}"
    assert admin("admin", "contest", "create", name, "Live", "--start", "now").exit_code == 0
    assert admin("admin", "contest", "add-problem", name, "comesolo").exit_code == 0
    assert admin("admin", "team", "add", f"{name}-ants", "The Ants", "--contest", name).exit_code == 0
    return name


@pytest.fixture
def ants(admin: Jurado, contest: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client of the ants."""
    from app.accounts.commands.accounts import new_login

    monkeypatch.setenv("JURADO_PASSWORD", "a secret of theirs")
    assert admin("admin", "user", "add", f"{contest}-ants", "--team", f"{contest}-ants").exit_code == 0
    with Client.open() as client:
        login = new_login(client.url, f"{contest}-ants", "a secret of theirs")
    with Client(login) as theirs:
        yield theirs


def submit(client: Client, contest: str) -> str:
    files = [("files", (ANSWER.name, ANSWER.read_bytes()))]
    made = client.post(f"contests/{contest}/submissions", data={"problem_id": "comesolo"}, files=files)
    return str(made["id"])


def test_an_award_is_given_and_taken_back(admin: Jurado, contest: str) -> None:
    path, kind = f"contests/{contest}/awards", {"citation": "Kindest", "team_ids": [f"{contest}-ants"]}
    fields = [f"{name}={json.dumps(value)}" for name, value in kind.items()]
    assert admin("api", "PUT", f"{path}/kind", "id=kind", *fields).exit_code == 0
    listed = {award["id"]: award for award in json.loads(admin("api", "GET", path).stdout)}
    assert listed["kind"] == {"id": "kind", **kind}
    assert admin("api", "DELETE", f"{path}/kind").exit_code == 0
    assert "kind" not in {award["id"] for award in json.loads(admin("api", "GET", path).stdout)}


def test_the_board_comes_again_when_it_changes(contest: str, ants: Client) -> None:
    with closing(boards(ants, contest, cases=False)) as changing:
        assert [row["score"]["score"] for row in next(changing)["rows"]] == [0.0]
        submit(ants, contest)
        seen = next(board for board in changing if board["rows"][0]["score"]["score"] > 0)
    assert seen["rows"] == ants.get(f"contests/{contest}/scoreboard")["rows"]


def test_own_verdicts_come_by_the_stream(contest: str, ants: Client) -> None:
    with ants.stream(
        f"/api/contests/{contest}/submissions/stream", headers={"Accept": EVENT_STREAM}, accept=()
    ) as lines:
        assert lines is not None
        sent = submit(ants, contest)
        told = (json.loads(event.data)["data"] for event in events_of(lines) if event.name == "judgements")
        judgement = next(each for each in told if each["judgement_type_id"] is not None)
    assert (judgement["submission_id"], judgement["judgement_type_id"]) == (sent, "PC")


def test_an_empty_list_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    empty = Shown([], Table(keys("id"), empty="no jobs yet"))
    empty.show(as_json=False)
    assert capsys.readouterr().out == "no jobs yet\n"
    empty.show(as_json=True)
    assert capsys.readouterr().out == "[]\n"


def wait_until_ready(service: Running) -> None:
    """A server is not ready where its database is slow for two seconds, as on a busy machine."""
    until(lambda: httpx.get(f"{service.url}/health/ready", timeout=60).status_code == 200)


def test_a_status_without_an_admin_is_one_line(
    admin: Jurado, service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_until_ready(service)
    monkeypatch.delenv("JURADO_TOKEN")
    assert admin("status").stdout.startswith(f"ready: {service.url} ")
    assert json.loads(admin("status", "--json").stdout)["sandbox"].keys() == protections(as_root=True).keys()


def test_an_admin_sees_the_whole_installation_in_one_screen(admin: Jurado, service: Running) -> None:
    wait_until_ready(service)
    until(lambda: "Servers: 1 running, their graders: 1" in admin("status").stdout)  # its next row
    done = admin("status")
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert lines[0].startswith("ready, Jurado")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    parts = {line[2:].partition(":")[0] for line in lines}
    assert {"Servers", "Database", "Waiting to be judged", "Running contests", "Damaged files", "Last backup"} <= parts
    document = json.loads(admin("status", "--json").stdout)
    (servers,) = [each["figure"] for each in document["parts"] if each["name"] == "Servers"]
    assert servers.startswith("1 running, their graders: 1;")
    assert document["ready"]
    assert document["graders"] == 1

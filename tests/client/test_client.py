"""The client library does what the API offers, survives lost replies, and its guide's cells run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest
from jurado_client import AsyncClient, Client, Contest, Game, Refused, Unreachable, models

from app.core.settings import Settings
from app.main import create_app
from bench.stage import serving

PROJECT = Path(__file__).resolve().parents[2]
GUIDE = (PROJECT / "docs/guides/from-a-notebook.md").read_text()
CELLS = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
PASSWORD = "correct-horse-battery-staple"
ANSWERS = next((PROJECT / "problems/comesolo/submissions/accepted").iterdir())


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the bundled problems and a team `ants` with an account."""
    with serving(tmp_path_factory.mktemp("client") / "home", admin_password=PASSWORD) as url:
        with httpx.Client(base_url=f"{url}/api", auth=("admin", PASSWORD), timeout=60) as admin:
            admin.post("/teams", json={"id": "ants", "name": "The Ants"}).raise_for_status()
            account = {"username": "ants", "type": "team", "team_id": "ants", "password": PASSWORD}
            admin.post("/accounts", json=account).raise_for_status()
        yield url


@pytest.fixture(scope="module")
def token(url: str) -> str:
    """An access token of the team."""
    made = httpx.post(f"{url}/api/account/tokens", auth=("ants", PASSWORD), json={"label": "test"})
    return str(made.raise_for_status().json()["token"])


@pytest.fixture
def client(url: str, token: str) -> Iterator[Client]:
    with Client(url, token) as client:
        yield client


def test_the_cells_of_the_guide_run(url: str, token: str, capsys: pytest.CaptureFixture[str]) -> None:
    shared: dict[str, Any] = {"URL": url, "TOKEN": token}
    for cell in CELLS:
        exec(compile(cell, "cell", "exec"), shared)
    printed = capsys.readouterr().out
    assert "practice Practice" in printed
    assert "404 " in printed
    assert shared["newer"] == []
    shared["client"].close()
    assert len(CELLS) > 5


def test_a_folder_of_answers_is_submitted_and_judged_and_counts(client: Client) -> None:
    seen: list[str] = []
    report = client.submit("practice", "comesolo", ANSWERS, on_progress=lambda each: seen.append(each.state))
    assert report.is_done
    assert report.verdict == "AC"
    assert report.points == report.max_points == 100.0
    assert seen[-1] == "done"
    assert set(report.cases) == {path.stem for path in ANSWERS.rglob("*.out")}
    assert client.report("practice", report.submission_id) == report
    (row,) = [row for row in client.scoreboard("practice").rows if row.team_id == "ants"]
    assert row.problems["comesolo"] == 100.0
    assert "ants" in client.history("practice").teams


def test_a_submission_whose_reply_is_lost_is_stored_once(url: str, token: str) -> None:
    lost: list[str] = []

    class Losing(httpx.HTTPTransport):
        """Loses the first reply to a submission."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            reply = super().handle_request(request)
            if request.method == "POST" and not lost:
                lost.append(request.headers["Idempotency-Key"])
                reply.read()
                raise httpx.ReadError("lost")
            return reply

    def count(client: Client) -> int:
        return len(client.body(client.request("GET", "/api/contests/practice/submissions")))

    with Client(url, token, transport=Losing()) as client:
        before = count(client)
        client.submit("practice", "comesolo", {"101-n05-p70.out": "0\n"}, wait=False)
        assert count(client) == before + 1
    assert len(lost) == 1


def test_the_feed_resumes_after_a_token(client: Client) -> None:
    events = list(client.feed("practice", live=False))
    assert {"contest", "problems", "teams"} <= {each.type for each in events}
    report = client.submit("practice", "comesolo", {"101-n05-p70.out": "0\n"})
    resumed = list(client.feed("practice", since=events[-1].token, live=False))
    assert [each.id for each in resumed if each.type == "submissions"] == [report.submission_id]
    live = client.feed("practice", since=events[-1].token)
    assert next(live) == resumed[0]


def test_a_game_is_played(client: Client) -> None:
    (problem, *_) = client.problems("games")
    case = client.body(client.request("GET", f"/api/contests/games/problems/{problem.id}/testcases"))[0]["name"]
    game = client.start_game("games", problem.id, testcase=case, practice=True)
    assert not game.over
    if game.legal:
        assert client.move(game, game.legal[0]).next_move > game.next_move
    assert game.id in {each.id for each in client.games("games")}


def test_asyncio_has_the_same_operations(url: str, token: str, client: Client) -> None:
    async def run() -> None:
        async with AsyncClient(url, token) as other:
            assert await other.contests() == client.contests()
            assert await other.contest("practice") == client.contest("practice")
            assert await other.problems("practice") == client.problems("practice")
            assert await other.inputs("practice", "comesolo") == client.inputs("practice", "comesolo")
            report = await other.submit("practice", "comesolo", {"101-n05-p70.out": b"0\n"})
            assert await other.report("practice", report.submission_id) == report
            assert (await other.scoreboard("practice")).rows == client.scoreboard("practice").rows
            assert [each async for each in other.feed("practice", live=False)] == list(
                client.feed("practice", live=False)
            )
            with pytest.raises(Refused):
                await other.contest("none")

    asyncio.run(run())
    public = {name for name in vars(Client) if not name.startswith("_")}
    assert public == {name for name in vars(AsyncClient) if not name.startswith("_")} - {"close"}


def test_errors_say_what_was_wrong(client: Client) -> None:
    with pytest.raises(Refused) as refused:
        client.submit("practice", "unknown", {"a.out": ""})
    assert refused.value.status == 404
    assert "unknown" in refused.value.message
    with Client("http://127.0.0.1:9", "token", first_pause=0.0) as nobody, pytest.raises(Unreachable):
        nobody.contests()
    with pytest.raises(FileNotFoundError):
        client.submit("practice", "comesolo", "/nonexistent/folder")


def test_reports_and_boards_are_tables_in_notebooks(client: Client) -> None:
    report = client.submit("practice", "comesolo", {"101-n05-p70.out": "<b>\n"})
    shown = report._repr_html_()
    assert shown.startswith("<table>")
    assert "<b>" not in shown
    assert "<td>ants</td>" in client.scoreboard("practice")._repr_html_()
    assert "<th>rank</th>" in client.history("practice")._repr_html_()


SCHEMAS = {
    Contest: "ContestView",
    models.CaseResult: "ReportedCase",
    models.Report: "Report",
    models.Scoreboard: "Scoreboard",
    models.History: "History",
    Game: "GameView",
}
# Fields made of other properties.
DERIVED = {"verdict"}


def test_fields_are_properties_of_the_api(tmp_path: Path) -> None:
    schemas = create_app(Settings(home=tmp_path)).openapi()["components"]["schemas"]
    for model, name in SCHEMAS.items():
        unknown = {each.name for each in fields(model)} - DERIVED - set(schemas[name]["properties"])
        assert unknown == set(), name

"""What is small and would cost much, through every door that takes packages or YAML: refused, and nothing is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.commands.main import app
from app.core.errors import MOST_LISTED
from app.packages.zips import zip_bytes
from tests.builders.bombs import BOMBS
from tests.builders.contests import with_checkers
from tests.builders.packages import PROBLEM, write_package, zip_package
from tests.builders.service import Api, open_api

SOME = ("aliases", "merge keys", "deep maps", "a number of many digits", "keys of one hash")
"""All of them are tried where the reading is done (`tests/app/packages/test_hostile.py`)."""
ZIP = {"Content-Type": "application/zip"}
CONTEST: dict[str, Any] = {"id": "made", "name": "Made", "duration": "5:00:00", "scoreboard_type": "score"}


@pytest.fixture
def checked(quick_api: Api) -> Api:
    """A server that can check problem packages; databases have no say in what is read."""
    return with_checkers(quick_api)


def doors(bomb: str) -> dict[str, tuple[str, bytes, str]]:
    """Path, body and media type of each request that brings YAML."""
    text = BOMBS[bomb].encode()
    contest = json.dumps(CONTEST).encode()
    problem = zip_package({"problem.yaml": text})
    own = {"contest.json": contest, "problems.json": b'[{"id": "echo"}]', "problems/echo/echo.zip": problem}
    return {
        "a problem": ("problems", problem, "application/zip"),
        "a contest's problem": ("contests/import", zip_bytes(own), "application/zip"),
        "a contest": ("contests/import", zip_bytes({"contest.yaml": text}), "application/zip"),
        "accounts of a contest": (
            "contests/import",
            zip_bytes({"contest.json": contest, "accounts.yaml": text}),
            "application/zip",
        ),
        "accounts": ("accounts", text, "application/yaml"),
        "teams": ("teams", text, "application/yaml"),
        "a new contest": ("contests", text, "application/yaml"),
    }


@pytest.mark.parametrize("bomb", SOME)
def test_yaml_that_costs_much_is_refused_at_every_door(checked: Api, bomb: str) -> None:
    for door, (path, data, kind) in doors(bomb).items():
        reply = checked.post(path, user="admin", content=data, headers={"Content-Type": kind})
        assert reply.status_code in {400, 413, 415}, (door, reply.status_code, reply.text[:300])
        assert len(reply.content) < 20_000, door
    assert checked.get("problems", user="admin").json() == []
    assert checked.get("contests", user="admin").json() == []


@pytest.mark.parametrize("bomb", SOME)
def test_yaml_that_costs_much_is_a_fault_on_the_command_line(tmp_path: Path, bomb: str) -> None:
    folder = write_package(tmp_path, {"problem.yaml": BOMBS[bomb]})
    done = CliRunner().invoke(app, ["package", "verify", str(folder)])
    assert done.exit_code == 1, done.output
    assert "problem.yaml" in done.output


def test_packages_that_take_too_long_are_refused_and_the_server_goes_on(sqlite_url: str, tmp_path: Path) -> None:
    slow = f"{PROBLEM}keywords: [{', '.join(['a'] * 60_000)}]\n"
    long = "".join(f"k{n}: [{', '.join(['a'] * 1000)}]\n" for n in range(200))
    with open_api(sqlite_url, tmp_path / "home", package_read_seconds=0.2) as api:
        with_checkers(api)
        for path, data in (
            ("problems", zip_package({"problem.yaml": slow})),
            ("contests/import", zip_bytes({"contest.yaml": long.encode()})),
        ):
            reply = api.post(path, user="admin", content=data, headers=ZIP)
            assert reply.status_code == 400, reply.text
            assert "that is read in 0.2 s, found one that takes longer" in reply.json()["message"]
        assert api.get("problems", user="admin").json() == []


def test_a_package_with_thousands_of_faults_lists_the_first_ones(checked: Api) -> None:
    odd = {f"data/secret/{n}.odd": "x" for n in range(1000)}
    reply = checked.post("problems", user="admin", content=zip_package(odd), headers=ZIP)
    assert reply.status_code == 400
    assert len(reply.json()["errors"]) == MOST_LISTED
    assert reply.json()["message"].startswith("the package has 1000 faults: ")

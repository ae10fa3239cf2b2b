"""A service that runs as root refuses programs of packages, unless a setting allows them, and each door names it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from app.commands.main import app
from app.judging.service.engine import Engine
from app.judging.service.graders import engine_settings
from app.packages import tools
from app.sandbox.model import AS_ROOT, SandboxMissing
from app.sandbox.sandbox import USER, USER_HINT, Sandbox, protections
from app.tables import JudgementRow
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.packages import write_package, zip_package
from tests.builders.programs import ABSOLUTE, own_checker
from tests.builders.service import Api, open_service, serve
from tests.builders.waiting import until

pytestmark = pytest.mark.machine("sandbox")
PACKAGE = own_checker({"checker.py": "def score(*_):\n    return 1\n"}, ABSOLUTE)
REFUSED = f"no sandbox: {USER}: {USER_HINT}"


@pytest.fixture(autouse=True)
def _as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of root, whoever runs the tests."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)


@contextmanager
def service(url: str, home: Path, setting: str) -> Iterator[Api]:
    """A service with graders, whose setting is this."""
    with open_service(url, home, programs_as_root=setting, graders=1) as parts:
        settings = engine_settings(parts.settings, parts.files)
        engine = Engine(parts.database, parts.writer, settings, lambda *_: None)
        with serve(replace(parts, engine=engine)) as api:
            add_problem(api.service, PACKAGE)
            add_contest(api.service)
            add_submission(api.service, None, files={"02": b"2\n", "03": b"3\n"})
            try:
                engine.start()
                yield api
            finally:
                engine.close()


def uploaded(api: Api) -> tuple[int, str]:
    """The status of the upload of a package with its own checker, and the message of its error."""
    sent = zip_package(PACKAGE, "mine/")
    reply = api.post("problems", user="admin", content=sent, headers={"Content-Type": "application/zip"})
    errors = [each["message"] for each in reply.json().get("errors", []) if each["severity"] == "error"]
    return reply.status_code, "".join(errors)


def verdict(api: Api) -> str | None:
    """The type of the only judgement."""
    with api.service.database.read() as session:
        return session.query(JudgementRow).one().type


def test_the_sandbox_of_root_opens_only_if_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert protections() == {USER: USER_HINT}
    with pytest.raises(SandboxMissing, match=AS_ROOT):
        Sandbox.open()
    Sandbox.open(as_root=True).close()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert USER not in protections()


def test_a_server_of_root_refuses_packages_with_programs_and_judges_none(sqlite_url: str, tmp_path: Path) -> None:
    with service(sqlite_url, tmp_path / "home", "refuse") as api:
        assert uploaded(api) == (400, f"packages' own checkers cannot run here: {REFUSED}")
        assert api.get("problems/mine", user="admin").status_code == 404
        assert api.service.engine.programs.lacks() == REFUSED
        until(lambda: waits_for(api) == "sandbox")
        assert verdict(api) is None
        status = api.get("status", user="admin").json()
        (advice,) = [each["advice"] for each in status["parts"] if AS_ROOT in each["advice"]]
        assert advice.startswith("refused because the service runs as root")


def test_a_server_of_root_runs_programs_if_its_setting_allows_them(sqlite_url: str, tmp_path: Path) -> None:
    with service(sqlite_url, tmp_path / "home", "allow") as api:
        assert uploaded(api) == (201, "")
        until(lambda: verdict(api) == "AC")
        assert AS_ROOT not in str(api.get("status", user="admin").json()["parts"])


def test_verify_refuses_programs_as_root_unless_they_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_package(tmp_path, PACKAGE)
    found = {}
    for setting in ("refuse", "allow"):
        monkeypatch.setenv(AS_ROOT, setting)
        tools._desk.cache_clear()
        report = json.loads(CliRunner().invoke(app, ["package", "verify", str(root), "--json"]).stdout)
        found[setting] = [fault["message"] for fault in report["errors"]]
    tools._desk.cache_clear()
    assert found == {"refuse": [f"packages' own checkers cannot run here: {REFUSED}"], "allow": []}


def waits_for(api: Api) -> str | None:
    """What the only judgement waits for."""
    with api.service.database.read() as session:
        return session.scalars(select(JudgementRow.waits_for)).one()

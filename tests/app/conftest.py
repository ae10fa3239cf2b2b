"""What the tests of features share: the API with people in it, the command line, and a real service."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from typer import testing
from typer.testing import CliRunner, Result

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import Running, fresh_service
from app.commands.main import app
from app.core.commands.client import Client
from app.core.commands.lookup import reltime
from tests.builders.service import Api, open_api
from tests.conftest import forked, migrated_postgresql, migrated_sqlite


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A client of the API, on SQLite and on PostgreSQL."""
    with open_api(database_url, tmp_path / "home") as api:
        yield api


@pytest.fixture
def quick_api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A client of the API on SQLite alone: for what no database has a say in."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        yield api


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A client that the tests of a module share, once on each kind: for tests that look only at what they change."""
    folder = tmp_path_factory.mktemp("shared")
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = migrated_sqlite(folder / "jurado.sqlite")
        else:
            url = stack.enter_context(migrated_postgresql())
        yield stack.enter_context(open_api(url, folder / "home"))


testing._get_command = cache(testing._get_command)  # a tenth of a second, as a process of `jurado` spends it: once

Jurado = Callable[..., Result]

BOARD = b"3\nooo\no..\n...\n"
"""Four pieces, three of which can be eaten at most."""

FEW_GRADERS = {"JURADO_GRADERS": "1"}
"""Each grader is a process that compiles and warms up."""


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the login of whoever runs it."""
    for name in ("JURADO_URL", "JURADO_TOKEN", "JURADO_PASSWORD", "JURADO_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.fixture
def jurado() -> Jurado:
    """Run `jurado` with these words, and this on standard input, in this process."""

    def run(*words: object, stdin: bytes | str | None = None) -> Result:
        with own_logs():
            return CliRunner().invoke(app, [str(word) for word in words], input=stdin)

    return run


@contextmanager
def own_logs() -> Iterator[None]:
    """Give the logs back afterwards: a command sends those of its process to its stderr, which is closed then."""
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def end_soon(client: Client, contest: str) -> None:
    """Let a running contest end in a second: an end that is over before the server hears of it is refused."""
    start = datetime.fromisoformat(client.get(f"contests/{contest}")["start_time"])
    for seconds in range(1, 60):
        duration = {"duration": reltime(client.now() - start + timedelta(seconds=seconds))}
        if client.request("PATCH", f"/api/contests/{contest}", json=duration, accept=(403,)).is_success:
            return
    raise AssertionError("the server takes no end of the contest")


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A real service in a process of its own, shared by the tests: what they make there has ids of its own."""
    with fresh_service(tmp_path_factory.mktemp("service"), FEW_GRADERS, forked) as running:
        yield running


@pytest.fixture(scope="session")
def admin_token(service: Running) -> str:
    """A token of the account admin."""
    return new_login(service.url, "admin", service.password).token


@pytest.fixture
def admin(jurado: Jurado, service: Running, admin_token: str, monkeypatch: pytest.MonkeyPatch) -> Jurado:
    """`jurado`, logged in to the service as admin."""
    monkeypatch.setenv("JURADO_URL", service.url)
    monkeypatch.setenv("JURADO_TOKEN", admin_token)
    return jurado


@pytest.fixture
def team(admin: Jurado, service: Running, monkeypatch: pytest.MonkeyPatch) -> Jurado:
    """`jurado`, logged in to the service as a fresh team of the practice contest."""
    name = f"t{uuid.uuid4().hex[:8]}"
    monkeypatch.setenv("JURADO_PASSWORD", "a secret of theirs")
    assert admin("admin", "team", "add", name, f"Team {name}").exit_code == 0
    assert admin("admin", "user", "add", name, "--team", name).exit_code == 0
    monkeypatch.delenv("JURADO_TOKEN")
    assert admin("login", service.url, name).exit_code == 0
    return admin

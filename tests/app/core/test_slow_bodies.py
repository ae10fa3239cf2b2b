"""Clients that send their bodies slowly keep no one from writing: SQLite has one lock for all who write."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.routing import APIRoute

from app.core.db.database import Database
from app.core.http.deps import WITH_BODIES
from app.core.passwords import hash_password
from app.routes import ROUTERS
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import PASSWORD, Api, open_api

NAMES = {
    "contest_id": "c",
    "problem_id": "echo",
    "account_id": "team",
    "team_id": "team",
    "group": "secret",
    "name": "02",
}
SECONDS = 30
ONCE_LOCKED = {
    ("POST", "/api/accounts"), ("POST", "/api/teams"), ("POST", "/api/people"),
    *(("POST", f"/api/contests/c/{kind}") for kind in ("groups", "organizations", "persons")),
    *(("PUT", f"/api/contests/c/{kind}/x") for kind in ("groups", "organizations", "persons")),
    *(("PATCH", f"/api/contests/c/{kind}/x") for kind in ("groups", "organizations", "persons")),
}  # fmt: skip
"""Operations that began their transaction before they read the body."""


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


def operations() -> list[tuple[str, str]]:
    """Every operation that may have a body, with names in its path."""
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    return sorted({(method, _named(f"/api{route.path}")) for route in routes for method in route.methods & WITH_BODIES})


def _named(path: str) -> str:
    parts = (part.strip("{}").partition(":")[0] if part.startswith("{") else None for part in path.split("/"))
    return "/".join(
        part if name is None else NAMES.get(name, "x") for part, name in zip(path.split("/"), parts, strict=True)
    )


def is_free(path: str, seconds: float = 0) -> bool:
    """Whether the lock of SQLite's writers can be had, at once or within so many seconds."""
    with closing(sqlite3.connect(path, timeout=seconds, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        connection.execute("ROLLBACK")
    return True


def test_no_operation_holds_the_lock_while_its_body_arrives(api: Api) -> None:
    path = str(api.service.database.engine.url.database)
    waited: set[tuple[str, str]] = set()
    for method, address in operations():

        async def send(method: str = method, address: str = address) -> bool | None:
            reads, released = asyncio.Event(), asyncio.Event()

            async def body() -> AsyncIterator[bytes]:
                yield b"["
                reads.set()
                await released.wait()
                yield b"]"

            headers = {"Content-Type": "application/json", "Content-Length": "2"}
            request = asyncio.create_task(
                api.client.request(method, address, content=body(), headers=headers, auth=("admin", PASSWORD))
            )
            waiting = asyncio.create_task(reads.wait())
            await asyncio.wait([request, waiting], timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED)
            free = await asyncio.to_thread(is_free, path) if not request.done() else None
            released.set()
            waiting.cancel()
            await asyncio.wait([request], timeout=SECONDS)
            return free

        free = api.portal.call(send)
        assert free is not False, f"{method} {address}"
        if free:
            waited.add((method, address))
    assert waited >= ONCE_LOCKED
    assert len(waited) > 30


@pytest.mark.parametrize("path", ["accounts", "people"])
def test_passwords_are_hashed_while_others_write(api: Api, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    place = str(api.service.database.engine.url.database)
    seen: list[bool] = []

    def watched(password: str) -> str:
        seen.append(is_free(place, 5))  # the service's own loops write now and then
        return hash_password(password)

    monkeypatch.setattr("app.core.passwords.hash_password", watched)
    rows = [{"username": f"new{at}", **({"type": "admin"} if path == "accounts" else {"name": "N"})} for at in range(3)]
    reply = api.post(f"{path}?generate_passwords=true", user="admin", json=rows)
    assert reply.status_code == 201, reply.text
    assert seen == [True, True, True]


def test_a_transaction_that_writes_has_the_lock_from_its_first_statement(sqlite_url: str) -> None:
    """Also one that only reads at first: another write in between would make its own fail."""
    database = Database(sqlite_url)
    path = str(database.engine.url.database)
    with database.write(quiet=True) as session:
        assert is_free(path)
        session.connection().exec_driver_sql("SELECT 1")
        assert not is_free(path)
    assert is_free(path)
    database.close()

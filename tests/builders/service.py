"""Builds a service with its API in this process: a client of it, and accounts of every role to ask with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI

from app.archive.queries.references import check, collect
from app.archive.queries.scrub import Scrub
from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.db.migrate import opened_keys
from app.core.db.writer import Writer
from app.core.files.open_files import open_files
from app.core.passwords import hash_password
from app.core.service import Service
from app.core.settings import Settings, Timeouts
from app.judging.service.graders import GraderState
from app.judging.service.messages import Validate, Validated
from app.main import create_app
from app.operations.service.counts import listening
from app.sandbox.sandbox import ProtectionState, protections
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.submissions.queries.submission_context import SubmissionContexts
from app.tables import AccountRow, TeamRow

PASSWORD = "open sesame"
HASH = hash_password(PASSWORD)
ROLES = ("admin", "judge", "team", "other", "staff")
"""Usernames that `people` makes; `team` and `other` are of the teams of these ids."""


class Idle:
    """An engine and a runner of jobs that do nothing: for tests that only keep and show."""

    waiting = 0
    state = GraderState(1, 0, {})
    lack = "this service has no graders"
    on_wake: Callable[[], object] = staticmethod(lambda: None)

    def wake(self, _job_id: str = "", *, rejudging: bool = False) -> None:
        """Let it wait."""
        if not rejudging:
            self.on_wake()

    def validate(self, _request: Validate) -> Future[Validated]:
        """No one is here to check anything."""
        raise RuntimeError("this service has no graders")

    def graders(self) -> GraderState:
        """None is needed."""
        return self.state

    @property
    def programs(self) -> SimpleNamespace:
        """No one is here to run any."""
        return SimpleNamespace(lacks=lambda: self.lack)

    def close(self) -> None:
        """Nothing to stop."""


@dataclass
class Api:
    """A client of the app, in this process and without a network. Headers and paths are as over HTTP."""

    app: FastAPI
    service: Service
    portal: BlockingPortal
    client: httpx.AsyncClient

    def request(self, method: str, path: str, *, user: str | None = None, **more: Any) -> httpx.Response:
        """Send a request as one of the people, or as no one."""
        if user is not None:
            more["auth"] = (user, PASSWORD)
        address = path if path.startswith("/") else f"/api/{path}"

        async def send() -> httpx.Response:
            return await self.client.request(method, address, **more)

        return self.portal.call(send)

    def get(self, path: str, **more: Any) -> httpx.Response:
        """GET; a path without a leading slash is below /api/."""
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        """POST."""
        return self.request("POST", path, **more)

    def put(self, path: str, **more: Any) -> httpx.Response:
        """PUT."""
        return self.request("PUT", path, **more)

    def patch(self, path: str, **more: Any) -> httpx.Response:
        """PATCH."""
        return self.request("PATCH", path, **more)

    def delete(self, path: str, **more: Any) -> httpx.Response:
        """DELETE."""
        return self.request("DELETE", path, **more)


def settings_with(**given: Any) -> Settings:
    """Settings with these values, also of bounds that are the same in every installation."""
    bounds = {name: given.pop(name) for name in Settings.__class_vars__ & given.keys()}
    if not bounds:
        return Settings(**given)
    kind = type(Settings.__name__, (Settings,), {"__module__": __name__, **bounds})
    return cast("Settings", kind(**given))


@contextmanager
def open_api(database_url: str, home: Path, *, again: bool = False, **settings: Any) -> Iterator[Api]:
    """Open the API on a migrated database, with people in it and without graders."""
    with open_service(database_url, home, again=again, **settings) as service, serve(service) as api:
        yield api


@contextmanager
def open_service(
    database_url: str, home: Path, *, again: bool = False, timeouts: Timeouts | None = None, **settings: Any
) -> Iterator[Service]:
    """Open the parts of a service on a migrated database, `again` if there are people already; nothing is graded."""
    known = settings_with(home=home, database_url=database_url, **settings)
    database = Database(known.database, timeouts or known.timeouts, shared=known.distributed)
    known.home.mkdir(parents=True, exist_ok=True)
    if not again:
        people(database)
    idle = Idle()
    files = open_files(known)
    boards, entries = ScoreboardCache(database), SubmissionContexts(database)
    scrub, keys = Scrub(database, files, 0), opened_keys(known)
    listener, locks = listening(database), Locks(known.database if known.distributed else None)
    service = Service(
        known,
        database,
        files,
        Writer(database),
        idle,
        idle,
        boards,
        entries,
        scrub,
        keys,
        ProtectionState(partial(protections, as_root=known.may_run_as_root)),
        locks,
        listener=listener,
    )
    try:
        yield service
    finally:
        service.close()


@contextmanager
def serve(service: Service) -> Iterator[Api]:
    """Put the API on a service."""
    app = create_app(service=service)
    transport = httpx.ASGITransport(app)
    with start_blocking_portal() as portal:
        client = httpx.AsyncClient(transport=transport, base_url="http://jurado.test")
        with portal.wrap_async_context_manager(client):
            if service.listener is not None:
                service.listener.start()
            try:
                yield Api(app, service, portal, client)
            finally:
                portal.call(app.state.hub.stop)
                portal.call(app.state.sender.stop)
                app.state.hub.close()


def people(database: Database) -> None:
    """Keep one account of each of ROLES, all with the same PASSWORD, and two teams; only once, also if opened again."""
    now = datetime.now(UTC)
    with database.write() as session:
        if session.get(AccountRow, "admin") is not None:
            return
        for team_id in ("team", "other"):
            session.add(TeamRow(id=team_id, name=f"Team {team_id}", label=team_id, hidden=False))
        session.flush()
        for role in ROLES:
            is_team = role in {"team", "other"}
            session.add(
                AccountRow(
                    id=role,
                    username=role,
                    password_hash=HASH,
                    type="team" if is_team else role,
                    team_id=role if is_team else None,
                    created=now,
                )
            )


def collect_orphans(service: Service) -> set[str]:
    """Collect the files that no row names, without a time of grace; returns the names of those that stay."""
    collect(service.database, service.files, check(service.database, service.files, grace=0).old)
    return {each.sha256 for each in service.files.stored()}

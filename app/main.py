"""The composition root: opens the parts of the service and puts the routes on them."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

import structlog
from anyio.to_thread import run_sync
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from app import page_routes as pages
from app.accounts.service.registering import Pace
from app.accounts.service.viewer import Logins
from app.archive.queries.scrub import Scrub
from app.core.db.audit import RETENTION
from app.core.db.by_id import Kind
from app.core.db.clock import ClockKeeper, start_clock
from app.core.db.locks import SERVER, Locks, Presence
from app.core.db.migrate import opened_keys
from app.core.db.serving import Hold, hold
from app.core.db.writer import Writer
from app.core.files.temporary import remove_leftovers
from app.core.http import errors, openapi
from app.core.http.auth import Authenticator, BehindProxy, Origins, Sessions
from app.core.http.deps import Direct, Endpoint
from app.core.http.downloads import NDJSON, TEXT
from app.core.http.lists import Queued
from app.core.http.middleware import BodyLimit, Frame, Heads, Refusals
from app.core.load import SharedWork
from app.core.pages.visitor import pages_for_people
from app.core.service import Service
from app.core.settings import Settings
from app.core.telemetry import Metrics
from app.daily.service import Puzzles
from app.feed.service.hub import Hub
from app.feed.service.sender import Sender
from app.games.service.ending import Keeper
from app.games.service.playing import Games
from app.judging.service.jobs import start_engine
from app.operations import routes as operations_routes
from app.operations.service import counts
from app.operations.service.bootstrap import initialise
from app.operations.service.counts import hear, listening
from app.routes import routes_of
from app.sandbox.sandbox import ProtectionState, protections
from app.scoreboard.pages.board import USUAL_LIVE, usual_live
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.scoreboard.routes import USUAL, usual_scoreboard
from app.scoreboard.service.pages import BoardPages
from app.submissions.queries.submission_context import SubmissionContexts
from app.submissions.routes.submit import open_submission_form, submit

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.main")

SMALLEST_ZIPPED = 1024
# The lock under which a database is brought up to date: migrations, bundled problems, keys.
START = "start of a process"
# Scoreboards are sent before all layers but those that say where a request comes from and who sends it.
BOARD = {
    ("GET", "/api/contests/scoreboard"): Endpoint(
        "/contests/{contest_id}/scoreboard", "get_scoreboard", usual_scoreboard, USUAL
    ),
    ("GET", "/c/scoreboard/live"): Endpoint(
        "/c/{contest_id}/scoreboard/live", "get_scoreboard", usual_live, USUAL_LIVE
    ),
}
# Submissions pass the layers that limit refusals, bodies and origins first.
SUBMISSION = {("POST", "/api/contests/submissions"): Endpoint("/contests/{contest_id}/submissions", "submit", submit)}
SWITCH_SECONDS = 0.0005  # with Python's 5 ms a request waits that long whenever the writer's thread has the GIL


class App(FastAPI):
    """FastAPI with layers around its own: proxies, sessions, HEAD, the scoreboard, and refusals that wait."""

    def __init__(self, known: Settings, **settings: Any) -> None:
        super().__init__(**settings)
        self.state.metrics = Metrics()
        framed = partial(Frame, metrics=self.state.metrics)
        submissions = Direct(super().__call__, self, SUBMISSION, lambda answer: framed(_bounded(answer, known)))
        self._outermost = BehindProxy(Sessions(Heads(Direct(Refusals(submissions), self, BOARD, framed))), known)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request: the layers see nothing else."""
        if scope["type"] == "http":
            await self._outermost(scope, receive, send)
        else:
            scope["app"] = self
            await self.router(scope, receive, send)


def create_app(
    settings: Settings | None = None,
    *,
    service: Service | None = None,
    held: Hold | None = None,
    accept_clock: bool = False,
) -> FastAPI:
    """Build the app. It opens its service when it starts and closes it at its end, or uses the one that is given.

    `held` are the locks of the home and the database, where they are taken already. `accept_clock`: see `start_clock`.
    """
    known = service.settings if service is not None else settings or Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        opened = await run_sync(partial(open_service, known, held, accept_clock=accept_clock))
        attach(app, opened)
        if opened.listener is not None:
            await run_sync(opened.listener.start)
        app.state.sender.start()
        app.state.keeper.start()
        try:
            yield
        finally:
            app.state.hub.stop()
            await run_sync(app.state.daily.close)
            await run_sync(app.state.keeper.close)
            await app.state.sender.stop()
            await run_sync(app.state.hub.close)
            await run_sync(opened.close)

    app = App(
        known,
        title="Jurado",
        summary="A grading service for answer files, speaking the CLICS Contest API.",
        version=version("jurado"),
        docs_url=None,  # FastAPI's loads scripts from other hosts; app.core.pages serves one
        redoc_url=None,
        openapi_url="/openapi.json",
        telemetry={"tracing": False, "metrics": False, "logs": False},  # `core.telemetry` has them
        # Pages first, each as a plain route: FastAPI's included routers take some microseconds for each route they try,
        # and requests that come often are answered in front of both.
        routes=[*pages.router.routes, *(pages.daily.routes if known.has_daily else ()), *routes_of(known)],
        generate_unique_id_function=openapi.operation_id,
        lifespan=lifespan if service is None else None,
    )
    add_layers(app, known)
    if service is not None:
        attach(app, service)
    return app


def open_service(settings: Settings, held: Hold | None = None, *, accept_clock: bool = False) -> Service:
    """Open the database and the files, brought up to date, and start the writer, the graders and the jobs.

    Raises InUse where another process serves the same home or database.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    held = held or hold("jurado serve", settings.home, settings.database, shared=settings.distributed)
    try:
        return _open(settings, held, accept_clock=accept_clock)
    except BaseException:
        held.release()
        raise


def _open(settings: Settings, held: Hold, *, accept_clock: bool) -> Service:
    locks = Locks(settings.database if settings.distributed else None)
    locks.wait_for(START, _tell_waiting)
    database, files = initialise(settings)
    keys = opened_keys(settings)
    locks.give_back(START)
    RETENTION.days = settings.audit_days
    time_source = start_clock(database, accept=accept_clock)
    remove_leftovers()
    boards = ScoreboardCache(database)
    writer = Writer(database)
    presence = Presence(writer, SERVER, locks)
    presence.start()
    engine, jobs = start_engine(settings, database, files, writer, boards, presence.id)
    presence.work = engine.work
    held.watch(database.bar, database.unbar, _stop)
    scrub = Scrub(database, files, settings.scrub_hours, locks=locks)
    scrub.start()
    entries = SubmissionContexts(database)
    listener = listening(database)
    clock = ClockKeeper(writer, source=time_source)
    return Service(
        settings,
        database,
        files,
        writer,
        engine,
        jobs,
        boards,
        entries,
        scrub,
        keys,
        ProtectionState(partial(protections, as_root=settings.may_run_as_root)),
        locks,
        clock=clock,
        hold=held,
        listener=listener,
        presence=presence,
    )


def _tell_waiting() -> None:
    log.info("another process starts on the database: this one waits until it is brought up to date")


def _stop(why: str) -> None:
    """End this server as a signal does: another one has taken over."""
    log.critical("another process has taken over; this server stops", error=why)
    os.kill(os.getpid(), signal.SIGTERM)


def attach(app: FastAPI, service: Service) -> None:
    """Let the endpoints of `app` find the service."""
    app.state.service = service
    app.state.draining = False
    app.state.hub = Hub(service)
    app.state.sender = Sender(service, app.state.hub)
    app.state.probing = SharedWork()
    app.state.registration_pace = Pace()
    app.state.pages = BoardPages(service.boards)
    app.state.open_submission_form = open_submission_form
    app.state.games = Games(service)
    app.state.daily = Puzzles(service.settings.home / "cache" / "daily")
    app.state.keeper = Keeper(service)
    app.state.authenticator = Authenticator(Logins(service.database))
    app.state.authenticator.listeners.append(app.state.hub.rights_changed)
    if (listener := service.listener) is not None:
        listener.hear(Kind.ACCOUNT, app.state.authenticator.forget)
        listener.lost(app.state.authenticator.forget)
        guesses = app.state.authenticator.guesses
        guesses.servers = lambda: listener.processes
        counts_of = {"account": guesses.failures, "registration": app.state.registration_pace.asked}
        hear(listener, service, app.state.hub, counts_of)
    counts.register(app.state.metrics, service, lambda: len(app.state.hub.clients))


def _bounded(app: ASGIApp, settings: Settings) -> ASGIApp:
    """The layers around `app` that limit bodies and refuse other origins."""
    return BodyLimit(Origins(app, settings.origins), settings.max_upload, settings.max_package)


def add_layers(app: FastAPI, settings: Settings) -> None:
    """Put health checks, errors and the layers around requests on the app; the last added is the outermost."""
    app.include_router(operations_routes.health_router)
    errors.install(app)
    app.add_exception_handler(HTTPException, pages_for_people(errors.HANDLERS[HTTPException]))
    openapi.install(app)
    streamed = (*DEFAULT_EXCLUDED_CONTENT_TYPES, NDJSON, TEXT)  # feeds and progress are to arrive at once
    app.add_middleware(GZipMiddleware, minimum_size=SMALLEST_ZIPPED, compresslevel=5, exclude_content_types=streamed)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=["*"],
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=["Jurado-Time", "Location", "ETag", "Retry-After", "X-Request-Id"],
    )
    app.add_middleware(Queued, state=app.state, settings=settings)
    app.add_middleware(_bounded, settings=settings)
    app.add_middleware(Frame, metrics=app.state.metrics)

"""One server process: its socket, its connections, its start and its end."""

from __future__ import annotations

import atexit
import signal
import socket
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, cast

import typer

from app.core.commands.output import Failure
from app.core.garbage import Survivors

if TYPE_CHECKING:
    from app.core.db.serving import Hold
    from app.core.settings import Settings
    from app.operations.commands.crowd import BoundedConnection

SECONDS_TO_FINISH = 10


def bind(host: str, port: int) -> socket.socket:
    """Bind the port before anything else starts, so that a port in use is one clear line.

    The server listens once it can answer: until then connections are refused, and proxies and clients turn to another
    server instead of waiting for this one.
    """
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        if bound.family is socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # old connections of a server that has ended
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        why = (error.strerror or str(error)).partition(" (while")[0]
        raise Failure(f"cannot listen on {host} port {port}: {why}", 1) from None
    return bound


def bounded_connections(settings: Settings) -> type[BoundedConnection]:
    """Make the class of one server's connections: they share a crowd, bounded by the files that may be open."""
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    from app.operations.commands.crowd import BoundedConnection, Crowd, all_descriptors, connections_within

    most = connections_within(settings.most_connections, all_descriptors())
    proxies = ProxyHeadersMiddleware(cast(Any, None), settings.trusted_proxies).trusted_hosts  # no app is called
    crowd = Crowd(most, settings.most_connections_of_one, lambda address: address in proxies)
    return type("Connection", (BoundedConnection,), {"crowd": crowd})


def main_module() -> ModuleType:
    """Import the service's module; a later search for garbage among all modules would be a pause of requests."""
    module = import_module("app.main")
    Survivors().keep()
    return module


def begin_traces(settings: Settings, service: str) -> None:
    """Send traces where the settings ask for it; raises Failure without the libraries."""
    if settings.otel:
        from app.core import telemetry

        try:
            atexit.register(telemetry.start(service))
        except telemetry.TracingMissing as error:
            raise Failure(str(error), 1) from None


def run_server(settings: Settings, bound: socket.socket, hold: Hold, *, accept_clock: bool = False) -> None:
    """Run one server process on the socket until a signal ends it; requests that have begun are finished first."""
    import structlog
    import uvicorn

    from app.core.telemetry import configure_logs

    configure_logs(settings.log_level)
    begin_traces(settings, "jurado serve")
    if find_spec("numba") is None:
        log = structlog.get_logger("jurado.serve")
        log.warning("checkers run as slow Python: pip install 'jurado[kernels]' compiles them")
    host, port = bound.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"

    class Announcing(uvicorn.Server):
        """A server that prints its address once it answers, and is drained before it ends."""

        ends = float("inf")

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                typer.echo(f"Jurado serves {address} (data in {settings.home.resolve()})")
                if sys.stdout.isatty():
                    typer.echo("Press Ctrl+C to stop.")

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if not self.started or app.state.draining or not settings.drain_seconds:
                super().handle_exit(sig, frame)
                return
            app.state.draining = True  # /health/ready says so, and proxies send requests elsewhere
            self.ends = time.monotonic() + settings.drain_seconds
            config.encoded_headers.append((b"connection", b"close"))
            self.server_state.default_headers = [*self.server_state.default_headers, (b"connection", b"close")]

        async def on_tick(self, counter: int) -> bool:
            return await super().on_tick(counter) or time.monotonic() >= self.ends

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.state.hub.stop()  # uvicorn waits for streams, which end only with the hub
            await super().shutdown(sockets)

    app = main_module().create_app(settings, held=hold, accept_clock=accept_clock)
    config = uvicorn.Config(
        app,
        http=bounded_connections(settings),
        ws="none",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # app.core.http.auth reads them, together with the path prefix
        log_config=None,
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    server = Announcing(config)
    # Signals count also before uvicorn heeds them; once it has stopped it raises them again, which is no error here.
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, server.handle_exit)
    server.run([bound])
    if not server.started:
        raise Failure("the server did not start; its log says why", 1)
    typer.echo("Jurado has stopped")

"""`jurado worker`: graders and jobs of an installation of many servers, without HTTP.

- `jurado serve` and `jurado init`: the service itself.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from secrets import compare_digest
from typing import TYPE_CHECKING, Annotated

import typer

from app.archive.commands.places import Home, check_schema, holding, reach_files, read_settings, reason, try_places
from app.core.commands import output, registry
from app.operations.commands.running import begin_traces, bind, main_module, run_server

if TYPE_CHECKING:
    from app.core.db.database import Database
    from app.core.settings import Settings
    from app.judging.worker import Worker


SECONDS_BETWEEN_LOOKS = 1.0
# In which a client of a worker's metrics has to send its request.
SECONDS_OF_A_CLIENT = 10.0


@registry.command("worker")
def worker(
    graders: Annotated[
        int | None, typer.Option(min=1, help="grader processes; default: JURADO_GRADERS or one less than the cores")
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(min=1, help="port of its /metrics; default: JURADO_METRICS_PORT or none")
    ] = None,
    home: Home = None,
) -> None:
    """Judge submissions and run jobs for all servers on a database, until stopped (Ctrl-C, SIGTERM).

    Needs JURADO_BROKER_URL, JURADO_DATABASE_URL and the servers' files. Start as many as you like, on any machines; if
    one ends, the others take over its work.

    Examples:
      jurado worker
      JURADO_BROKER_URL=amqp://... JURADO_DATABASE_URL=... jurado worker --graders 4
      JURADO_METRICS_TOKEN=... jurado worker --metrics-port 9100
    """
    from app.core.telemetry import configure_logs

    settings = read_settings(graders=graders, metrics_port=metrics_port, home=home)
    if not settings.distributed:
        raise output.Failure(
            "a worker needs a broker: set JURADO_BROKER_URL, or run `jurado serve` alone, which judges", 2
        )
    if settings.metrics_port and not settings.metrics_token:
        raise output.Failure("metrics reveal what frozen boards hide: set JURADO_METRICS_TOKEN, too", 2)
    configure_logs(settings.log_level)
    begin_traces(settings, "jurado worker")
    reach_files(settings)
    stop = threading.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: stop.set())
    _wait_for_schema(settings.database, stop)
    if stop.is_set():
        return
    with holding("jurado worker", settings, shared=True) as hold:
        from app.judging.service.broker import BrokerMissing
        from app.judging.worker import Worker

        try:
            running = Worker(settings)
        except BrokerMissing as error:
            raise output.Failure(str(error), 1) from None
        running.watch(hold, stop)
        with _metrics(running, settings) as shown:
            running.start(stop)
            if not stop.is_set():
                graders = running.engine.graders().alive
                typer.echo(f"Jurado judges with {graders} graders (data in {settings.home.resolve()}){shown}")
            stop.wait()
            typer.echo("the worker stops after the current judgements")
            running.close()
    typer.echo("the worker has stopped")


@contextmanager
def _metrics(running: Worker, settings: Settings) -> Iterator[str]:
    """Serve GET /metrics alone, for the token of the setting, where a port is set; yields where, in words."""
    if not settings.metrics_port:
        yield ""
        return
    from http.server import ThreadingHTTPServer

    from prometheus_client import MetricsHandler

    class Handler(MetricsHandler):
        registry = running.metrics.registry
        timeout = SECONDS_OF_A_CLIENT

        def do_GET(self) -> None:
            given = self.headers.get("Authorization", "")
            if self.path != "/metrics":
                self.send_error(404)
            elif not compare_digest(given.encode(), f"Bearer {settings.metrics_token}".encode()):
                self.send_error(401)
            else:
                super().do_GET()

    try:
        server = ThreadingHTTPServer((settings.host, settings.metrics_port), Handler)
    except OSError as error:
        raise output.Failure(f"{settings.host}:{settings.metrics_port}: {error.strerror or error}", 1) from None
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    try:
        yield f", metrics at http://{settings.host}:{settings.metrics_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()


def _wait_for_schema(url: str, stop: threading.Event) -> None:
    """Wait until a server has made the database's schema; raises Failure for one that this version does not know."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import SQLAlchemyError

    from app.core.db.migrate import schema_of, schemas

    engine = create_engine(url)
    last_reason = ""
    try:
        while not stop.is_set():
            try:
                schema = schema_of(engine)
            except SQLAlchemyError as error:
                why = f"the database cannot be used: {reason(error)}"
            else:
                if schema == schemas()[0]:
                    return
                if schema is not None:
                    check_schema(schema)
                why = "a server has not brought the database up to date"
            if why != last_reason:
                last_reason = why
                typer.echo(output.harmless(f"waiting: {why}"))
            stop.wait(SECONDS_BETWEEN_LOOKS)
    finally:
        engine.dispose()


NewDatabase = Annotated[
    bool, typer.Option("--new-database", help="make a new database though there are files without one")
]


@registry.command("serve")
def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on; default: JURADO_HOST or 127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="port; 0: any free one; default: JURADO_PORT or 8000")] = None,
    home: Home = None,
    standby: Annotated[
        bool, typer.Option("--standby", help="wait while another server has the home or the database, then take over")
    ] = False,
    new_database: NewDatabase = False,
    accept_clock: Annotated[
        bool, typer.Option("--accept-clock", help="take an earlier system clock: the time before it was wrong")
    ] = False,
) -> None:
    """Serve until stopped (Ctrl-C, SIGTERM). The first start makes the database, the problems and the account admin.

    One line on standard output tells the address once requests are answered; the log is JSON lines on standard error.

    Examples:
      jurado serve
      jurado serve --port 0 --home /tmp/trial
      JURADO_ADMIN_PASSWORD=... jurado serve
    """
    settings = read_settings(host=host, port=port, home=home)
    with ExitStack() as stack:
        if standby:  # until then the port may be the other server's
            main_module()  # these seconds of importing are over before the other server is gone
            hold = stack.enter_context(holding("jurado serve", settings, wait=True, shared=settings.distributed))
        bound = stack.enter_context(bind(settings.host, settings.port))
        if not standby:
            hold = stack.enter_context(holding("jurado serve", settings, shared=settings.distributed))
        try_places(settings, new_database=new_database)
        run_server(settings, bound, hold, accept_clock=accept_clock)


@registry.command("init")
def init(
    home: Home = None,
    as_json: registry.AsJson = False,
    new_database: NewDatabase = False,
) -> None:
    """Make the database, the files, the bundled problems and the first contests, and list them.

    Examples:
      jurado init
      jurado init --home /srv/jurado --json
    """
    from app.core.telemetry import configure_logs
    from app.operations.service.bootstrap import initialise

    configure_logs("warning")
    settings = read_settings(home=home)
    with holding("jurado init", settings):
        try_places(settings, new_database=new_database)
        database, _files = initialise(settings)
        names = names_of(database)
        database.close()
    if as_json:
        output.write_json({"home": str(settings.home.resolve()), **names})
    else:
        rows = [(what, ", ".join(ids)) for what, ids in names.items()]
        output.show(output.table(f"Jurado in {settings.home.resolve()}", ["what", "which"], rows))


def names_of(database: Database) -> dict[str, list[str]]:
    """Name the accounts, contests and problems of a database."""
    from app.accounts import queries as accounts_queries
    from app.contests import queries as contests_queries
    from app.problems.queries import problems

    with database.read() as session:
        return {
            "accounts": [row.username for row in accounts_queries.accounts(session)],
            "contests": [row.id for row in contests_queries.contests(session)],
            "problems": [row.id for row in problems.problems(session)],
        }

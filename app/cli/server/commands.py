"""`jurado serve`, `init` and `status`: the service itself."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from pydantic import ValidationError

from app.cli.output import Failure, say, show, table, write_json
from app.cli.solve import AsJson

if TYPE_CHECKING:
    from app.cli.server.connection import BoundedConnection
    from app.settings import Settings
    from app.storage.database import Database
    from app.storage.serving import Hold

SECONDS_TO_FINISH = 10
BACKLOG = 2048
LABELS = {
    "damaged_files": "damaged files",
    "graders": "graders alive",
    "spare_graders": "graders in reserve",
    "grader_deaths": "graders that died",
    "unprotected": "protections graders lack",
    "waiting": "judgements waiting",
    "oldest_seconds": "the oldest waits, s",
    "clock_ahead_seconds": "ahead of the system's clock, s",
}
Home = Annotated[Path | None, typer.Option(metavar="DIR", help="folder of data; default: JURADO_HOME, else ./var")]
NewDatabase = Annotated[
    bool, typer.Option("--new-database", help="make a new database though there are files without one")
]


def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on; default: JURADO_HOST, else 127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="port; 0: any free one; default: JURADO_PORT, else 8000")] = None,
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
    """
    settings = read_settings(host=host, port=port, home=home)
    with ExitStack() as stack:
        if standby:  # the port may be the other server's until then
            import_module("app.main")  # seconds that nobody has to wait for once the other server is gone
            held = stack.enter_context(holding("jurado serve", settings, wait=True))
        listening = stack.enter_context(listen(settings.host, settings.port))
        if not standby:
            held = stack.enter_context(holding("jurado serve", settings))
        try_places(settings, new_database=new_database)
        run_server(settings, listening, held, accept_clock=accept_clock)


def init(
    home: Home = None,
    as_json: AsJson = False,
    new_database: NewDatabase = False,
    new_secret_key: Annotated[
        bool,
        typer.Option("--new-secret-key", help="put a new key into secret.key; webhooks whose key is lost are deleted"),
    ] = False,
) -> None:
    """Make the database, the files, the bundled problems and the first contests, and say what is there."""
    from app.bootstrap import bring_keys, initialise
    from app.logs import configure_logs

    configure_logs(logging.WARNING)
    settings = read_settings(home=home)
    with holding("jurado init", settings):
        try_places(settings, new_database=new_database, new_key=new_secret_key)
        database, _files = initialise(settings, say)
        bring_keys(database, settings, renew=new_secret_key)
        there = what_is_there(database)
        database.close()
    if as_json:
        write_json({"home": str(settings.home.resolve()), **there})
    else:
        rows = [(what, ", ".join(names)) for what, names in there.items()]
        show(table(f"Jurado in {settings.home.resolve()}", ["what", "which"], rows))


def what_is_there(database: Database) -> dict[str, list[str]]:
    """Name the accounts, contests and problems that are kept."""
    from app.storage import accounts, contests, problems

    with database.read() as session:
        return {
            "accounts": [row.username for row in accounts.accounts(session)],
            "contests": [row.id for row in contests.contests(session)],
            "problems": [row.id for row in problems.problems(session)],
        }


def status(
    url: Annotated[str | None, typer.Option(metavar="URL", help="default: the server logged in to, or here")] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a server takes and judges submissions: exit code 0, else 1."""
    from app.cli.client import Client

    with Client.open(url) as client:
        ready = client.body(client.request("GET", "/health/ready", accept=(503,)))
        contests = client.get("contests")
        found: dict[str, Any] = {"url": client.url, **ready, "contests": [contest["id"] for contest in contests]}
        jobs = client.request("GET", "/api/jobs", accept=(200, 401, 403))
        if jobs.status_code == 200:
            found["jobs"] = {
                job["id"]: job["state"] for job in client.body(jobs) if job["state"] in {"queued", "running"}
            }
        stored = client.request("GET", "/api/stored-files", accept=(200, 401, 403, 404))
        if stored.status_code == 200:
            found["damaged_files"] = [fault["sha256"] for fault in client.body(stored)["faults"]]
    if as_json:
        write_json(found)
    else:
        show(table("", ["what", "now"], [(LABELS.get(key, key), in_words(value)) for key, value in found.items()]))
    raise typer.Exit(0 if found["ready"] else 1)


def in_words(value: object) -> object:
    """Show a part of the status to a person."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) or "none" if isinstance(value, list | dict) else value


def read_settings(**given: object) -> Settings:
    """Read the settings; what is given as an option wins. Raises Failure naming every wrong one.

    Whoever works with the database and the files makes them for the user of the service alone.
    """
    from app.settings import Settings

    os.umask(0o077)
    try:
        return Settings.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        raise Failure("settings: " + "; ".join(map(fault, error.errors()))) from None
    except ValueError as error:
        raise Failure(f"jurado.toml: {error}") from None


def fault(error: Any) -> str:
    """Say what is wrong with one setting; pydantic's own sentences lack what was found, ours have it."""
    name = ".".join(map(str, error["loc"])) or "jurado.toml"
    own = error.get("ctx", {}).get("error")
    return f"{name}: {own}" if own else f"{name}: {error['msg']}, found {error['input']!r}"


@contextmanager
def holding(what: str, settings: Settings, *, wait: bool = False, also: str = "") -> Iterator[Hold]:
    """Hold the locks of the home and the database, and of another one; raises Failure saying who has them."""
    from sqlalchemy.exc import SQLAlchemyError

    from app.storage.serving import InUse, hold, hold_when_free

    try:
        if wait:
            held = hold_when_free(what, settings.home, settings.database, lambda why: say(f"waiting: {why}"))
        else:
            held = hold(what, settings.home, *dict.fromkeys(filter(None, (settings.database, also))))
    except InUse as error:
        raise Failure(str(error), 1) from None
    except OSError as error:
        raise Failure(f"{error.filename or settings.home}: {error.strerror}", 1) from None
    except SQLAlchemyError as error:
        raise Failure(f"the database cannot be used: {_why(error)}", 1) from None
    try:
        yield held
    finally:
        held.release()


def _why(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]


def try_places(settings: Settings, *, new_database: bool = False, new_key: bool = False) -> None:
    """Reach the folders and the database before anything starts, so that a wrong place is one clear line.

    Files without a database are refused, unless there is to be a new one: the old one is elsewhere, or lost. So is a
    database whose secrets need a key that is missing, unless there is to be a new key.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from app.bootstrap import check_keys
    from app.storage.database import Database
    from app.storage.migrate import schema_of
    from app.storage.secret_keys import SecretKeyError

    for folder in (settings.home, settings.files_folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(f"{folder}: {error.strerror}", 1) from None
    try:
        database = Database(settings.database, settings.timeouts)
        try:
            schema = schema_of(database.engine)
            if schema is not None:
                refuse_unknown(schema)  # first: which keys a newer version needs, this one cannot know
                if not new_key:
                    check_keys(database, settings)
        finally:
            database.close()
    except SecretKeyError as error:
        raise Failure(str(error), 1) from None
    except SQLAlchemyError as error:
        raise Failure(f"the database cannot be used: {_why(error)}", 1) from None
    if schema is None:
        refuse_new(settings, database.engine.url.render_as_string(), new_database=new_database)


def refuse_unknown(schema: str) -> None:
    """Raise Failure for a schema that a newer version of Jurado has made."""
    from app.storage.migrate import schemas

    if schema not in schemas():
        raise Failure(
            f"the database has the schema {schema}, which this version of Jurado does not know: a newer one made it."
            " Run that one, or restore a backup from before it",
            1,
        )


def refuse_new(settings: Settings, url: str, *, new_database: bool) -> None:
    """Raise Failure where a database may not be made: beside files of another one, or with a weak first password."""
    from app.bootstrap import ADMIN
    from app.passwords import weakness

    if not new_database and any(path.is_file() for path in settings.files_folder.rglob("*")):
        raise Failure(
            f"{settings.files_folder} holds files, but their database is not there: expected it at"
            f" {url}. Restore it, name it with JURADO_DATABASE_URL,"
            " or make a new one with --new-database",
            1,
        )
    if settings.admin_password and (expected := weakness(settings.admin_password, ADMIN)):
        raise Failure(f"admin_password: expected {expected}, found a secret")


def listen(host: str, port: int) -> socket.socket:
    """Take the port before anything else starts, so that a port in use is one clear line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while")[0]
        raise Failure(f"cannot listen on {host} port {port}: {why}", 1) from None


def bounded_connections(settings: Settings) -> type[BoundedConnection]:
    """The connections of one server, which count each other, as many as there may be files open."""
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    from app.cli.server.connection import BoundedConnection
    from app.cli.server.crowd import Crowd, all_descriptors, connections_within

    most = connections_within(settings.most_connections, all_descriptors())
    proxies = ProxyHeadersMiddleware(cast(Any, None), settings.trusted_proxies).trusted_hosts
    crowd = Crowd(most, settings.most_connections_of_one, lambda address: address in proxies)
    return type("Connection", (BoundedConnection,), {"crowd": crowd})


def _main() -> ModuleType:
    """Import the service's module.

    What modules make lives as long as the process: looking through it for garbage is a tenth of the time of importing,
    and later a pause of requests.
    """
    gc.disable()
    try:
        return import_module("app.main")
    finally:
        gc.enable()
        gc.freeze()


def run_server(settings: Settings, listening: socket.socket, held: Hold, *, accept_clock: bool = False) -> None:
    """Run one server process on the socket until a signal ends it; what it was doing is finished first."""
    import uvicorn

    from app.logs import configure_logs

    configure_logs()
    host, port = listening.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"

    class Announcing(uvicorn.Server):
        """A server that tells its address once it answers."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                typer.echo(f"Jurado serves {address} (data in {settings.home.resolve()})")

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.state.hub.stop()  # streams end only if they are told to, and it would wait for them
            await super().shutdown(sockets)

    app = _main().create_app(settings, held=held, accept_clock=accept_clock)
    config = uvicorn.Config(
        app,
        http=bounded_connections(settings),
        ws="none",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # app.api.http.proxy reads them, together with the path prefix
        log_config=None,
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    server = Announcing(config)
    # uvicorn raises the signal again once it has stopped: that is the end we wanted, not an error.
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: None)
    server.run([listening])
    if not server.started:
        raise Failure("the server did not start; its log says why", 1)
    say("Jurado has stopped")

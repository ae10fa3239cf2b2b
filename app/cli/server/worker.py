"""`jurado worker`: graders and jobs of an installation of many servers, without HTTP."""

from __future__ import annotations

import signal
import threading
from typing import Annotated

import typer

from app.cli.output import Failure, say
from app.cli.server.places import Home, check_schema, holding, reached_files, read_settings, reason

SECONDS_BETWEEN_LOOKS = 1.0


def worker(
    graders: Annotated[
        int | None, typer.Option(min=1, help="grader processes; default: JURADO_GRADERS, else one less than the cores")
    ] = None,
    home: Home = None,
) -> None:
    """Judge submissions and run jobs for all servers on a database, until stopped (Ctrl-C, SIGTERM).

    Needs JURADO_BROKER_URL, JURADO_DATABASE_URL and the servers' files. Start as many as you like, on any machines; one
    that ends in whatever way leaves its work to the others.
    """
    from app.logs import configure_logs

    settings = read_settings(graders=graders, home=home)
    if not settings.distributed:
        raise Failure("a worker needs a broker: set JURADO_BROKER_URL, or let `jurado serve` judge by itself", 2)
    configure_logs(settings.log_level)
    reached_files(settings)
    stop = threading.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: stop.set())
    _wait_for_schema(settings.database, stop)
    if stop.is_set():
        return
    with holding("jurado worker", settings, shared=True):
        from app.grading.distributed.broker import BrokerMissing
        from app.worker import Worker

        try:
            running = Worker(settings)
        except BrokerMissing as error:
            raise Failure(str(error), 1) from None
        running.start(stop)
        if not stop.is_set():
            typer.echo(f"Jurado judges with {running.engine.alive()} graders (data in {settings.home.resolve()})")
        stop.wait()
        say("the worker stops after the judgements at hand")
        running.close()
    say("the worker has stopped")


def _wait_for_schema(url: str, stop: threading.Event) -> None:
    """Wait until a server has made the database's schema; raises Failure for one that this version does not know."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import SQLAlchemyError

    from app.storage.migrate import schema_of, schemas

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
                say(f"waiting: {why}")
            stop.wait(SECONDS_BETWEEN_LOOKS)
    finally:
        engine.dispose()

"""`jurado serve` and `jurado init`: the service itself."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from app.archive.commands.places import Home, holding, read_settings, try_places
from app.core.commands.options import AsJson
from app.core.commands.output import say, show, table, write_json
from app.core.commands.registry import command
from app.operations.commands.running import bind, main_module, run_server

if TYPE_CHECKING:
    from app.core.db.database import Database

NewDatabase = Annotated[
    bool, typer.Option("--new-database", help="make a new database though there are files without one")
]


@command("serve")
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


@command("init")
def init(
    home: Home = None,
    as_json: AsJson = False,
    new_database: NewDatabase = False,
    new_secret_key: Annotated[
        bool,
        typer.Option("--new-secret-key", help="put a new key into secret.key; webhooks whose key is lost are deleted"),
    ] = False,
) -> None:
    """Make the database, the files, the bundled problems and the first contests, and list them.

    Examples:
      jurado init
      jurado init --home /srv/jurado --json
    """
    from app.core.logs import configure_logs
    from app.operations.service.bootstrap import bring_keys, initialise

    configure_logs("warning")
    settings = read_settings(home=home)
    with holding("jurado init", settings):
        try_places(settings, new_database=new_database, new_key=new_secret_key)
        database, _files = initialise(settings, say)
        bring_keys(database, settings, renew=new_secret_key)
        names = names_of(database)
        database.close()
    if as_json:
        write_json({"home": str(settings.home.resolve()), **names})
    else:
        rows = [(what, ", ".join(ids)) for what, ids in names.items()]
        show(table(f"Jurado in {settings.home.resolve()}", ["what", "which"], rows))


def names_of(database: Database) -> dict[str, list[str]]:
    """Name the accounts, contests and problems of a database."""
    from app.accounts.queries import accounts
    from app.contests.queries import contests
    from app.problems.queries import problems

    with database.read() as session:
        return {
            "accounts": [row.username for row in accounts.accounts(session)],
            "contests": [row.id for row in contests.contests(session)],
            "problems": [row.id for row in problems.problems(session)],
        }

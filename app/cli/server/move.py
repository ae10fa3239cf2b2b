"""`jurado move`: take the database to PostgreSQL, or back to SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.cli.options import AsJson
from app.cli.output import Failure, console, say, show, table, write_json
from app.cli.server.places import Home, holding, read_settings, reason

if TYPE_CHECKING:
    from app.storage.database import Database


def move(
    to: Annotated[str, typer.Argument(metavar="URL", help="the empty database: postgresql://... or sqlite:////...")],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Copy the database in use into an empty one, and check that every row is there. Stop the server first.

    The database in use stays as it is; the files and the key of webhooks' tokens (secret.key) stay where they are. Exit
    code 1 if it was not moved: then the other database is as it was.
    """
    from app.storage.database import Database

    settings = read_settings(home=home)
    to_url = read_settings(home=home, database_url=to).database
    with holding("jurado move", settings, also=to_url):
        source, target = (Database(url, settings.timeouts) for url in (settings.database, to_url))
        _move(source, target, as_json=as_json)


def _move(source: Database, target: Database, *, as_json: bool) -> None:
    from sqlalchemy.exc import SQLAlchemyError

    from app.storage.move import MoveError, row_count
    from app.storage.move import move as copy

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console(err=True),
        transient=True,
    )
    try:
        with bar:
            task = bar.add_task("moving", total=None)
            bar.update(task, total=row_count(source))
            rows = copy(source, target, lambda name, count: bar.update(task, advance=count, description=name))
    except MoveError as error:
        raise Failure(str(error), 1) from None
    except SQLAlchemyError as error:
        raise Failure(f"nothing was moved: {reason(error)}", 1) from None
    finally:
        source.close()
        target.close()
    shown = target.engine.url.render_as_string()
    if as_json:
        write_json({"from": source.engine.url.render_as_string(), "to": shown, "rows": rows})
        return
    show(table("", ["table", ">rows"], [(name, count) for name, count in rows.items() if count]))
    say(f"moved {sum(rows.values())} rows, each compared; serve from there with JURADO_DATABASE_URL={shown}")

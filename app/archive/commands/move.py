"""`jurado move`: take the database to PostgreSQL, the files to S3, or either of them back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.archive.commands.places import Home, holding, read_settings, reason
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, console, say, show, table, write_json
from app.core.commands.registry import command

if TYPE_CHECKING:
    from app.core.db.database import Database


@command("move")
def move(
    to: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="the empty database: postgresql://... or sqlite:////...; or files: s3://... or file:///...",
        ),
    ],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Copy the database in use into an empty one, or the files to another store. Stop the server first.

    Every row is compared, and every file read and checked. What is in use stays as it is, and so does the key of
    webhooks' tokens (secret.key). Exit code 1 if it was not moved: then the other database is as it was. Files that
    are there already are not copied again.

    Examples:
      jurado move postgresql://jurado:SECRET@127.0.0.1/jurado --home /srv/jurado
      JURADO_DATABASE_URL=postgresql://127.0.0.1/jurado jurado move sqlite:////srv/jurado/jurado.db
    """
    from app.core.db.database import Database

    if to.startswith(("s3:", "file:")):
        _move_files(to, home, as_json=as_json)
        return
    settings = read_settings(home=home)
    to_url = read_settings(home=home, database_url=to).database
    with holding("jurado move", settings, also=to_url):
        source, target = (Database(url, settings.timeouts) for url in (settings.database, to_url))
        _move(source, target, as_json=as_json)


@contextmanager
def files_bar() -> Iterator[Callable[[str, int, int | None], None]]:
    """Show a progress bar of files on a terminal."""
    to = console(err=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=to, transient=True, disable=not to.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of)


def _move_files(to: str, home: Path | None, *, as_json: bool) -> None:
    from app.archive.queries.backup import copy_files
    from app.core.files.open_files import open_files, open_store
    from app.core.files.replica import stores_of

    settings = read_settings(home=home)
    elsewhere = read_settings(home=home, files_url=to)
    with holding("jurado move", settings), files_bar() as step:
        try:
            source = stores_of(open_files(settings))[0]
            target = open_store(elsewhere.files, settings, cache="replica")
            if source.place == target.place:
                raise Failure(f"expected another place to move to, found {target.place} again", 1)
            names = {each.sha256 for each in source.stored()}
            size, faulty = copy_files(source, target, names, step)
        except OSError as error:
            raise Failure(f"the files were not moved: {error}", 1) from None
    if as_json:
        write_json({"from": source.place, "to": target.place, "files": len(names), "bytes": size, "faulty": faulty})
    else:
        say(f"copied {len(names) - len(faulty)} files of {size} bytes; now at {target.place}")
    if faulty:
        say(f"jurado: {len(faulty)} files are damaged where they were copied from; see jurado fsck")
        raise typer.Exit(1)


def _move(source: Database, target: Database, *, as_json: bool) -> None:
    from sqlalchemy.exc import SQLAlchemyError

    from app.archive.queries.move import MoveError, row_count
    from app.archive.queries.move import move as copy

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

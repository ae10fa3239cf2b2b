"""The settings, the locks and the places of a service: each wrong one is one clear line.

- `jurado move`: take the database to PostgreSQL, the files to S3, or either of them back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.core.commands.output import Failure, console, say, show, table, write_json
from app.core.commands.registry import AsJson, command

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from app.core.db.database import Database
    from app.core.db.serving import Hold
    from app.core.files.files import Files
    from app.core.settings import Settings


Home = Annotated[Path | None, typer.Option(metavar="DIR", help="folder of data; default: JURADO_HOME, else ./var")]


def read_settings(**given: object) -> Settings:
    """Read the settings; options win. Raises Failure naming every wrong one.

    From here on new files are readable by the user of the service alone.
    """
    from app.core.settings import Settings

    os.umask(0o077)
    try:
        return Settings.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        raise Failure("settings: " + "; ".join(map(fault, error.errors()))) from None
    except ValueError as error:
        raise Failure(f"jurado.toml: {error}") from None


def fault(error: ErrorDetails) -> str:
    """Word the fault of one setting; pydantic's own sentences lack the value found, which is shown if it is no secret.

    A name that is no setting may be a secret's with a slip of the pen.
    """
    from app.core.settings import SECRETS

    name = ".".join(map(str, error["loc"])) or "jurado.toml"
    if error["type"] == "extra_forbidden":
        return f"{name}: expected the name of a setting"
    if own := error.get("ctx", {}).get("error"):
        return f"{name}: {own}"
    return f"{name}: {error['msg']}, found {'a secret' if name in SECRETS else repr(error['input'])}"


@contextmanager
def holding(
    what: str, settings: Settings, *, wait: bool = False, also: str = "", shared: bool = False
) -> Iterator[Hold]:
    """Hold the locks of the home and its database, and of the database `also`; raises Failure saying who has them.

    `shared`: others that share them may hold them too.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from app.core.db.serving import InUse, hold, hold_when_free

    try:
        if wait:
            locks = hold_when_free(
                what, settings.home, settings.database, lambda why: say(f"waiting: {why}"), shared=shared
            )
        else:
            locks = hold(what, settings.home, *dict.fromkeys(filter(None, (settings.database, also))), shared=shared)
    except InUse as error:
        raise Failure(str(error), 1) from None
    except OSError as error:
        raise Failure(f"{error.filename or settings.home}: {error.strerror}", 1) from None
    except SQLAlchemyError as error:
        raise Failure(f"the database cannot be used: {reason(error)}", 1) from None
    try:
        yield locks
    finally:
        locks.release()


def reason(error: Exception) -> str:
    """Give the first line of a database's own message."""
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]


def try_places(settings: Settings, *, new_database: bool = False, new_key: bool = False) -> None:
    """Reach the folders and the database before anything starts, so that a wrong place is one clear line.

    Files without a database are refused, unless a new one is asked for: the old one is elsewhere, or lost. So are a
    database of a newer version, and one whose secrets need a key that is missing, unless a new key is asked for.
    """
    files = reached_files(settings)
    schema, place = schema_in_use(settings, new_key=new_key)
    if schema is None:
        check_new_database(settings, files, place, new_database=new_database)


def reached_files(settings: Settings) -> Files:
    """Make the home, and open the file store, which may answer later; raises Failure where it never will."""
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"{settings.home}: {error.strerror}", 1) from None
    from app.core.files.stored_bytes import StoreUnavailable

    files = opened_files(settings)
    try:
        any(files.stored())
    except StoreUnavailable as error:
        if error.is_final:
            raise Failure(f"the files cannot be used: {error}", 1) from None
        say(f"jurado: the files do not answer yet: {error}")
    return files


def opened_files(settings: Settings) -> Files:
    """Open the file store of the settings; raises Failure."""
    from app.core.files.open_files import open_files

    try:
        return open_files(settings)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise Failure(f"{where}{error.strerror or error}", 1) from None


def schema_in_use(settings: Settings, *, new_key: bool) -> tuple[str | None, str]:
    """Give the schema of the database, None for an empty one, and its address without the password.

    Raises Failure where it cannot be used, is of a newer version, or its secrets need a key that is missing.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from app.core.db.database import Database
    from app.core.db.migrate import SecretKeyError, schema_of
    from app.operations.service.bootstrap import check_keys

    try:
        database = Database(settings.database, settings.timeouts, shared=settings.distributed)
        try:
            schema = schema_of(database.engine)
            if schema is not None:
                check_schema(schema)  # first: which keys a newer version needs, this one cannot know
                if not new_key:
                    check_keys(database, settings)
        finally:
            database.close()
    except SecretKeyError as error:
        raise Failure(str(error), 1) from None
    except SQLAlchemyError as error:
        raise Failure(f"the database cannot be used: {reason(error)}", 1) from None
    return schema, database.engine.url.render_as_string()


def check_new_database(settings: Settings, files: Files, place: str, *, new_database: bool) -> None:
    """Raise Failure where files lack their database, or the first password of the admin is weak."""
    from app.core.passwords import weakness
    from app.operations.service.bootstrap import ADMIN

    if not new_database and _holds_any(files):
        raise Failure(
            f"{files.place} holds files, but their database is not there: expected it at"
            f" {place}. Restore it, name it with JURADO_DATABASE_URL,"
            " or make a new one with --new-database",
            1,
        )
    if settings.admin_password and (expected := weakness(settings.admin_password, ADMIN)):
        raise Failure(f"admin_password: expected {expected}, found a secret")


def _holds_any(files: Files) -> bool:
    """Whether a store holds any file; raises Failure where it does not say."""
    from app.core.files.stored_bytes import StoreUnavailable

    try:
        return any(files.stored())
    except StoreUnavailable as error:
        raise Failure(f"the files cannot be used: {error}", 1) from None


def check_schema(schema: str) -> None:
    """Raise Failure where a newer version of Jurado made the database."""
    from app.core.db.migrate import schemas

    if schema not in schemas():
        raise Failure(
            f"the database has the schema {schema}, which this version of Jurado does not know: a newer one made it."
            " Run that one, or restore a backup from before it",
            1,
        )


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

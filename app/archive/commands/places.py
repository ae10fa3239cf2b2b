"""The settings, the locks and the places of a service: each wrong one is one clear line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.core.commands.output import Failure, console, say

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from app.core.db.serving import Hold
    from app.core.files.files import Files
    from app.core.settings import Settings


Home = Annotated[Path | None, typer.Option(metavar="DIR", help="data folder; default: JURADO_HOME or ./var")]


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
def holding(what: str, settings: Settings, *, wait: bool = False, shared: bool = False) -> Iterator[Hold]:
    """Hold the locks of the home and its database; raises Failure saying who has them.

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
            locks = hold(what, settings.home, settings.database, shared=shared)
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


def try_places(settings: Settings, *, new_database: bool = False) -> None:
    """Reach the folders and the database before anything starts, so that a wrong place is one clear line.

    Files without a database are refused, unless a new one is asked for: the old one is elsewhere, or lost. So are a
    database of a newer version, a file of keys that is none, and a weak first password of the admin.
    """
    from app.core.passwords import weakness
    from app.operations.service.bootstrap import ADMIN

    filled = reach_files(settings)
    schema, place = schema_in_use(settings)
    if schema is not None:
        return
    if filled and not new_database:
        raise Failure(
            f"{filled} holds files, but their database is not there: expected it at {place}. Restore it, name it with"
            " JURADO_DATABASE_URL, or make a new one with --new-database",
            1,
        )
    if settings.admin_password and (expected := weakness(settings.admin_password, ADMIN)):
        raise Failure(f"admin_password: expected {expected}, found a secret")


def reach_files(settings: Settings) -> str:
    """Make the home, and give the place of the files; an empty text where there are none.

    Raises Failure where the store never answers. One that does not answer yet may have some.
    """
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"{settings.home}: {error.strerror}", 1) from None
    from app.core.files.stored_bytes import StoreUnavailable

    files = opened_files(settings)
    try:
        return files.place if any(files.stored()) else ""
    except StoreUnavailable as error:
        if error.is_final:
            raise Failure(f"the files cannot be used: {error}", 1) from None
        say(f"jurado: the files do not answer yet: {error}")
        return files.place


def opened_files(settings: Settings) -> Files:
    """Open the file store of the settings; raises Failure."""
    from app.core.files.open_files import open_files

    try:
        return open_files(settings)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise Failure(f"{where}{error.strerror or error}", 1) from None


def schema_in_use(settings: Settings) -> tuple[str | None, str]:
    """Give the schema of the database, None for an empty one, and its address without the password.

    Raises Failure where it cannot be used, is of a newer version, or the file of keys is none.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from app.core.db.database import Database
    from app.core.db.migrate import SecretKeyError, read_keys, schema_of

    try:
        database = Database(settings.database, settings.timeouts, shared=settings.distributed)
        try:
            schema = schema_of(database.engine)
            if schema is not None:
                check_schema(schema)
            read_keys(settings)
        finally:
            database.close()
    except SecretKeyError as error:
        raise Failure(str(error), 1) from None
    except SQLAlchemyError as error:
        raise Failure(f"the database cannot be used: {reason(error)}", 1) from None
    return schema, database.engine.url.render_as_string()


def check_schema(schema: str) -> None:
    """Raise Failure where a newer version of Jurado made the database."""
    from app.core.db.migrate import schemas

    if schema not in schemas():
        raise Failure(
            f"the database has the schema {schema}, which this version of Jurado does not know: a newer one made it."
            " Run that one, or restore a backup from before it",
            1,
        )


@contextmanager
def files_bar() -> Iterator[Callable[[str, int, int | None], None]]:
    """Show a progress bar of files on a terminal."""
    to = console(err=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=to, transient=True, disable=not to.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of)

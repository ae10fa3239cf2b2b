"""`jurado backup`, `restore` and `fsck`: copy everything, put it back, and check all that is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.archive.commands.places import Home, files_bar, holding, opened_files, read_settings, reason
from app.core.commands.output import Failure, say, show, table, write_json
from app.core.commands.registry import AsJson, command

if TYPE_CHECKING:
    from app.archive.queries.references import Checked, Fault, Repaired
    from app.core.db.database import Database
    from app.core.settings import Settings

MOST_SHOWN = 100
Where = Annotated[Path, typer.Argument(metavar="DIR", help="folder of the backup")]


@command("backup")
def backup(where: Where, home: Home = None, as_json: AsJson = False) -> None:
    """Copy database and files into a folder while the service runs; into the same folder again, only new files.

    The backup holds everything acknowledged before it began. An interrupted backup leaves the previous one intact. Exit
    code 1 if the store itself lacks files that the database names; the backup is finished then too.

    Examples:
      jurado backup /backup/jurado
      jurado backup /backup/jurado --json
    """
    from app.archive.queries.backup import backup as copy
    from app.archive.queries.backup import note_backup

    if where.parts[:1] == ("s3:",):
        raise Failure(f"expected a folder, found {where}: copy the backup's folder there with a program for S3")
    settings, where = read_settings(home=home), where.resolve()
    with _one_line_of_faults(), _opened(settings) as database, files_bar() as step:
        manifest = copy(database, opened_files(settings), where, step)
        note_backup(database, manifest, where)
    if as_json:
        write_json({"folder": str(where), **asdict(manifest)})
    else:
        rows = sum(manifest.rows.values())
        say(f"copied {rows} rows, and {manifest.files} files of {manifest.size} bytes, each read and compared")
    if manifest.faulty:
        say(f"jurado: {len(manifest.faulty)} files are missing or damaged where they were copied from; see jurado fsck")
        raise typer.Exit(1)


@command("restore")
def restore(
    where: Where,
    home: Home = None,
    replace: Annotated[bool, typer.Option("--replace", help="replace the existing data")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup where the service finds it: JURADO_HOME, JURADO_DATABASE_URL. Stop the server first.

    It is refused while a server, or another command that writes, has the home or the database. All of the backup is
    read and compared before anything is changed. A backup of SQLite may go to PostgreSQL, and back. A database that
    holds anything is replaced only with --replace.

    Examples:
      jurado restore /backup/jurado --home /srv/jurado
      jurado restore /backup/jurado --home /srv/jurado --replace
    """
    from app.archive.queries.backup import restore as put

    settings = read_settings(home=home)
    with holding("jurado restore", settings), _one_line_of_faults(), files_bar() as step:
        files, timeouts = opened_files(settings), settings.timeouts
        manifest = put(where.resolve(), settings.database, files, replace=replace, step=step, timeouts=timeouts)
    if as_json:
        write_json({"home": str(settings.home.resolve()), **asdict(manifest)})
    else:
        say(f"restored {sum(manifest.rows.values())} rows and {manifest.files} files, as of {manifest.made}")


@command("fsck")
def fsck(
    home: Home = None,
    repair: Annotated[bool, typer.Option("--repair", help="remove orphans, restore files from a backup")] = False,
    source: Annotated[Path | None, typer.Option("--from", metavar="DIR", help="backup to restore from")] = None,
    as_json: AsJson = False,
) -> None:
    """Read every stored file and every row, and list the files missing, damaged or not referenced.

    May run while the server runs. Exit code 1 if anything is missing or damaged (and could not be repaired).

    Examples:
      jurado fsck
      jurado fsck --repair --from /backup/jurado
      jurado fsck --repair --json
    """
    from app.archive.queries import references
    from app.archive.queries.backup import FILES
    from app.core.files.open_files import LocalFiles
    from app.core.telemetry import configure_logs

    configure_logs("error")  # each fault is in the table; and standard output is the JSON's alone
    settings = read_settings(home=home)
    if source is not None and not (source / FILES).is_dir():
        raise Failure(f"--from: expected the folder of a backup, found no folder {source / FILES}")
    spare = None if source is None else LocalFiles(source / FILES)
    files = opened_files(settings)
    with _one_line_of_faults(), _opened(settings) as database:
        with files_bar() as step:
            checked = references.check(database, files, step=lambda at, of, _size: step("reading files", at, of))
        repaired = references.repair(database, files, checked, spare) if repair else None
    restored = set() if repaired is None else set(repaired.restored)
    faults = [fault for fault in checked.faults if fault.name not in restored]
    if as_json:
        write_json(
            {
                "files": checked.files,
                "bytes": checked.size,
                "faults": [asdict(fault) for fault in faults],
                "orphans": checked.orphans,
                "orphan_bytes": checked.orphan_size,
                "old_orphans": len(checked.old),
                "repaired": None if repaired is None else asdict(repaired),
            }
        )
    else:
        _show(checked, faults, repaired)
    raise typer.Exit(1 if faults else 0)


def _show(checked: Checked, faults: Sequence[Fault], repaired: Repaired | None) -> None:
    rows = [(fault.kind, fault.name, ", ".join(fault.places) or "nobody", fault.why) for fault in faults]
    if rows:
        show(table("", ["fault", "which", "needed by", "why"], rows[:MOST_SHOWN]))
    if len(rows) > MOST_SHOWN:
        say(f"and {len(rows) - MOST_SHOWN} more")
    say(
        f"read {checked.files} files of {checked.size} bytes: {len(faults)} faults, {checked.orphans} orphans of"
        f" {checked.orphan_size} bytes, {len(checked.old)} of them old enough to be removed"
    )
    if repaired is not None:
        say(
            f"restored {len(repaired.restored)} files, removed {repaired.removed} orphans of {repaired.size} bytes"
            f" and {repaired.unfinished} unfinished files"
        )


@contextmanager
def _opened(settings: Settings) -> Iterator[Database]:
    """Open the existing database; none is made, as an empty one would look sound."""
    from app.core.db.database import Database
    from app.core.db.migrate import schema_of

    place = settings.database.removeprefix("sqlite:///")
    if place != settings.database and not Path(place).is_file():
        raise Failure(f"expected a database, found no file {place}", 1)
    database = Database(settings.database, settings.timeouts)
    try:
        if schema_of(database.engine) is None:
            raise Failure("expected a database of Jurado, found one without tables: run jurado init first", 1)
        yield database
    finally:
        database.close()


@contextmanager
def _one_line_of_faults() -> Iterator[None]:
    """End the command with one line where copying, the database or a file fails."""
    from sqlalchemy.exc import SQLAlchemyError

    from app.archive.queries.database_copy import BackupError

    try:
        yield
    except (BackupError, OSError) as error:
        raise Failure(str(error), 1) from None
    except SQLAlchemyError as error:
        raise Failure(reason(error), 1) from None

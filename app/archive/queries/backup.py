"""A copy of everything in one folder, made while the service runs.

The database comes first, then the files that it names. The folder holds `manifest.json`, the database as an SQLite file
whatever it was copied from, and `files/` as the store has them. The manifest is written last and replaced in one step,
and names the database it belongs to: without one a backup is not finished, and one that was broken off leaves the
backup before it as good as it was.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import func, select

from app.archive.queries import database_copy, references
from app.archive.queries.database_copy import BackupError
from app.core import clock, settings
from app.core.db.database import Database
from app.core.db.migrate import schemas
from app.core.files.files import Files
from app.core.files.open_files import LocalFiles
from app.core.files.stored_bytes import UNREADABLE, FileMissing
from app.core.files.temporary import UNFINISHED, whole_file
from app.feed import queries as feed_queries
from app.tables import Base, LastBackupRow

FORMAT = 1
MANIFEST = "manifest.json"
FILES = "files"
DATABASE = "jurado-"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a finished backup; `made` is when it began: everything acknowledged before is in it.

    `faulty` are files that the store itself could not give. The secret key, which reads tokens of webhooks, is not in
    it.
    """

    format: int
    made: str
    schema: str
    database: str
    database_sha256: str
    rows: dict[str, int]
    files: int
    size: int
    faulty: Sequence[str]


def backup(database: Database, files: Files, folder: Path, step: database_copy.Step = lambda *_: None) -> Manifest:
    """Copy database and files into a folder; files that an earlier backup brought there are not copied again.

    Raises BackupError where the folder holds something else, or the schema is not this version's.
    """
    database_copy.refuse_other_schema(database)
    copied = LocalFiles(folder / FILES)
    if Path(copied.place).resolve() == Path(files.place).resolve():
        raise BackupError(f"{folder}: expected a folder for backups alone, found the files to be copied in it")
    _prepare(folder)
    earlier = read_manifest(folder) if (folder / MANIFEST).exists() else None
    made = clock.utc_now()
    path = folder / f"{DATABASE}{made:%Y%m%dT%H%M%S%f}.db"
    rows = _copy_database(database, path, step)
    digest, names = _sha256(path), _names(path)
    copied.tidy()
    size, faulty = copy_files(files, copied, names, step)
    manifest = Manifest(
        FORMAT,
        made.isoformat(),
        schemas()[0],
        path.name,
        digest,
        rows,
        len(names) - len(faulty),
        size,
        faulty,
    )
    _finish(folder, manifest)
    for old in folder.glob(f"{DATABASE}*.db*"):
        if not old.name.startswith(path.name):
            old.unlink()
    if earlier is not None:  # what only backups before this one needed
        for each in list(copied.stored()):
            if each.sha256 not in names:
                copied.remove(each.sha256)
    return manifest


def _prepare(folder: Path) -> None:
    """Make the folder; one with anything else is not ours to write to."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in folder.iterdir():
        if each.name not in {MANIFEST, FILES} and not each.name.startswith((DATABASE, UNFINISHED)):
            raise BackupError(f"{folder}: expected a folder for backups alone, found {each.name} in it")


def _finish(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, and replace the one before."""
    os.sync()  # the manifest says that everything is there: also after a power cut
    with whole_file(folder / MANIFEST) as file:
        file.write(json.dumps(asdict(manifest), indent=1).encode())


def note_backup(database: Database, manifest: Manifest, folder: Path) -> None:
    """Write into the database that a backup was finished, and where it lies, for those who look at the service."""
    row = LastBackupRow(
        id=1,
        made=datetime.fromisoformat(manifest.made),
        place=str(folder),
        files=manifest.files,
        size=manifest.size,
        faulty=len(manifest.faulty),
    )
    with database.write(quiet=True) as session:
        session.merge(row)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished backup; raises BackupError."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
        if manifest.get("format") != FORMAT:
            raise BackupError(f"{folder}: expected a backup of format {FORMAT}, found {manifest.get('format')!r}")
        return Manifest(**manifest)
    except FileNotFoundError:
        raise BackupError(f"{folder}: expected a finished backup, found no {MANIFEST}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise BackupError(f"{path}: {error}") from None


def verify(folder: Path, step: database_copy.Step = lambda *_: None) -> tuple[Manifest, list[str]]:
    """Read all of a backup and hold it against its manifest; returns that and its files. Raises BackupError."""
    manifest = read_manifest(folder)
    if manifest.schema not in schemas():
        raise BackupError(
            f"{folder}: it has the schema {manifest.schema}, which this version does not know: a newer one made it"
        )
    path, files = folder / manifest.database, LocalFiles(folder / FILES)
    if not path.is_file() or _sha256(path) != manifest.database_sha256:
        raise BackupError(f"{path}: expected the database the manifest names, found other bytes or none")
    names = sorted(_names(path) - set(manifest.faulty))
    for at, name in enumerate(names, start=1):
        try:
            files.examine(name)
        except (FileMissing, OSError) as error:
            raise BackupError(f"{files.place}: {error}") from None
        step("verifying files", at, len(names))
    return manifest, names


def restore(
    folder: Path,
    database_url: str,
    files: Files,
    *,
    replace: bool = False,
    step: database_copy.Step = lambda *_: None,
    timeouts: settings.Timeouts = settings.DEFAULT_TIMEOUTS,
) -> Manifest:
    """Put a backup where a service finds it, all of it verified first: the files, and the database at last.

    The database may be of the other kind. Raises BackupError if it holds rows already, unless they are to be replaced.
    """
    manifest, names = verify(folder, step)
    path, copied = folder / manifest.database, LocalFiles(folder / FILES)
    with closing(Database(database_url, timeouts)) as target:
        if not replace:
            database_copy.refuse_other_contents(target)
        for at, name in enumerate(names, start=1):
            references.copy_file(copied, files, name)
            step("restoring files", at, len(names))
        if target.is_sqlite:
            database_copy.replace_sqlite(path, target)
        else:
            database_copy.replace_rows(path, target, step, replace=replace)
    with closing(Database(database_url, timeouts)) as restored:  # SQLite's file is another one by now
        with restored.engine.begin() as connection:
            feed_queries.refuse_given_tokens(connection)
        rows = _row_counts(restored)
    if {name: rows[name] for name in manifest.rows} != manifest.rows:
        raise BackupError(f"the restored database has other numbers of rows than {folder / MANIFEST} says")
    return manifest


def _copy_database(database: Database, path: Path, step: database_copy.Step) -> dict[str, int]:
    step("copying the database", 0, None)
    if database.is_sqlite:
        with database.engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None, "the connection is open"
            driver.execute("VACUUM INTO ?", (str(path),))  # one snapshot; copying pages begins again at each write
    with closing(Database(f"sqlite:///{path}")) as copy:
        if database.is_sqlite:
            return _row_counts(copy)
        return database_copy.copy_rows(database, copy, step)


def copy_files(source: Files, copied: Files, names: Iterable[str], step: database_copy.Step) -> tuple[int, list[str]]:
    """Copy what is not there; returns the size of all as stored, and the names that could not be had."""
    listed, faulty = sorted(names), []
    sizes = {each.sha256: each.size for each in source.stored()}
    present = {each.sha256: each.size for each in copied.stored()}
    for at, name in enumerate(listed, start=1):
        if name not in present or present[name] != sizes.get(name):
            try:
                references.copy_file(source, copied, name)
            except UNREADABLE:
                if not _is_readable(copied, name):
                    faulty.append(name)
        step("copying files", at, len(listed))
    wanted = set(listed)
    return sum(each.size for each in copied.stored() if each.sha256 in wanted), faulty


def _is_readable(files: Files, name: str) -> bool:
    try:
        files.examine(name)
    except UNREADABLE:
        return False
    return True


def _names(path: Path) -> set[str]:
    """The files that a copied database needs."""
    # Immutable: no lock and no log beside it, so that the backup may lie where no one can write.
    url = f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&immutable=1&uri=true"
    with closing(Database(url)) as database, database.snapshot() as connection:
        return set(references.read_references(connection).needed)


def _row_counts(database: Database) -> dict[str, int]:
    with database.snapshot() as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

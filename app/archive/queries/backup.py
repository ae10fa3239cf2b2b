"""A copy of everything in one folder or below an address of S3, made while the service runs.

The database comes first, then the files that it names. The place holds `manifest.json`, the database as an SQLite file
whatever it was copied from, and `files/` as the store has them. The manifest is written last and replaced in one step,
and names the database it belongs to: without one a backup is not finished, and one that was broken off leaves the
backup before it as good as it was.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import func, select

from app.archive.queries import database_copy, references
from app.archive.queries.backup_places import DATABASE, MANIFEST, BackupError, BackupFolder, Place
from app.core import clock, settings
from app.core.db.database import Database
from app.core.db.migrate import schemas
from app.core.files.files import Files
from app.core.files.stored_bytes import UNREADABLE, FileMissing
from app.feed import queries as feed_queries
from app.tables import Base, LastBackupRow

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a finished backup; `made` is when it began: everything acknowledged before is in it.

    `names` is the sha256 of the sorted names of the files, a line each; `faulty` are those that the store itself could
    not give. The secret key, which reads tokens of webhooks, is not in it.
    """

    format: int
    made: str
    schema: str
    database: str
    database_sha256: str
    rows: dict[str, int]
    files: int
    size: int
    names: str
    faulty: Sequence[str]


def backup(
    database: Database, files: Files, where: Path | Place, step: database_copy.Step = lambda *_: None
) -> Manifest:
    """Copy database and files into a place; files that an earlier backup brought there are not copied again.

    Raises BackupError where the place holds something else, or the schema is not this version's.
    """
    place = _place(where)
    database_copy.refuse_other_schema(database)
    if place.files.place == files.place or Path(place.files.place).resolve() == Path(files.place).resolve():
        raise BackupError(f"{place.shown}: expected a folder for backups alone, found the files to be copied in it")
    place.prepare()
    earlier = None if place.manifest() is None else read_manifest(place)
    made = clock.utc_now()
    with place.writing(f"{DATABASE}{made:%Y%m%dT%H%M%S%f}.db") as path:
        rows = _copy_database(database, path, step)
        digest, names = _sha256(path), _names(path)
    place.files.tidy()
    size, faulty = copy_files(files, place.files, names, step)
    manifest = Manifest(
        FORMAT,
        made.isoformat(),
        schemas()[0],
        path.name,
        digest,
        rows,
        len(names) - len(faulty),
        size,
        _digest(set(names) - set(faulty)),
        faulty,
    )
    place.finish(json.dumps(asdict(manifest), indent=1).encode())
    _forget(place, manifest, set(names), earlier)
    return manifest


def _place(where: Path | Place) -> Place:
    return BackupFolder(where) if isinstance(where, Path) else where


def note_backup(database: Database, manifest: Manifest, place: str) -> None:
    """Write into the database that a backup was finished, and where it lies, for those who look at the service."""
    row = LastBackupRow(
        id=1,
        made=datetime.fromisoformat(manifest.made),
        place=place,
        files=manifest.files,
        size=manifest.size,
        faulty=len(manifest.faulty),
    )
    with database.write(quiet=True) as session:
        session.merge(row)


def read_manifest(where: Path | Place) -> Manifest:
    """The manifest of a finished backup; raises BackupError."""
    place = _place(where)
    data = place.manifest()
    if data is None:
        raise BackupError(f"{place.shown}: expected a finished backup, found no {MANIFEST}")
    try:
        manifest = json.loads(data)
        if manifest.get("format") != FORMAT:
            raise BackupError(f"{place.shown}: expected a backup of format {FORMAT}, found {manifest.get('format')!r}")
        return Manifest(**manifest)
    except (ValueError, TypeError, AttributeError) as error:
        raise BackupError(f"{place.shown}/{MANIFEST}: {error}") from None


def verify(where: Path | Place, step: database_copy.Step = lambda *_: None) -> Manifest:
    """Read all of a backup and hold it against its manifest; raises BackupError."""
    with _verified(_place(where), step) as (manifest, _path, _names):
        return manifest


@contextmanager
def _verified(place: Place, step: database_copy.Step) -> Iterator[tuple[Manifest, Path, list[str]]]:
    """Read all of a backup; yields its manifest, the path of its database, and its files. Raises BackupError."""
    manifest = read_manifest(place)
    if manifest.schema not in schemas():
        raise BackupError(
            f"{place.shown}: it has the schema {manifest.schema}, which this version does not know: a newer one made it"
        )
    wrong = f"{place.shown}/{manifest.database}: expected the database the manifest names, found other bytes or none"
    with ExitStack() as stack:
        try:
            path = stack.enter_context(place.reading(manifest.database))
        except FileNotFoundError:
            raise BackupError(wrong) from None
        if _sha256(path) != manifest.database_sha256:
            raise BackupError(wrong)
        names = sorted(_names(path) - set(manifest.faulty))
        if _digest(names) != manifest.names:
            raise BackupError(f"{place.shown}: the database names other files than the manifest")
        for at, name in enumerate(names, start=1):
            try:
                place.files.examine(name)
            except (FileMissing, OSError) as error:
                raise BackupError(f"{place.files.place}: {error}") from None
            step("verifying files", at, len(names))
        yield manifest, path, names


def restore(
    where: Path | Place,
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
    place = _place(where)
    with _verified(place, step) as (manifest, path, names):
        target = Database(database_url, timeouts)
        try:
            if not replace:
                database_copy.refuse_other_contents(target)
            for at, name in enumerate(names, start=1):
                _copy_file(place.files, files, name)
                step("restoring files", at, len(names))
            if target.is_sqlite:
                database_copy.replace_sqlite(path, target)
            else:
                database_copy.replace_rows(path, target, step, replace=replace)
        finally:
            target.close()
    restored = Database(database_url, timeouts)  # SQLite's file is another one by now
    try:
        with restored.engine.begin() as connection:
            feed_queries.refuse_given_tokens(connection)
        rows = _row_counts(restored)
    finally:
        restored.close()
    if {name: rows[name] for name in manifest.rows} != manifest.rows:
        raise BackupError(f"the restored database has other numbers of rows than {place.shown}/{MANIFEST} says")
    return manifest


def _copy_database(database: Database, path: Path, step: database_copy.Step) -> dict[str, int]:
    step("copying the database", 0, None)
    if database.is_sqlite:
        with database.engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None, "the connection is open"
            driver.execute("VACUUM INTO ?", (str(path),))  # one snapshot; copying pages begins anew at each write
    copy = Database(f"sqlite:///{path}")
    try:
        if database.is_sqlite:
            return _row_counts(copy)
        return database_copy.copy_rows(database, copy, database_copy.counting("copying the database", step))
    finally:
        copy.close()


def copy_files(source: Files, copied: Files, names: Iterable[str], step: database_copy.Step) -> tuple[int, list[str]]:
    """Copy what is not there; returns the size of all as stored, and the names that could not be had."""
    listed, faulty = sorted(names), []
    sizes = {each.sha256: each.size for each in source.stored()}
    present = {each.sha256: each.size for each in copied.stored()}
    for at, name in enumerate(listed, start=1):
        if name not in present or present[name] != sizes.get(name):
            try:
                _copy_file(source, copied, name)
            except UNREADABLE:
                if not _is_readable(copied, name):
                    faulty.append(name)
        step("copying files", at, len(listed))
    wanted = set(listed)
    return sum(each.size for each in copied.stored() if each.sha256 in wanted), faulty


def _copy_file(source: Files, target: Files, name: str) -> None:
    with source.opened(name) as packed:
        target.keep_packed(name, packed)


def _is_readable(files: Files, name: str) -> bool:
    try:
        files.examine(name)
    except UNREADABLE:
        return False
    return True


def _forget(place: Place, manifest: Manifest, names: set[str], earlier: Manifest | None) -> None:
    """Remove what only backups before this one needed, and what was left of those that were broken off."""
    place.keep_only(manifest.database)
    if earlier is not None:
        for each in list(place.files.stored()):
            if each.sha256 not in names:
                place.remove_file(each.sha256)


def _names(path: Path) -> set[str]:
    """The files that a copied database needs."""
    with _opened_copy(path) as database, database.snapshot() as connection:
        return set(references.read_references(connection).needed)


@contextmanager
def opened_database(where: Path | Place) -> Iterator[Database | None]:
    """Open the database of a finished backup, only to read; None where the place holds files alone."""
    place = _place(where)
    if place.manifest() is None:
        yield None
        return
    with place.reading(read_manifest(place).database) as path, _opened_copy(path) as database:
        yield database


@contextmanager
def _opened_copy(path: Path) -> Iterator[Database]:
    # Immutable: no lock and no log beside it, so that the backup may lie where nobody can write.
    database = Database(f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&immutable=1&uri=true")
    try:
        yield database
    finally:
        database.close()


def _row_counts(database: Database) -> dict[str, int]:
    with database.snapshot() as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()

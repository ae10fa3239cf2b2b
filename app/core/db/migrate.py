"""Bring a database to the newest schema with the migrations of the repository.

- Keys that encrypt what the database must be able to read again: tokens of webhooks, which sign each call.
- Wait until files and folders are on the disk.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from cryptography.fernet import Fernet, InvalidToken
from sqlalchemy import Engine, inspect, text

from app.core.effort import EFFORT
from app.core.settings import DEFAULT_TIMEOUTS, Settings, Timeouts, secret_keys_of

MIGRATIONS = Path(__file__).resolve().parents[3] / "migrations"


def upgrade(url: str, timeouts: Timeouts = DEFAULT_TIMEOUTS) -> None:
    """Run every migration that has not run yet; one statement may take as long as `timeouts` gives a migration."""
    config = alembic_config(url)
    config.attributes["timeouts"] = timeouts
    command.upgrade(config, "head")


def schema_of(engine: Engine) -> str | None:
    """The schema a database has, as its last migration is called; None before the first."""
    with engine.connect() as connection:
        has = inspect(connection).has_table("alembic_version")
        return connection.scalar(text("SELECT version_num FROM alembic_version")) if has else None


def schemas() -> list[str]:
    """The schemas this version knows, the newest first."""
    return [script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()]


def alembic_config(url: str) -> Config:
    """Alembic's settings for a database; `%` in a URL would be read as interpolation, so it is doubled."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config


def sync(descriptor: int) -> None:
    """Wait until what was written to an open file or folder is on the disk."""
    if EFFORT.waits_for_disk:
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: a file that was renamed into it survives a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.keys")

KEY_FILE = "secret.key"
ID_DIGITS = 12


class SecretKeyError(Exception):
    """A key that is missing, of another server, or none; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Encrypted:
    """A text as a row stores it, and the id of the key that reads it."""

    text: str
    key_id: str


def key_id_of(key: str) -> str:
    """The id of a key, which does not give the key away."""
    return hashlib.sha256(b"jurado key id " + key.encode()).hexdigest()[:ID_DIGITS]


def number_of(key_id: str) -> int:
    """A key's id as a number of 31 bits, by which processes on a database show which key they encrypt with."""
    return int(key_id, 16) & 0x7FFFFFFF


def other_key(place: str) -> SecretKeyError:
    """The error of a server that does not have the key of those that run."""
    return SecretKeyError(
        f"the servers that run on this database encrypt tokens of webhooks by a key that {place} does not have:"
        " expected the same keys for all of them, from the setting JURADO_SECRET_KEY or copies of one secret.key"
    )


class SecretKeys:
    """The keys of one server; `place` names where they are looked for."""

    def __init__(self, keys: Sequence[str], place: str) -> None:
        self._ciphers = {key_id_of(key): Fernet(key) for key in keys}
        self._place = place

    @property
    def ids(self) -> list[str]:
        """The ids of all keys, the one that encrypts first."""
        return list(self._ciphers)

    def encrypt(self, text: str) -> Encrypted:
        """Encrypt by the first key."""
        first = self.ids[0]
        return Encrypted(self._ciphers[first].encrypt(text.encode()).decode(), first)

    def decrypt(self, encrypted: Encrypted) -> str:
        """Read a text; raises SecretKeyError where its key is missing, or what is stored was not made by it."""
        if (cipher := self._ciphers.get(encrypted.key_id)) is None:
            raise missing_key({encrypted.key_id}, self.ids, self._place)
        try:
            return cipher.decrypt(encrypted.text.encode()).decode()
        except InvalidToken:
            raise SecretKeyError(
                f"expected a text encrypted by the key {encrypted.key_id}, found a damaged one:"
                " delete the webhook and make it again"
            ) from None


def missing_key(wanted: set[str], known: Sequence[str], place: str) -> SecretKeyError:
    """The error that names the keys wanted, and what leads back to a server that starts."""
    return SecretKeyError(
        f"tokens of webhooks are encrypted by the key {', '.join(sorted(wanted))}: expected it in {place},"
        f" found {', '.join(known) or 'no key'}. Put the key back, from where it was copied to; if it is lost, run"
        " jurado init --new-secret-key, which deletes these webhooks, and make them again"
    )


def key_file(settings: Settings) -> Path:
    """The path of the file of keys."""
    return settings.home / KEY_FILE


def key_place(settings: Settings) -> str:
    """The places that keys are read from, in words."""
    return f"{key_file(settings)} or JURADO_SECRET_KEY"


def read_keys(settings: Settings) -> SecretKeys:
    """The keys of the setting and the file, none where there are neither; raises SecretKeyError for what is no key."""
    keys = [*secret_keys_of(settings.secret_key), *_keys_in(key_file(settings))]
    return SecretKeys(list(dict.fromkeys(keys)), key_place(settings))


def make_key(settings: Settings) -> None:
    """Put a new key into the file, in front of those that are there; whole and on the disk before anything uses it."""
    path = key_file(settings)
    lines = [Fernet.generate_key().decode(), *_keys_in(path)]
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # readable by its user alone: mode 0600
    try:
        with os.fdopen(handle, "w") as file:
            file.write("".join(f"{line}\n" for line in lines))
            file.flush()
            sync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _keys_in(path: Path) -> list[str]:
    try:
        text, mode = path.read_text(encoding="ascii"), path.stat().st_mode
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise SecretKeyError(
            f"{path}: {getattr(error, 'strerror', None) or 'expected keys, found other text'}"
        ) from None
    if stat.S_IMODE(mode) & 0o077:
        log.warning("other users may read the keys: close the file with chmod 600", file=str(path))
    try:
        return secret_keys_of(text)
    except ValueError as error:
        raise SecretKeyError(f"{path}: {error}") from None

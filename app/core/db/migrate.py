"""Bring a database to the newest schema with the migrations of the repository.

- Keys that encrypt what the database must be able to read again: tokens of webhooks, which sign each call.
"""

import stat
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from cryptography.fernet import Fernet, MultiFernet
from sqlalchemy import Engine, inspect, text

from app.core.files.temporary import whole_file
from app.core.settings import DEFAULT_TIMEOUTS, Settings, Timeouts, secret_keys_of
from app.core.shipped import shipped

MIGRATIONS = shipped("migrations")


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


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.keys")

KEY_FILE = "secret.key"


class SecretKeyError(Exception):
    """A file of keys that cannot be read; the message says why."""


def read_keys(settings: Settings) -> list[str]:
    """The keys of the setting and of the file in the home, the one that encrypts first; raises SecretKeyError."""
    keys = [*secret_keys_of(settings.secret_key), *_keys_in(settings.home / KEY_FILE)]
    return list(dict.fromkeys(keys))


def opened_keys(settings: Settings) -> MultiFernet:
    """What encrypts by the first key and decrypts by any; a key is made where there is none."""
    keys = read_keys(settings) or [_made_key(settings.home / KEY_FILE)]
    return MultiFernet(map(Fernet, keys))


def _made_key(path: Path) -> str:
    """Make a key and its file: whole and on the disk before anything uses it."""
    key = Fernet.generate_key().decode()
    with whole_file(path) as file:
        file.write(f"{key}\n".encode())
    return key


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

"""Bring a database to the newest schema with the migrations of the repository."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text

from app.core.settings import DEFAULT_TIMEOUTS, Timeouts

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

"""Bring a database to the newest schema with the migrations of the repository."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


def upgrade(url: str) -> None:
    """Run every migration that has not run yet."""
    command.upgrade(alembic_config(url), "head")


def alembic_config(url: str) -> Config:
    """Alembic's settings for a database; `%` in a URL would be read as interpolation, so it is doubled."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config

"""Folders that come with the program next to its code: packages of problems, migrations, guides."""

from pathlib import Path

APP = Path(__file__).resolve().parents[1]


def shipped(name: str) -> Path:
    """Find a folder by its path in a checkout; a wheel has it below `app/shipped`."""
    installed = APP / "shipped" / name
    return installed if installed.is_dir() else APP.parent / name

"""Images that checkers leave, as files."""

from __future__ import annotations

from pathlib import Path

from app.core.commands.output import Failure


def write_image(folder: Path, name: str, data: bytes) -> Path:
    """Write an image into a folder, which is made; returns its path. Raises Failure where that cannot be."""
    path = folder / Path(name).name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    return path

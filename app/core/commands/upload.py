"""The upload of a submission: one file as it is, several as a zip; and zips that the server sends."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from app.core.commands.names import read_file
from app.core.commands.output import Failure
from app.packages.zips import zip_bytes


def pack(paths: Sequence[Path]) -> tuple[str, bytes]:
    """Give the name and bytes to upload: a single file unchanged, else a zip of all files, folders looked into.

    Raises Failure where there is nothing, something cannot be read, or two files have one name.
    """
    files = [file for path in paths for file in (files_below(path) if path.is_dir() else [path])]
    if not files:
        raise Failure(f"expected answer files, found none in {', '.join(map(str, paths))}")
    if len(files) == 1 and not paths[0].is_dir():
        return files[0].name, read_file(files[0], "file")
    return "answers.zip", zipped(files)


def files_below(folder: Path) -> list[Path]:
    """List the files of a folder and the folders in it, but not hidden ones."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def zipped(files: Sequence[Path]) -> bytes:
    """Zip files by their names alone: the server looks at nothing else of a path."""
    names: dict[str, Path] = {}
    for path in files:
        if path.name in names:
            raise Failure(f"expected one file of each name, found {names[path.name]} and {path}")
        names[path.name] = path
    return zip_bytes({name: read_file(path, "file") for name, path in names.items()})


def unpack(data: bytes, folder: Path) -> None:
    """Write the files of a zip that the server sent into a folder, by their names alone; it is made if missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                (folder / Path(name).name).write_bytes(archive.read(name))
    except OSError as error:
        raise Failure(f"{folder}: {error.strerror}") from None
    except zipfile.BadZipFile as error:
        raise Failure(f"expected a zip from the server, found something else: {error}", 1) from None

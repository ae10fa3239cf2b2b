"""Output of every command: results on standard output, messages on standard error, colours only on a terminal.

- Images that checkers leave, as files.
- Finds the folder and settings of a problem by its name, and the nearest name where it is misspelt.
- The upload of a submission: one file as it is, several as a zip; and zips that the server sends.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

from app.core.faults import Faults, PackageErrors
from app.packages.zips import zip_bytes

if TYPE_CHECKING:
    from app.packages.settings import JuradoSettings
    from app.programs.model import Program


# Any: plain JSON of a server, whose schemas are pydantic models that would make each start of a command slower;
# `app.core.commands.client.Reply` names the key that an object lacks.
Json = Any
JsonMapping = Mapping[str, Json]
WIDTH_IN_A_PIPE = 200
# Control characters and marks that reverse the direction of writing, each with the character shown in its place.
CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}


class Failure(Exception):
    """A command that cannot do what it was asked: one clear text and an exit code, never a traceback."""

    def __init__(self, text: str, code: int = 2) -> None:
        super().__init__(text)
        self.code = code


def console(*, err: bool = False) -> Console:
    """Make a console for tables and bars; wide in a pipe, so that programs need not join lines."""
    stream = sys.stderr if err else sys.stdout
    return Console(stderr=err, width=None if stream.isatty() else WIDTH_IN_A_PIPE, highlight=False)


def say(text: str) -> None:
    """Print a message for a person, on standard error."""
    typer.echo(harmless(text), err=True)


def person_at_stdin() -> bool:
    """Tell whether standard input is a keyboard (or nothing), rather than a file or a program."""
    return sys.stdin is None or sys.stdin.isatty()


def write_json(data: object, *, err: bool = False) -> None:
    """Print data for a program: one JSON document on one line."""
    text = json.dumps(data, ensure_ascii=False)
    typer.echo("".join(f"\\u{ord(each):04x}" if ord(each) in CONTROLS else each for each in text), err=err)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, footer: Sequence[str] = ()) -> Table:
    """Build a table; columns whose heading begins with `>` are set to the right. Texts are never read as markup."""
    grid = Table(title=title or None, title_justify="left", title_style="bold", show_footer=bool(footer))
    for at, name in enumerate(columns):
        end = footer[at] if footer else ""
        grid.add_column(name.lstrip(">"), end, justify="right" if name.startswith(">") else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(plain(cell) for cell in row))
    return grid


def plain(value: object) -> str:
    """Show a cell: nothing for None, and no markup."""
    return "" if value is None else harmless(str(value)).replace("[", "\\[")


def harmless(text: str) -> str:
    """Replace control characters by pictures: texts of others must not steer the reader's terminal."""
    return text.translate(CONTROLS)


def show(*parts: object) -> None:
    """Print tables or texts on standard output."""
    to = console()
    for part in parts:
        to.print(part)


def report(text: str, document: object, *, as_json: bool) -> None:
    """Print what was done: a text for a person, or the whole document for a program."""
    if as_json:
        write_json(document)
    else:
        typer.echo(text)


@contextmanager
def new_file(path: Path, *, code: int = 2) -> Iterator[IO[bytes]]:
    """Open a file that a person named, and put it in its place once all of it is written.

    Raises Failure with the exit code where it cannot be written; what was at its place stays then.
    """
    if path.exists() and not path.is_file():  # such as /dev/stdout
        with failing(path, code), path.open("wb") as file:
            yield file
        return
    with failing(path, code):
        new = path.with_name(f".{path.name[:100]}-{os.getpid()}")
        try:
            with new.open("xb") as file:
                yield file
            if path.exists():
                shutil.copymode(path, new)
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise


@contextmanager
def failing(path: Path, code: int = 2) -> Iterator[None]:
    """Say in a Failure that a path cannot be read or written."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}", code) from None


def write_file(path: Path, data: bytes, *, code: int = 2) -> None:
    """Write a file a person named; raises Failure with the exit code where that fails."""
    with failing(path, code):
        path.write_bytes(data)


def write_image(folder: Path, name: str, data: bytes) -> Path:
    """Write an image into a folder, which is made; returns its path. Raises Failure where that cannot be."""
    path = folder / Path(name).name
    with failing(path):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path


def nearest(kind: str, name: str, known: Iterable[str]) -> Failure:
    """Say that a name is not known, with the nearest one, or all of them where none is near."""
    names = sorted(known)
    near = get_close_matches(name, names, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names) or 'none'}"
    return Failure(f"no {kind} {name!r}; {hint}")


def problem_folder(name: str) -> Path:
    """Find a bundled problem by its slug, or take the path of a package's folder."""
    known = {} if is_path(name) else problems()
    if name not in known and (Path(name) / "problem.yaml").is_file():
        return Path(name)
    if is_path(name):
        raise Failure(f"{name}: expected a folder with a problem.yaml, found none")
    if name not in known:
        raise nearest("problem", name, known)
    return known[name]


def is_path(name: str) -> bool:
    """Tell whether a name can only be that of a folder, and of no bundled problem."""
    return "/" in name or name in {".", ".."}


def problems() -> dict[str, Path]:
    """List the bundled problems: slug to folder."""
    from app.packages.catalog import bundled

    try:
        return bundled()
    except PackageErrors as error:
        raise Failure(str(error)) from None


def own_checker(name: str) -> tuple[JuradoSettings, Program | None]:
    """Read the jurado.yaml of a problem, and the checker that its package brings, if it does."""
    import yaml
    from pydantic import ValidationError

    from app.core.parsing import read_model
    from app.packages.files import folder_files
    from app.packages.metadata import Problem
    from app.packages.settings import JuradoSettings
    from app.packages.tools import own_limits, resolve

    folder = problem_folder(name)
    path, faults = folder / "jurado.yaml", Faults()
    try:
        settings = JuradoSettings.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise Failure(f"{path}: {error}") from None
    settings, program = resolve(settings, folder_files(folder, Faults()), faults)
    try:
        faults.settle()
    except PackageErrors as error:
        raise Failure(str(error)) from None
    problem = read_model(Problem, read_file(folder / "problem.yaml", "problem"), "problem.yaml", Faults())
    if program is not None and problem is not None:
        program = replace(program, limits=own_limits(problem))
    return settings, program


def read_file(path: Path, what: str, *, limit: int | None = None) -> bytes:
    """Read a file a person named, one byte more than `limit` at most; `-` is standard input."""
    size = -1 if limit is None else limit + 1
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read(size) if sys.stdin is not None else b""
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise Failure(f"{what} {path}: {error.strerror or error}") from None


def pack(paths: Sequence[Path]) -> tuple[str, bytes]:
    """Give the name and bytes to upload: a single file unchanged, otherwise a zip of all files, folders looked into.

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
        with failing(folder), zipfile.ZipFile(io.BytesIO(data)) as archive:
            folder.mkdir(parents=True, exist_ok=True)
            for name in archive.namelist():
                (folder / Path(name).name).write_bytes(archive.read(name))
    except zipfile.BadZipFile as error:
        raise Failure(f"expected a zip from the server, found something else: {error}", 1) from None

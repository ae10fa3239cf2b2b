"""Finds the folder and settings of a problem by its name, and the nearest name where it is misspelt."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.commands.output import Failure
from app.core.faults import Faults, PackageErrors

if TYPE_CHECKING:
    from app.packages.settings import JuradoSettings
    from app.programs.model import Program


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
    from app.packages.programs import own_limits, resolve
    from app.packages.settings import JuradoSettings

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

"""Settings and state of an engine's graders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.core.files.files import Files
from app.core.settings import Settings
from app.programs.desk import IMAGE_BYTES, MOST_SECONDS
from app.programs.modules import NO_MODULES, Modules, modules_of, names_of


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The number of graders, the limits of each, the seconds of an answer's check, their module, and the reserve.

    `cache` is the folder of what is compiled of packages' own checkers; None: a temporary one. `image_bytes` bounds the
    images that they leave for an answer, `most_seconds` the time that a package may give its own; `modules` are those
    that they may import. `programs_as_root`: they run although the service's user is root. `takes_rows`: judgements are
    found in their rows; else others find them, and tell of each.
    `process_id` is the process's, as its signs of life have it.
    """

    graders: int
    memory: int
    seconds_per_answer: float
    files: Files
    program: str = "app.judging.service.grader"
    spares: int = 0
    cache: Path | None = None
    image_bytes: int = IMAGE_BYTES
    most_seconds: float = MOST_SECONDS
    modules: Modules = NO_MODULES
    programs_as_root: bool = False
    takes_rows: bool = True
    process_id: str | None = None


@dataclass(frozen=True, slots=True)
class GraderState:
    """The state of the graders: those at work, those in reserve, how many died, and what each protection lacks."""

    alive: int
    spare: int
    deaths: int
    protections: Mapping[str, str]


def grader_count(wanted: int) -> int:
    """The number of graders to run: as many as wanted, else one less than the cores, at least one."""
    return wanted or max(1, (os.cpu_count() or 2) - 1)


def engine_settings(settings: Settings, files: Files) -> EngineSettings:
    """The settings of the engine of a server or a worker."""
    return EngineSettings(
        graders=grader_count(settings.graders),
        memory=settings.grader_memory,
        seconds_per_answer=settings.check_seconds,
        files=files,
        spares=settings.spare_graders,
        cache=settings.home / "cache" / "programs",
        image_bytes=settings.image_bytes,
        most_seconds=settings.most_check_seconds,
        modules=modules_of(names_of(settings.checker_modules)),
        programs_as_root=settings.may_run_as_root,
    )

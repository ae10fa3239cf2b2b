"""The verification of a stored package: all its programs run in the sandbox, as a job that one can watch and cancel."""

from __future__ import annotations

from collections.abc import Callable

from app.core.files.files import FileStore
from app.core.steps import Steps
from app.judging.service.desk import GraderDesk
from app.judging.service.engine import Engine
from app.packages.files import LARGEST
from app.packages.read import read_archive
from app.packages.verify import Report, examine, report_of
from app.problems.queries.stored_packages import laid_out

VERIFICATION = "verification"
SECONDS = 3600.0
"""For the checker, in all; other programs have limits of their own."""
PHASES = ("input validators", "generators", "test cases", "example submissions")
MOST_FAULTS = 2000


class Ended(Exception):
    """The job is cancelled, or the server stops."""


def verify_stored(
    engine: Engine,
    files: FileStore,
    package: tuple[str, str],
    on_progress: Callable[[float, str], None],
    is_ending: Callable[[], bool],
) -> Report:
    """Examine a package, its id and the sha256 of its zip, with everything that it brings.

    Raises Ended where `is_ending` says so; PackageErrors for a package that does not read any more.
    """

    def on_step(phase: str, done: int, total: int) -> None:
        if is_ending():
            raise Ended
        at = PHASES.index(phase) if phase in PHASES else 0
        on_progress((at + done / max(total, 1)) / len(PHASES), f"{phase}: {done} of {total}")

    problem_id, sha256 = package
    desk = GraderDesk(engine.validate, SECONDS, engine.programs_lack)
    with laid_out(files, sha256) as laid:
        read = read_archive(laid.archive, problem_id, LARGEST, laid.spool)
        examined = examine(read, desk, workshop=engine.programs.workshop(), steps=Steps(on_step))
        report = report_of(problem_id, read, examined)
    return {
        **report,
        "errors": report["errors"][:MOST_FAULTS],
        "warnings": report["warnings"][:MOST_FAULTS],
        "notes": report["notes"][:MOST_FAULTS],
    }

"""A real worker process that an answer ends, as the kernel does that is short of memory, or whoever runs containers.

python -m tests.builders.poisoned_worker worker OPTIONS...
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.builders.grading import PROGRAM
from tests.forks import Forked
from tests.rabbitmq import free_port

KILL_WORKER = b"kill worker"
TOKEN = "a-token-of-sixteen"


@dataclass(frozen=True)
class PoisonedWorker:
    """The process, and where its metrics are."""

    process: Forked
    url: str
    token: str = TOKEN


@contextmanager
def poisoned_worker(
    database_url: str, broker_url: str, folder: Path, more: Mapping[str, str] | None = None
) -> Iterator[PoisonedWorker]:
    """Start one with a grader, and `more` variables; it is killed at the end if it still runs."""
    from tests.conftest import forked  # the worker is no process of tests

    port = free_port()
    settings = {
        "JURADO_DATABASE_URL": database_url,
        "JURADO_BROKER_URL": broker_url,
        "JURADO_FILES_URL": f"file://{folder / 'files'}",
        "JURADO_HOME": str(folder / "worker"),
        "JURADO_METRICS_TOKEN": TOKEN,
    }
    with open(os.devnull, "wb") as nowhere:
        process = forked(
            [sys.executable, "-m", __name__, "worker", "--graders", "1", "--metrics-port", str(port)],
            env={**os.environ, **settings, **(more or {})},
            stdout=nowhere,
            stderr=nowhere,
        )
    try:
        yield PoisonedWorker(process, f"http://127.0.0.1:{port}/metrics")
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Run `jurado` with the rogue checker."""
    import app.judging.worker
    from app.commands.main import main as jurado
    from app.judging.service.graders import GraderProcess
    from app.judging.service.messages import Grade

    judge = GraderProcess.grade
    settings_of = app.judging.worker.engine_settings

    def grade(self: GraderProcess, request: Grade, seconds: float, **more: Any) -> Any:
        if any(answer.data == KILL_WORKER for answer in request.answers):
            os.kill(os.getpid(), signal.SIGKILL)
        return judge(self, request, seconds, **more)

    setattr(GraderProcess, "grade", grade)  # noqa: B010  # mypy knows that a method is not assigned to
    setattr(app.judging.worker, "engine_settings", lambda *given: replace(settings_of(*given), program=PROGRAM))  # noqa: B010
    jurado()


if __name__ == "__main__":
    main()

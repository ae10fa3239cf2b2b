"""A process of its own that applies or undoes a rejudging and is killed with -9 on the way.

python -m tests.builders.killed DATABASE_URL REJUDGING apply|undo committing|committed
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from typing import Any

from sqlalchemy import event

from app.core.db.database import Database
from app.judging.queries import rejudging_steps

SECONDS_TO_END = 60


def killed(database_url: str, rejudging_id: str, deed: str, place: str) -> None:
    """Do it in a process that dies when all is written: before the commit or after; raises if that lives on."""
    from tests.conftest import forked  # the other process is not one of tests

    command = [sys.executable, "-m", __name__, database_url, rejudging_id, deed, place]
    with tempfile.TemporaryFile() as printed:
        ended = forked(command, env=os.environ, stdout=printed, stderr=printed).wait(SECONDS_TO_END)
        printed.seek(0)
        assert ended == -signal.SIGKILL, printed.read().decode()


def die(*_: Any) -> None:
    """As in a power cut: nothing is closed, and no one is told."""
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Do what the command line says; living to the end is a failure."""
    database_url, rejudging_id, deed, place = sys.argv[1:]
    database = Database(database_url)
    if place == "committing":
        event.listen(database.engine, "commit", die)
    with database.write() as session:
        row = rejudging_steps.lock(session, int(rejudging_id))
        {"apply": rejudging_steps.apply, "undo": rejudging_steps.undo}[deed](session, row)
    if place == "committed":
        die()
    sys.exit("not killed")


if __name__ == "__main__":
    main()

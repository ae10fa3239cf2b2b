"""A PostgreSQL server of a test's own with a standby that can take its place, as when a machine fails over."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests import postgres
from tests.builders.waiting import until


class Standby:
    """A server that follows another one until it is promoted; its socket is in `folder`."""

    def __init__(self, primary: Path, folder: Path) -> None:
        self.folder = folder
        self._primary = primary
        owner = postgres.server_user()
        if owner:
            shutil.chown(folder, owner["user"], owner["group"])
        command = [postgres.programs() / "pg_basebackup", "-h", primary, "-U", postgres.USER, "-D", folder / "data"]
        subprocess.run([*command, "-c", "fast", "-X", "stream", "-R"], cwd=folder, check=True, **owner)
        self._server = subprocess.Popen(
            [postgres.programs() / "postgres", *postgres.options(folder, folder / "data")], cwd=folder, **owner
        )
        until(self._follows)
        self._administer("ALTER SYSTEM SET wal_receiver_status_interval = '1s'", "SELECT pg_reload_conf()")

    def pause(self) -> None:
        """Replay nothing of what it continues to receive."""
        self._administer("SELECT pg_wal_replay_pause()")
        until(lambda: self._scalar("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def go_on(self) -> None:
        """Replay what it has received in the meantime, and what comes."""
        self._administer("SELECT pg_wal_replay_resume()")

    def stop_following(self) -> None:
        """Take no changes any longer."""
        self._administer("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
        until(lambda: self._scalar("SELECT count(*) FROM pg_stat_wal_receiver") == 0)

    def catch_up(self) -> None:
        """Wait until it has all that the other one has."""
        with psycopg.connect(host=str(self._primary), user=postgres.USER, dbname="postgres") as connection:
            (place,) = connection.execute("SELECT pg_current_wal_lsn()").fetchone() or (None,)
        until(lambda: bool(self._scalar(f"SELECT pg_last_wal_replay_lsn() >= '{place}'")))

    def promote(self) -> None:
        """Let it take the other one's place."""
        self._administer("SELECT pg_promote()")

    def close(self) -> None:
        """Stop it, whoever is still connected."""
        self._server.send_signal(signal.SIGQUIT)
        self._server.wait()

    def _follows(self) -> bool:
        try:
            return bool(self._scalar("SELECT pg_is_in_recovery()"))
        except psycopg.OperationalError:
            assert self._server.poll() is None
            return False

    def _scalar(self, query: str) -> object:
        with psycopg.connect(host=str(self.folder), user=postgres.USER, dbname="postgres") as connection:
            row = connection.execute(query.encode()).fetchone()
        return None if row is None else row[0]

    def _administer(self, *statements: str) -> None:
        postgres.administer(self.folder, *statements)


@contextmanager
def primary_with_standby() -> Iterator[tuple[Path, Standby]]:
    """Run both servers; yields the folder of the first one's socket, and the standby.

    However this process ends, the keeper of the first one takes that folder away, with the standby's inside.
    """
    primary = Path(tempfile.mkdtemp(prefix="jurado-primary-"))
    alive = postgres.hold(primary)
    try:
        postgres.start(primary)
        folder = primary / "standby"
        folder.mkdir(mode=0o700)
        standby = Standby(primary, folder)
        try:
            yield primary, standby
        finally:
            standby.close()
    finally:
        os.close(alive)
        postgres.wait_until_gone(primary)
        shutil.rmtree(primary, ignore_errors=True)

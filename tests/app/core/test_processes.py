"""Each process tells of itself in a row, which it takes away when it ends in order."""

from __future__ import annotations

from datetime import timedelta

from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.db.locks import SERVER, WORKER, Locks, Presence, Work, processes, write_signs
from app.core.db.writer import Writer
from tests.builders.processes import sign


def test_a_process_that_ends_in_order_takes_its_row_away_and_a_killed_one_is_remembered_for_an_hour(
    database_url: str,
) -> None:
    database = Database(database_url)
    writer = Writer(database)

    def kinds() -> list[str]:
        with database.read() as session:
            return [row.kind for row in processes(session)]

    server = Presence(writer, SERVER, Locks())
    server.work = lambda: Work(2, 1)
    server.start()
    now = utc_now()
    old = sign("gone", WORKER, now - timedelta(hours=2), now - timedelta(minutes=59), Work(4, 0, 3))
    writer.submit(write_signs, old).result()
    assert kinds() == [SERVER, WORKER]
    with database.read() as session:
        row = processes(session)[0]
        assert (row.graders, row.deaths, row.seen >= row.started) == (2, 1, True)
    later = sign(server.id, SERVER, now, now + timedelta(minutes=2), Work(1))
    writer.submit(write_signs, later).result()
    assert kinds() == [SERVER]
    server.close()
    assert kinds() == []
    writer.close()
    database.close()

"""A database that is closed leaves nothing open, even what was at work at that moment."""

from __future__ import annotations

from typing import Any

from sqlalchemy import event, text

from app.storage.database import Database


def test_a_connection_that_is_at_work_while_its_database_closes_is_closed_when_it_is_returned(
    database_url: str,
) -> None:
    database = Database(database_url)
    opened, closed = [], []

    def count_opened(connection: Any, _record: object) -> None:
        opened.append(connection)

    def count_closed(connection: Any, _record: object) -> None:
        closed.append(connection)

    event.listen(database.engine, "connect", count_opened)
    event.listen(database.engine, "close", count_closed)
    with database.read() as at_work:
        with database.read() as idle:
            idle.execute(text("SELECT 1"))
            at_work.execute(text("SELECT 1"))
        database.close()
        assert len(closed) == 1, "the idle one"
        at_work.execute(text("SELECT 1"))
    assert len(opened) == 2
    assert {id(each) for each in closed} == {id(each) for each in opened}

"""The rows of judgements, looked at in PostgreSQL itself: what is begun and what is done, at little cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests import postgres
from tests.chaos.stage import DATABASE, Stage


class Rows:
    """Looks at the judgements of a stage's database; of one thread."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def begun(self) -> dict[int, int]:
        """The judgements that are begun and not done, each with its attempt."""
        query = "SELECT id, attempt FROM judgements WHERE state = 'running'"
        return dict(self._connection.execute(query).fetchall())

    def done(self) -> int:
        """How many judgements are done."""
        row = self._connection.execute("SELECT count(*) FROM judgements WHERE state = 'done'").fetchone()
        return 0 if row is None else int(row[0])


@contextmanager
def rows_of(setting: Stage) -> Iterator[Rows]:
    """Look at the judgements of a stage on PostgreSQL."""
    with psycopg.connect(host=str(setting.cluster), user=postgres.USER, dbname=DATABASE, autocommit=True) as connection:
        yield Rows(connection)

"""The rows of judgements, looked at in PostgreSQL itself: what is begun and what is done, at little cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from ops.chaos.stage import DATABASE, Stage
from tests import postgres


class Rows:
    """Looks at the judgements of a stage's database; of one thread."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def begun(self) -> dict[int, int]:
        """The judgements that are begun and not done, each with its attempt."""
        query = "SELECT id, attempt FROM judgements WHERE state = 'running'"
        return dict(self._connection.execute(query).fetchall())

    def done(self) -> int:
        """How many judgements are done."""
        row = self._connection.execute("SELECT count(*) FROM judgements WHERE state = 'done'").fetchone()
        return 0 if row is None else int(row[0])

    def verdicts(self, ids: Iterable[int]) -> list[tuple[Any, ...]]:
        """All that is written of the verdicts of these judgements, and of their answers' scores."""
        query = (
            "SELECT judgements.id, judgements.type, judgements.end_time, judgements.attempt, raw_scores::text "
            "FROM judgements LEFT JOIN raw_scores ON raw_scores.judgement_id = judgements.id "
            "WHERE state = 'done' AND judgements.id = ANY(%s) ORDER BY judgements.id, raw_scores.test_case_id"
        )
        return self._connection.execute(query, [list(ids)]).fetchall()

    def seconds(self) -> tuple[float, float]:
        """The least and the most seconds from a submission to its verdict; both times are of the database's clock."""
        seconds = "extract(epoch FROM end_time - start_time)"
        query = f"SELECT min({seconds}), max({seconds}) FROM judgements WHERE state = 'done'"
        row = self._connection.execute(query).fetchone()
        assert row is not None
        return float(row[0] or 0), float(row[1] or 0)


@contextmanager
def rows_of(setting: Stage) -> Iterator[Rows]:
    """Look at the judgements of a stage on PostgreSQL."""
    with psycopg.connect(host=str(setting.cluster), user=postgres.USER, dbname=DATABASE, autocommit=True) as connection:
        yield Rows(connection)

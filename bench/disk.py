"""Bytes of the database for a judged submission of one answer, by table and index, with answers of 1.9, 2, 4 and 8 KB.

Rows are whole on their pages of 4,096 bytes as far as they fit: what is left of a page is `unused`.
"""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

from app.core.settings import Settings
from bench.growth import Size, stage

SUBMISSIONS = 2000
ANSWERS = (1900, 2048, 4000, 8000)
FEWEST = 10
"""Bytes a submission from which a table or an index has a line of its own."""
QUERY = "SELECT name, sum(pgsize), sum(payload), sum(unused) FROM dbstat GROUP BY name ORDER BY 2 DESC"


def main() -> int:
    """Print a table for each size of answers."""
    for answer in ANSWERS:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            stage(home, Size(SUBMISSIONS, 500, 1, answer))
            show(answer, pages(home))
    return 0


def pages(home: Path) -> list[tuple[str, float, float, float]]:
    """Each table and index with its bytes a submission: of its pages, of its rows, and unused."""
    path = Settings(home=home, database_url="", files_url="").database.removeprefix("sqlite:///")
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        rows = connection.execute(QUERY).fetchall()
    finally:
        connection.close()
    return [(name, *(count / SUBMISSIONS for count in counts)) for name, *counts in rows]


def show(answer: int, rows: list[tuple[str, float, float, float]]) -> None:
    """Print the large ones, the others together, and all."""
    large = [row for row in rows if row[1] >= FEWEST]
    rest = [row for row in rows if row[1] < FEWEST]
    print(f"answers of {answer} bytes; bytes a submission{'pages':>18}{'rows':>8}{'unused':>8}")
    for name, *counts in [*large, _sum("all others", rest), _sum("all", rows)]:
        print(f"  {name:<50}{counts[0]:8.0f}{counts[1]:8.0f}{counts[2]:8.0f}")


def _sum(name: str, rows: list[tuple[str, float, float, float]]) -> tuple[str, float, float, float]:
    return (name, sum(row[1] for row in rows), sum(row[2] for row in rows), sum(row[3] for row in rows))

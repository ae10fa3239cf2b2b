"""CSV tables in answer files, with a column of ids: the one reader behind checkers of predictions.

RFC 4180 in UTF-8, a byte order mark allowed; empty lines are left out, and every fault is named by its line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from checkers.doors import Phrase, Rejected, quote

MOST_ROWS = 2_000_000
MOST_COLUMNS = 1000
LONGEST_FIELD = 1000


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV table: its columns, and its rows by id with the line each stands in (1-based)."""

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]
    lines: Mapping[str, int]

    def at(self, id_: str) -> str:
        """Say where a row stands."""
        return Phrase("line %(number)s", number=self.lines[id_])

    def column(self, name: str) -> dict[str, str]:
        """Give the values of a column by id."""
        at = self.columns.index(name)
        return {id_: row[at] for id_, row in self.rows.items()}


def read_table(data: bytes, id_column: str) -> Table:
    """Read a CSV table with a column of ids, each once; raises Rejected."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Rejected.at(
            Phrase("byte %(byte)s", byte=error.start),
            expected=Phrase("UTF-8"),
            found=quote(data[error.start : error.start + 1]),
        ) from None
    rows = _csv_rows(text)
    _, header = next(rows, (1, []))
    columns = tuple(header)
    if id_column not in columns or len(columns) < 2 or len(columns) > MOST_COLUMNS or len(set(columns)) < len(columns):
        expected = Phrase(
            "a header of 2 to %(most)s different columns, one of them %(column)r", most=MOST_COLUMNS, column=id_column
        )
        raise Rejected.at(
            Phrase("line %(number)s", number=1), expected=expected, found=quote(",".join(columns).encode())
        )
    at = columns.index(id_column)
    by_id: dict[str, tuple[str, ...]] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        if len(row) != len(columns):
            raise Rejected.at(
                Phrase("line %(number)s", number=line),
                expected=Phrase("%(count)s fields", count=len(columns)),
                found=str(len(row)),
            )
        if (id_ := row[at]) in by_id:
            raise Rejected.at(
                Phrase("line %(number)s", number=line),
                expected=Phrase("each id once"),
                found=Phrase("%(id)r again, first in line %(number)s", id=id_, number=lines[id_]),
            )
        if len(by_id) == MOST_ROWS:
            raise Rejected.at(
                Phrase("line %(number)s", number=line),
                expected=Phrase("at most %(most)s rows", most=MOST_ROWS),
                found=Phrase("more"),
            )
        by_id[id_], lines[id_] = tuple(row), line
    return Table(columns, by_id, lines)


def _csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with the line it ends in; raises Rejected for what is no CSV."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise Rejected.at(
                Phrase("line %(number)s", number=reader.line_num),
                expected=Phrase("fields between commas, as RFC 4180 has them"),
                found=str(error),
            ) from None
        if any(len(each) > LONGEST_FIELD for each in row):
            raise Rejected.at(
                Phrase("line %(number)s", number=reader.line_num),
                expected=Phrase("fields of at most %(most)s characters", most=LONGEST_FIELD),
                found=Phrase("a longer one"),
            )
        if row:
            yield reader.line_num, row

"""Tables to download as CSV, and the columns of those with passwords."""

import csv
import io
from collections.abc import Iterable

# A spreadsheet takes these for the start of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
PASSWORD_COLUMNS = ("username", "password", "name", "team")


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Write a table as CSV; cells that a spreadsheet would run as a formula are quoted for it."""
    stream = io.StringIO()
    csv.writer(stream).writerows([columns, *(map(harmless, row) for row in rows)])
    return stream.getvalue()


def harmless(value: object) -> str:
    """Write a cell of a table that no spreadsheet runs as a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text

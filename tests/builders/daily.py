"""Puts puzzles of days into a home, so that a test waits for no process that makes them."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date
from functools import cache
from pathlib import Path

from app.daily.service import EDITION
from solvers.daily import make_all


@cache
def document(day: date) -> str:
    """All puzzles of a day, as `python -m solvers.daily` prints them."""
    return json.dumps({"date": day.isoformat(), "puzzles": [asdict(puzzle) for puzzle in make_all(day)]})


def put_days(home: Path, *days: date) -> None:
    """Keep the puzzles of days as a server that made them would."""
    folder = home / "cache" / "daily"
    folder.mkdir(parents=True, exist_ok=True)
    for day in days:
        (folder / f"{EDITION}-{day.isoformat()}.json").write_text(document(day), encoding="ascii")

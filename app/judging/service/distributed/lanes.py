"""The kinds of work that messages name: their queues, their actors, and what a row is in each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

FOR_EVER = 10**9
"""Rows that are open stay so until they are judged; that many failures of a checker end them is counted in the rows."""
LONGEST_RETRY_MS = 5000
"""A message that failed, as the database was away, comes again within this time."""
JOB_ID = re.compile(r"[A-Za-z0-9_.-]{1,36}")
CONTEXTS = "jurado_traces"
"""The option of a message that has the traces of its judgements, by their numbers."""


class Lane(NamedTuple):
    """A kind of work: its queue, the actor that does it, how many rows a message names, and what a row is, as JSON."""

    queue: str
    actor: str
    rows: int
    is_row: Callable[[object], bool]


def _is_number(row: object) -> bool:
    return type(row) is int and 0 < row < 2**63


def _is_judgement(row: object) -> bool:
    return isinstance(row, list) and len(row) == 2 and _is_number(row[0]) and isinstance(row[1], str)


def _is_job(row: object) -> bool:
    return isinstance(row, str) and JOB_ID.fullmatch(row) is not None


JUDGEMENTS = Lane("jurado.judgements", "judge", 16, _is_judgement)
"""Answers that contestants wait for. Few rows a message, so that several workers share a rush."""
REJUDGINGS = Lane("jurado.rejudgings", "judge_again", 16, _is_number)
JOBS = Lane("jurado.jobs", "run_job", 1, _is_job)
LANES = (JUDGEMENTS, REJUDGINGS, JOBS)

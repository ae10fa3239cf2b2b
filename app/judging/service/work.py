"""The next work of a grader's thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from app.judging.service.questions import Question, Tried

MOST_CLAIMED = 64
SECONDS_CLAIMED = 0.15


@dataclass(frozen=True, slots=True)
class Work:
    """The next work of a grader: answer a question, judge these, of submissions or of rejudgings, or try answers.

    `sweep`: look for rows in the database, which one grader does for all. Nothing at all: wait again.
    """

    question: Question | None = None
    tried: Tried | None = None
    ids: Sequence[int] = ()
    again: Sequence[int] = ()
    sweep: bool = False


def share(waiting: int, graders: int, seconds_each: float) -> int:
    """The number of judgements to claim together: a grader's part of those that wait, and not much time's worth.

    A submission that comes meanwhile waits until they are done, whosever they are. `seconds_each` is what one of the
    last claim took; 0 where that is not known.
    """
    in_time = round(SECONDS_CLAIMED / seconds_each) if seconds_each else MOST_CLAIMED
    return max(1, min(MOST_CLAIMED, waiting // graders, in_time))


def taken(queue: deque[int], most: int) -> list[int]:
    """Take the first of a queue."""
    return [queue.popleft() for _ in range(min(most, len(queue)))]

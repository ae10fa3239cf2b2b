"""The rows of submissions, judgements or runs of one contest, kept from one version to the next.

After a change only the submissions are read again of which something may be shown otherwise: those whose attempts are
other objects in the new standing, and those whose points moved. Where the contest itself, what is hidden or the
applied rejudgings differ, all are.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.api.auth import Viewer
from app.api.lists.slices import Slice, Written
from app.api.standings import points_of
from app.domain.scoring import Attempt
from app.grading.boards import Standing
from app.storage import events

SLICE = 256
Rows = Iterable[tuple[int, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Large:
    """A collection with thousands of objects, each of one submission.

    documents  what a viewer sees of some submissions (all: None): the number of the submission, and the object
    model      the route's model; `sparse`: without what is not set
    """

    name: str
    model: type[BaseModel]
    documents: Callable[[Viewer, Standing, Session, Collection[int] | None], Rows]
    sparse: bool = True

    def texts(self, viewer: Viewer, standing: Standing, session: Session, ids: Collection[int]) -> dict[int, bytes]:
        """The rows of each of these submissions as JSON, with commas between them."""
        rows: defaultdict[int, list[str]] = defaultdict(list)
        for number, document in self.documents(viewer, standing, session, ids):
            rows[number].append(self.model.model_validate(document).model_dump_json(exclude_unset=self.sparse))
        return {id_: ",".join(rows.get(id_, ())).encode() for id_ in ids}


@dataclass(frozen=True, slots=True)
class _Tried:
    """What is enough of a submission to ask what it is worth."""

    id: int
    team_id: str | None
    problem_id: str
    account_id: str = ""


def _tried(attempt: Attempt) -> _Tried:
    if attempt.team_id.startswith("~"):
        return _Tried(attempt.id, None, attempt.problem_id, attempt.team_id[1:])
    return _Tried(attempt.id, attempt.team_id, attempt.problem_id)


class Sheet:
    """One collection as everybody or judges (`viewer`) see it; `bring` is for one thread at a time."""

    def __init__(self, kind: Large, viewer: Viewer) -> None:
        self.lock = threading.Lock()
        self.standing: Standing | None = None
        self.written = Written.of(())
        self.slices: list[Slice] = []
        self.rows_read = 0
        self._kind = kind
        self._viewer = viewer
        self._again: tuple[int, int] | None = None
        self._points: dict[int, float | None] = {}

    def bring(self, standing: Standing, session: Session) -> Written:
        """The collection at this standing."""
        if standing is self.standing:
            return self.written
        again = events.judged_again(session, standing.contest.id)
        attempts = {attempt.id: attempt for tries in _cells(standing).values() for attempt in tries}
        old, self.standing = self.standing, None  # a reading that fails leaves nothing to go on with
        if old is None or again != self._again or not _alike(old, standing) or not self._grown(attempts):
            self.slices = []
            self._points = {id_: points_of(standing, _tried(each)) for id_, each in attempts.items()}
            stale: Collection[int] = attempts.keys()
        else:
            stale = self._stale(old, standing)
        self._take(standing, session, stale)
        self.written = Written.of(self.slices)
        self.standing, self._again = standing, again
        return self.written

    def _grown(self, attempts: Mapping[int, Attempt]) -> bool:
        """Are all submissions still there, with only newer ones besides?"""
        known = sum(len(each.ids) for each in self.slices)
        if known > len(attempts) or not all(each.ids[-1] in attempts for each in self.slices):
            return False
        last = self.slices[-1].ids[-1] if self.slices else 0
        return sum(id_ <= last for id_ in attempts) == known

    def _stale(self, old: Standing, standing: Standing) -> set[int]:
        """The submissions whose attempts are other ones now, and those that are worth something else."""
        before, now = _cells(old), _cells(standing)
        stale: set[int] = set()
        moved = {p.id for p in standing.contest.problems if standing.bests(p) != old.bests(p)}
        for place, tries in now.items():
            earlier = before.get(place, ())
            changed = tries is not earlier
            if changed:
                known = {id(attempt) for attempt in earlier}
                stale.update(attempt.id for attempt in tries if id(attempt) not in known)
            if changed or place[1] in moved:
                stale.update(self._rescored(standing, tries))
        return stale

    def _rescored(self, standing: Standing, tries: Sequence[Attempt]) -> list[int]:
        points = {attempt.id: points_of(standing, _tried(attempt)) for attempt in tries}
        rescored = [id_ for id_, each in points.items() if self._points.get(id_) != each]
        self._points.update(points)
        return rescored

    def _take(self, standing: Standing, session: Session, stale: Collection[int]) -> None:
        last = self.slices[-1].ids[-1] if self.slices else 0
        known = [id_ for id_ in stale if id_ <= last]
        for some in in_slices(sorted(known)):
            self._replace(self._texts(standing, session, some))
        new = sorted(id_ for id_ in stale if id_ > last)
        if new and self.slices and len(self.slices[-1].ids) < SLICE:
            new = [*self.slices.pop().ids, *new]
        for some in in_slices(new):
            texts = self._texts(standing, session, some)
            self.slices.append(Slice(some, tuple(texts[id_] for id_ in some)))

    def _texts(self, standing: Standing, session: Session, ids: Collection[int]) -> dict[int, bytes]:
        self.rows_read += len(ids)
        texts = self._kind.texts(self._viewer, standing, session, ids)
        session.expunge_all()
        return texts

    def _replace(self, texts: Mapping[int, bytes]) -> None:
        firsts = [each.ids[0] for each in self.slices]
        for place in {max(0, bisect_left(firsts, id_ + 1) - 1) for id_ in texts}:
            self.slices[place] = self.slices[place].with_texts(texts)


def own_texts(kind: Large, viewer: Viewer, standing: Standing, session: Session) -> dict[int, bytes]:
    """The rows of a team's own submissions as it sees them."""
    team_id = viewer.team_id
    ids = [attempt.id for (team, _), tries in _cells(standing).items() if team == team_id for attempt in tries]
    found: dict[int, bytes] = {}
    for some in in_slices(sorted(ids)):
        found |= kind.texts(viewer, standing, session, some)
        session.expunge_all()
    return found


def in_slices(ids: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Ids in order, so many at a time as a slice holds."""
    for start in range(0, len(ids), SLICE):
        yield tuple(ids[start : start + SLICE])


def _cells(standing: Standing) -> Mapping[tuple[str, str], Sequence[Attempt]]:
    """All attempts, also what may not be known of them: the same objects as long as nothing of them changes."""
    cells: Mapping[tuple[str, str], Sequence[Attempt]] = getattr(standing.cells, "cells", standing.cells)
    return cells


def _alike(old: Standing, new: Standing) -> bool:
    """Does everything but the attempts hold as before: the contest, its state, and what of it is shown?"""
    same = (old.state, old.closed, old.view) == (new.state, new.closed, new.view)
    return same and (old.contest is new.contest or old.contest == new.contest)

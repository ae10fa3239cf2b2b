"""The rows of submissions, judgements or runs of one contest, kept from one version to the next.

After a change only the submissions are read again of which something may be shown otherwise: those whose attempts are
other objects in the new snapshot, and those whose points moved. Where the contest itself, what is hidden or the
applied rejudgings differ, all are.

- A page of a large collection: so many objects after one of them. Only the rows of its submissions are read.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as AnyCollection
from dataclasses import dataclass

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import SubmissionKey, points_of
from app.core.clics import matching
from app.core.errors import BadRequest
from app.core.messages import N_
from app.domain.counting import Attempt
from app.feed import queries as feed_queries
from app.feed.service.collections import Collection
from app.feed.service.slices import NO_ROW, Row, Slice, Wanted, Written, same_mark
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.queries.submission_queries import Teams
from app.submissions.service.judgements import JudgedCase, Judgement
from app.submissions.service.submissions import Submission

SLICE = 256
Numbers = AnyCollection[int]
Judged = Submission | Judgement | JudgedCase
Rows = Iterable[tuple[int, Judged]]


class TooLarge(Exception):
    """The collection takes more memory than a list may."""


@dataclass(frozen=True, slots=True)
class Large:
    """A collection with thousands of objects, each of one submission.

    documents  what a viewer sees of some submissions (all: None): the number of the submission, and the object
    owner      the number of the submission of an object, or None
    scored     do points show, which change with others' answers?
    teams      those of which a viewer sees objects; None: of all
    """

    collection: Collection
    documents: Callable[[Viewer, ContestSnapshot, Session, Numbers | None], Rows]
    owner: Callable[[ContestSnapshot, Session, str], int | None]
    scored: bool = False
    teams: Callable[[Viewer, ContestSnapshot], Teams] = lambda _viewer, _snapshot: None

    def rows(self, viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Numbers) -> dict[int, Row]:
        """The row of each of these submissions."""
        models: defaultdict[int, list[Judged]] = defaultdict(list)
        for number, document in self.documents(viewer, snapshot, session, ids):
            models[number].append(document)
        return {id_: row_of(self.collection, models.get(id_, ())) for id_ in ids}

    def row(self, documents: Sequence[Judged]) -> Row:
        """Some objects as a row."""
        return row_of(self.collection, documents)


def row_of(collection: Collection, models: Sequence[BaseModel]) -> Row:
    """Some objects as a row, with what they may be asked for by."""
    if not models:
        return NO_ROW
    marks = {tuple([getattr(each, name) or "" for name in collection.filters]) for each in models}
    text = ",".join([each.model_dump_json(exclude_unset=collection.sparse) for each in models]).encode()
    return Row(text, same_mark(marks.pop()) if len(marks) == 1 else None)


def _tried(attempt: Attempt) -> SubmissionKey:
    if attempt.team_id.startswith("~"):
        return SubmissionKey(attempt.id, None, attempt.problem_id, attempt.team_id[1:])
    return SubmissionKey(attempt.id, attempt.team_id, attempt.problem_id)


class ListRenderer:
    """A collection as everybody or judges (`viewer`) see it, in at most so many bytes; `bring` is for one thread."""

    def __init__(self, kind: Large, viewer: Viewer, most: int) -> None:
        self.is_too_large = False
        self._most = most
        self.lock = threading.Lock()
        self.snapshot: ContestSnapshot | None = None
        self.written = Written.of(())
        self.slices: list[Slice] = []
        self.rows_read = 0
        self._kind = kind
        self._viewer = viewer
        self._again: tuple[int, int] | None = None
        self._points: dict[int, float | None] = {}

    def bring(self, snapshot: ContestSnapshot, session: Session) -> Written:
        """The collection at this snapshot; raises TooLarge, and keeps nothing, where it takes too many bytes."""
        if snapshot is self.snapshot:
            return self.written
        again = feed_queries.judged_again(session, snapshot.contest.id)
        attempts = {attempt.id: attempt for tries in _cells(snapshot).values() for attempt in tries}
        old, self.snapshot = self.snapshot, None  # a reading that fails leaves nothing to go on with
        if old is None or again != self._again or not snapshot.is_like(old) or not self._grown(attempts):
            self.slices = []
            scored = attempts if self._kind.scored else {}
            self._points = {id_: points_of(snapshot, _tried(each)) for id_, each in scored.items()}
            stale: Numbers = attempts.keys()
        else:
            stale = self._stale(old, snapshot)
        try:
            self._take(snapshot, session, stale)
        except TooLarge:
            self.is_too_large = True
            self.slices, self.written, self._points = [], Written.of(()), {}
            raise
        self.written = Written.of(self.slices)
        self.snapshot, self._again = snapshot, again
        return self.written

    def _grown(self, attempts: Mapping[int, Attempt]) -> bool:
        """Whether all submissions are still there, with only newer ones besides."""
        known = sum(len(each.ids) for each in self.slices)
        if known > len(attempts) or not all(each.ids[-1] in attempts for each in self.slices):
            return False
        last = self.slices[-1].ids[-1] if self.slices else 0
        return sum(id_ <= last for id_ in attempts) == known

    def _stale(self, old: ContestSnapshot, snapshot: ContestSnapshot) -> set[int]:
        """The submissions whose attempts are other ones now, and those that are worth something else."""
        before, now = _cells(old), _cells(snapshot)
        stale: set[int] = set()
        moved = {p.id for p in snapshot.contest.problems if snapshot.bests(p) != old.bests(p)}
        for place, tries in now.items():
            earlier = before.get(place, ())
            changed = tries is not earlier
            if changed:
                known = {id(attempt) for attempt in earlier}
                stale.update(attempt.id for attempt in tries if id(attempt) not in known)
            if self._kind.scored and (changed or place[1] in moved):
                stale.update(self._rescored(snapshot, tries))
        return stale

    def _rescored(self, snapshot: ContestSnapshot, tries: Sequence[Attempt]) -> list[int]:
        points = {attempt.id: points_of(snapshot, _tried(attempt)) for attempt in tries}
        rescored = [id_ for id_, each in points.items() if self._points.get(id_) != each]
        self._points.update(points)
        return rescored

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return sum(each.size for each in self.slices)

    def _take(self, snapshot: ContestSnapshot, session: Session, stale: Numbers) -> None:
        last = self.slices[-1].ids[-1] if self.slices else 0
        known = [id_ for id_ in stale if id_ <= last]
        for some in in_slices(sorted(known)):
            self._replace(self._rows(snapshot, session, some))
        size = self.size
        new = sorted(id_ for id_ in stale if id_ > last)
        if new and self.slices and len(self.slices[-1].ids) < SLICE:
            new = [*self.slices.pop().ids, *new]
        for some in in_slices(new):
            rows = self._rows(snapshot, session, some)
            self.slices.append(Slice(some, tuple(rows[id_] for id_ in some)))
            size += self.slices[-1].size
            if size > self._most:
                raise TooLarge

    def _rows(self, snapshot: ContestSnapshot, session: Session, ids: Numbers) -> dict[int, Row]:
        self.rows_read += len(ids)
        rows = self._kind.rows(self._viewer, snapshot, session, ids)
        session.expunge_all()
        return rows

    def _replace(self, rows: Mapping[int, Row]) -> None:
        for place in places_of(self.slices, rows):
            self.slices[place] = self.slices[place].with_rows(rows)


def places_of(slices: Sequence[Slice], ids: Iterable[int]) -> set[int]:
    """The slices of these submissions."""
    firsts = [each.ids[0] for each in slices]
    return {max(0, bisect_left(firsts, id_ + 1) - 1) for id_ in ids} if slices else set()


def own_rows(kind: Large, viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> dict[int, Row]:
    """The rows of a team's own submissions as it sees them."""
    team_id = viewer.team_id
    ids = [attempt.id for (team, _), tries in _cells(snapshot).items() if team == team_id for attempt in tries]
    rows: dict[int, Row] = {}
    for some in in_slices(sorted(ids)):
        rows |= kind.rows(viewer, snapshot, session, some)
        session.expunge_all()
    return rows


def all_ids(snapshot: ContestSnapshot) -> list[int]:
    """The ids of all submissions, in order."""
    return sorted(attempt.id for tries in _cells(snapshot).values() for attempt in tries)


def in_slices(ids: Sequence[int], count: int | None = None) -> Iterator[tuple[int, ...]]:
    """Ids in order, so many at a time; None: as a slice holds."""
    step = count or SLICE
    for start in range(0, len(ids), step):
        yield tuple(ids[start : start + step])


def _cells(snapshot: ContestSnapshot) -> Mapping[tuple[str, str], Sequence[Attempt]]:
    """The attempts with their hidden parts: the same objects as long as they are unchanged."""
    cells: Mapping[tuple[str, str], Sequence[Attempt]] = getattr(snapshot.cells, "cells", snapshot.cells)
    return cells


MOST_ON_A_PAGE = 1000
# Submissions looked at together at least: whatever a page leaves out, it is not read row by row.
FEW = 16


@dataclass(frozen=True, slots=True)
class PageWanted:
    """At most so many objects, those after the object of this id; None: from the first one on."""

    limit: int
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some objects of a collection, and the id of the last one where more may follow."""

    written: Written
    more_after: str | None = None


def page_of(
    kind: Large, viewer: Viewer, snapshot: ContestSnapshot, session: Session, asked: Wanted, wanted: PageWanted
) -> Page:
    """Read a page; raises BadRequest where the list has no object of the id that it is to begin after."""
    objects: list[Judged] = []
    for each in _following(kind, viewer, snapshot, session, asked, wanted):
        if len(objects) == wanted.limit:
            return Page(_written(kind, objects), objects[-1].id)
        objects += matching([each], **dict(asked))
    return Page(_written(kind, objects))


def _following(
    kind: Large, viewer: Viewer, snapshot: ContestSnapshot, session: Session, asked: Wanted, wanted: PageWanted
) -> Iterator[Judged]:
    """Each object of the collection, in order, that is behind a place; what follows a page is hardly read."""
    last = 0
    if wanted.after is not None:
        last = kind.owner(snapshot, session, wanted.after) or 0
        own = _objects(kind, viewer, snapshot, session, (last,))
        places = [at for at, each in enumerate(own) if each.id == wanted.after]
        if not places:
            raise BadRequest(
                N_("expected the id of an object of this list, found %(found)r"), where="after", found=wanted.after
            )
        yield from own[places[0] + 1 :]
    filters = dict(asked)
    teams = kind.teams(viewer, snapshot)
    if team_id := filters.get("team_id"):
        teams = (team_id,) if teams is None or team_id in teams else ()
    count = min(max(wanted.limit + 1, FEW), SLICE)
    while teams != () and (
        ids := submission_queries.next_ids(
            session, snapshot.contest.id, last, count, teams=teams, problem_id=filters.get("problem_id")
        )
    ):
        yield from _objects(kind, viewer, snapshot, session, ids)
        session.expunge_all()
        last, count = ids[-1], SLICE


def _objects(kind: Large, viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Numbers) -> list[Judged]:
    """What a viewer sees of some submissions, in the order of the whole list."""
    of: defaultdict[int, list[Judged]] = defaultdict(list)
    for number, document in kind.documents(viewer, snapshot, session, ids):
        of[number].append(document)
    return [document for number in sorted(of) for document in of[number]]


def _written(kind: Large, objects: Sequence[Judged]) -> Written:
    rows = tuple(kind.row([each]) for each in objects)
    return Written.of([Slice(tuple(range(len(rows))), rows)] if rows else [])

"""Lists of a contest's objects as JSON. Guarantee 6: what everybody or judges see of submissions is rendered once.

The rows of submissions, judgements and runs are kept from one version to the next, the least recently used list is
dropped when all take too many bytes. After a change only the submissions are read again whose attempts are other
objects in the new snapshot, or whose points moved. Where the contest itself, what is hidden or the applied rejudgings
differ, all are. All other lists, those of teams and filtered ones among them, are made for each request.
"""

from __future__ import annotations

import gzip
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as AnyCollection
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import SubmissionKey, points_of
from app.core.errors import BadRequest
from app.core.messages import N_
from app.domain.counting import Attempt
from app.feed import queries as feed_queries
from app.feed.service.collections import Collection
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.queries.submission_queries import Teams
from app.submissions.service.judgements import JudgedCase, Judgement
from app.submissions.service.submissions import Submission

JUDGE = Viewer("judge")
# Submissions whose rows are read at once.
SLICE = 256
# Submissions whose rows are sent at once where a list is not kept.
PASSING = 16
# Approximate bytes of Python's objects for a submission, and for each object of a list besides its text.
BYTES_OF_A_ROW, BYTES_OF_AN_OBJECT = 100, 400
MOST_ON_A_PAGE = 1000
# The least number of submissions that a page reads at once: one that leaves many out does not read row by row.
FEW = 16
LEVEL = 4

T = TypeVar("T")
Numbers = AnyCollection[int]
Judged = Submission | Judgement | JudgedCase
# Properties and the values they are to have, empty for null.
Wanted = tuple[tuple[str, str], ...]


class TooLarge(Exception):
    """The collection takes more memory than a list may."""


class Listed(NamedTuple):
    """An object of a list as JSON, and the values that it may be asked for by."""

    id: str
    text: bytes
    values: tuple[str, ...]


# The objects of each submission, empty where none is seen.
Rows = Mapping[int, Sequence[Listed]]


def listed(collection: Collection, model: BaseModel) -> Listed:
    """An object as its list shows it."""
    values = tuple([getattr(model, name) or "" for name in collection.filters])
    text = model.model_dump_json(exclude_unset=collection.sparse).encode()
    return Listed(getattr(model, "id", ""), text, values)


def only(collection: Collection, objects: Iterable[Listed], asked: Wanted) -> Iterable[Listed]:
    """The objects with the wanted values. Ids that a collection cannot be asked for are empty for none of them."""
    if not asked:
        return objects
    if not {name for name, _ in asked} <= set(collection.filters):
        return ()
    places = [(collection.filters.index(name), value) for name, value in asked]
    return (each for each in objects if all(each.values[place] == value for place, value in places))


@dataclass(slots=True, eq=False)
class Written:
    """A list as JSON text, its ETag, and the text zipped, once it has been asked for."""

    text: bytes
    tag: str
    zipped: bytes | None = None

    @classmethod
    def of(cls, objects: Iterable[Listed]) -> Written:
        """The objects in order; equal lists have equal tags."""
        text = b"[" + b",".join([each.text for each in objects]) + b"]"
        return cls(text, f'"{hashlib.blake2b(text, digest_size=12).hexdigest()}"')

    def zip(self) -> bytes:
        """The text as a gzip member: takes a while, so not for the event loop."""
        if self.zipped is None:
            self.zipped = gzip.compress(self.text, LEVEL, mtime=0)
        return self.zipped


@dataclass(frozen=True, slots=True)
class Large:
    """A collection with thousands of objects, each of one submission.

    documents  what a viewer sees of some submissions (all: None): the number of the submission, and the object
    owner      the number of the submission of an object, or None
    scored     whether points show, which change with others' answers
    teams      those whose objects a viewer sees; None: all
    """

    collection: Collection
    documents: Callable[[Viewer, ContestSnapshot, Session, Numbers | None], Iterable[tuple[int, Judged]]]
    owner: Callable[[ContestSnapshot, Session, str], int | None]
    scored: bool = False
    teams: Callable[[Viewer, ContestSnapshot], Teams] = lambda _viewer, _snapshot: None

    def rows(
        self, viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Numbers
    ) -> dict[int, Sequence[Listed]]:
        """The row of each of these submissions."""
        rows: defaultdict[int, list[Listed]] = defaultdict(list)
        for number, document in self.documents(viewer, snapshot, session, ids):
            rows[number].append(listed(self.collection, document))
        session.expunge_all()
        return {id_: rows.get(id_, ()) for id_ in ids}


class ListKey(NamedTuple):
    """The key of kept rows of a large collection: of everybody or of judges (`role`), before the start or after."""

    contest_id: str
    name: str
    role: str
    is_closed: bool


@dataclass(frozen=True, slots=True)
class Version:
    """The rows of a collection at a snapshot, and what decides whether the next version may take them over.

    judged_again  which judgements replaced others
    points        of each submission, where they show
    """

    snapshot: ContestSnapshot
    judged_again: tuple[int, int]
    rows: Rows
    points: Mapping[int, float | None]
    written: Written

    @property
    def size(self) -> int:
        """Approximate bytes of memory."""
        return size_of(self.rows) + len(self.written.text)


def size_of(rows: Rows) -> int:
    """Approximate bytes of memory that rows take."""
    objects = sum(len(each.text) + BYTES_OF_AN_OBJECT for row in rows.values() for each in row)
    return objects + BYTES_OF_A_ROW * len(rows)


def render(
    kind: Large, viewer: Viewer, snapshot: ContestSnapshot, session: Session, old: Version | None, most: int
) -> Version:
    """The collection as everybody or judges see it; raises TooLarge where it takes more than `most` bytes."""
    judged_again = feed_queries.judged_again(session, snapshot.contest.id)
    if old is not None and (old.judged_again != judged_again or not snapshot.is_like(old.snapshot)):
        old = None
    stale, points = _stale(kind, snapshot, old)
    new: dict[int, Sequence[Listed]] = {}
    size = 0
    for ids in in_slices(sorted(stale)):
        rows = kind.rows(viewer, snapshot, session, ids)
        new |= rows
        size += size_of(rows)
        if size > most:
            raise TooLarge
    known = old.rows if old is not None else {}
    rows = {id_: new[id_] if id_ in new else known[id_] for id_ in all_ids(snapshot)}
    version = Version(snapshot, judged_again, rows, points, Written.of(each for row in rows.values() for each in row))
    if version.size > most:
        raise TooLarge
    return version


def _stale(kind: Large, snapshot: ContestSnapshot, old: Version | None) -> tuple[set[int], Mapping[int, float | None]]:
    """The submissions whose attempts are other ones now, or that are worth something else; and the points of all."""
    before = _cells(old.snapshot) if old is not None else {}
    points = dict(old.points) if old is not None else {}
    problems = snapshot.contest.problems if kind.scored else ()
    moved = {each.id for each in problems if old is None or snapshot.bests(each) != old.snapshot.bests(each)}
    stale: set[int] = set()
    for place, tries in _cells(snapshot).items():
        earlier = before.get(place, ())
        if tries is earlier and place[1] not in moved:
            continue
        known = {id(attempt) for attempt in earlier}
        for attempt in tries:
            worth = points_of(snapshot, _tried(attempt)) if kind.scored else None
            if id(attempt) not in known or worth != points.get(attempt.id):
                stale.add(attempt.id)
            points[attempt.id] = worth
    return stale, points


def _tried(attempt: Attempt) -> SubmissionKey:
    if attempt.team_id.startswith("~"):
        return SubmissionKey(attempt.id, None, attempt.problem_id, attempt.team_id[1:])
    return SubmissionKey(attempt.id, attempt.team_id, attempt.problem_id)


def _cells(snapshot: ContestSnapshot) -> Mapping[tuple[str, str], Sequence[Attempt]]:
    """The attempts with their hidden parts: the same objects as long as they are unchanged."""
    cells: Mapping[tuple[str, str], Sequence[Attempt]] = getattr(snapshot.cells, "cells", snapshot.cells)
    return cells


def own_rows(kind: Large, viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> Rows:
    """The rows of a team's own submissions as it sees them."""
    own = [tries for (team, _), tries in _cells(snapshot).items() if team == viewer.team_id]
    rows: dict[int, Sequence[Listed]] = {}
    for ids in in_slices(sorted(attempt.id for tries in own for attempt in tries)):
        rows |= kind.rows(viewer, snapshot, session, ids)
    return rows


def all_ids(snapshot: ContestSnapshot) -> list[int]:
    """The ids of all submissions, in order."""
    return sorted(attempt.id for tries in _cells(snapshot).values() for attempt in tries)


def in_slices(ids: Sequence[int], count: int | None = None) -> Iterator[Sequence[int]]:
    """Ids in order, `count` at a time; None: as many as are read at once."""
    step = count or SLICE
    for start in range(0, len(ids), step):
        yield ids[start : start + step]


@dataclass(frozen=True, slots=True)
class PageWanted:
    """At most so many objects, those after the object of this id; None: from the first one on."""

    limit: int
    after: str | None = None


def page_of(
    kind: Large, viewer: Viewer, snapshot: ContestSnapshot, session: Session, asked: Wanted, wanted: PageWanted
) -> tuple[Written, str | None]:
    """A page, and the id of its last object where more follow; raises BadRequest for an unknown `wanted.after`."""
    objects: list[Listed] = []
    for each in only(kind.collection, _following(kind, viewer, snapshot, session, asked, wanted), asked):
        if len(objects) == wanted.limit:
            return Written.of(objects), objects[-1].id
        objects.append(each)
    return Written.of(objects), None


def _following(
    kind: Large, viewer: Viewer, snapshot: ContestSnapshot, session: Session, asked: Wanted, wanted: PageWanted
) -> Iterator[Listed]:
    """Each object of the collection, in order, behind a place; what follows a page is hardly read."""
    last = 0
    if wanted.after is not None:
        last = kind.owner(snapshot, session, wanted.after) or 0
        own = kind.rows(viewer, snapshot, session, (last,))[last]
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
        for row in kind.rows(viewer, snapshot, session, ids).values():
            yield from row
        last, count = ids[-1], SLICE

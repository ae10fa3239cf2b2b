"""A page of a large collection: so many objects after one of them. Only the rows of its submissions are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.core.errors import BadRequest
from app.core.filters import matching
from app.core.messages import N_
from app.feed.service.lists.list_renderer import SLICE, Judged, Large, Numbers
from app.feed.service.lists.slices import Slice, Wanted, Written
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries

MOST_ON_A_PAGE = 1000
FEW = 16
"""Submissions looked at together at least: whatever a page leaves out, it is not read row by row."""


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

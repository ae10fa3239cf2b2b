"""Commentary: what analysts say about what happens in a contest."""

from datetime import timedelta
from typing import Literal

from pydantic import Field
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.queries import clock, contest_of
from app.contests.service.capabilities import capabilities, need
from app.contests.service.visibility import may_see
from app.core import bodies, clics
from app.core.clock import utc_now
from app.core.messages import N_, NotFound
from app.messages import queries as messages_queries
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.tables import AccountRow, CommentaryRow
from app.teams import queries as teams_queries
from app.teams.service.teams import visible

LINKS: tuple[Literal["team_ids", "problem_ids", "submission_ids"], ...] = ("team_ids", "problem_ids", "submission_ids")


class CommentaryBody(bodies.Body):
    """Something to be said. In the text `{teams:ID}` and `{problems:ID}` stand for what they name."""

    message: bodies.Lines
    tags: list[bodies.Line] = Field(default_factory=list, max_length=100)
    team_ids: list[clics.Id] | None = None
    problem_ids: list[clics.Id] | None = None
    submission_ids: list[clics.Id] | None = None


class CommentaryView(bodies.Sparse):
    """A comment, and the objects that it is about."""

    id: str
    time: str
    contest_time: str
    message: str
    tags: list[str]
    source_id: str | None = None
    team_ids: list[str] | None = None
    problem_ids: list[str] | None = None
    submission_ids: list[str] | None = None


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[CommentaryView]:
    """The comments that the viewer may read, oldest first: those about visible objects."""
    rows = messages_queries.commentary(session, snapshot.contest.id)
    if not rows:
        return []
    known = visible_ids(viewer, snapshot, session)
    persons = persons_of(session, snapshot)
    return [
        view(row, persons) for row in rows if all(known[name].issuperset(row.details.get(name) or ()) for name in LINKS)
    ]


def one(viewer: Viewer, snapshot: ContestSnapshot, session: Session, commentary_id: str) -> CommentaryView:
    """A comment; raises NotFound where the viewer may not see it."""
    for each in documents(viewer, snapshot, session):
        if each.id == commentary_id:
            return each
    raise NotFound(
        N_("no commentary %(commentary)r in contest %(contest)r"), commentary=commentary_id, contest=snapshot.contest.id
    )


def create(viewer: Viewer, snapshot: ContestSnapshot, session: Session, body: CommentaryBody) -> CommentaryView:
    """Store a comment at the time of now; raises BadRequest naming what it refers to and its writer cannot see."""
    contest = contest_of(session, snapshot.contest.id)
    need(viewer, capabilities(viewer, contest.settings, takes_part=False), "post_comment")
    known = visible_ids(viewer, snapshot, session)  # a refused name must not reveal that a hidden object exists
    links = {name: list(dict.fromkeys(ids)) for name in LINKS if (ids := getattr(body, name)) is not None}
    missing = [(name, each) for name, ids in links.items() for each in ids if each not in known[name]]
    bodies.refuse(
        [
            bodies.mismatch(name, N_("what is in contest %(contest)s"), repr(each), contest=contest.id)
            for name, each in missing
        ]
    )
    now = utc_now()
    row = CommentaryRow(
        id=messages_queries.next_id(session, CommentaryRow, contest.id),
        contest_id=contest.id,
        account_id=viewer.account_id,
        message=body.message,
        details={"tags": list(dict.fromkeys(body.tags)), **links, **source(session, viewer)},
        time=now,
        contest_time_ms=clock(contest).contest_time(now) // timedelta(milliseconds=1),
    )
    session.add(row)
    session.flush()
    return view(row, persons_of(session, snapshot))


def view(row: CommentaryRow, persons: set[str]) -> CommentaryView:
    """A comment as CLICS shows it; sources outside `persons` are left out."""
    shown = CommentaryView(
        id=row.id,
        time=clics.format_time(row.time),
        contest_time=clics.format_reltime(timedelta(milliseconds=row.contest_time_ms)),
        message=row.message,
        tags=row.details.get("tags", []),
    )
    if row.details.get("source_id") in persons:
        shown.source_id = row.details["source_id"]
    for name in LINKS:
        if name in row.details:
            setattr(shown, name, row.details[name])
    return shown


def source(session: Session, viewer: Viewer) -> dict[str, str]:
    """The person who speaks, if the account is a person's."""
    account = session.get(AccountRow, str(viewer.account_id))
    return {"source_id": account.person_id} if account is not None and account.person_id is not None else {}


def persons_of(session: Session, snapshot: ContestSnapshot) -> set[str]:
    """The ids of the contest's persons."""
    return {row.id for row in teams_queries.persons(session, contest_of(session, snapshot.contest.id))}


def visible_ids(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> dict[str, set[str]]:
    """The ids a commentary may name, by property: those its writer may see."""
    contest = contest_of(session, snapshot.contest.id)
    rows = submission_queries.submissions(session, contest.id)
    return {
        "team_ids": {row.id for row in visible(session, viewer, contest)},
        "problem_ids": {problem.id for problem in snapshot.problems},
        "submission_ids": {row.shown_id for row in rows if may_see(viewer, snapshot, row)},
    }

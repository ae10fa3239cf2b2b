"""The collections of a contest in the CLICS Contest API: the one list that access, feed, export and import use.

The rights of a client in a contest follow from it: its endpoints and their properties.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.schemas import AccountView
from app.accounts.service import accounts
from app.accounts.service.viewer import Viewer
from app.contests import schemas as contests_schemas
from app.contests.queries import contest_of
from app.contests.schemas import ContestSettings, ContestView
from app.contests.service import contests
from app.contests.service.capabilities import capabilities
from app.core.clics import JsonObject
from app.messages import queries as messages_queries
from app.messages.service import clarifications, commentary
from app.problems.service import problems
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service import scoreboard
from app.submissions.service import submissions
from app.submissions.service.judgements import JudgedCase, Judgement
from app.submissions.service.submission_form import Submission
from app.teams import queries as teams_queries
from app.teams.service import directory, teams

Documents = Callable[[Viewer, ContestSnapshot, Session], Iterable[JsonObject | BaseModel]]
Special = Callable[[ContestSnapshot, Session], Iterable[Viewer]]


def no_team(_public: ContestSnapshot, _session: Session) -> Iterable[Viewer]:
    """An empty list: each team sees what everyone sees."""
    return ()


def hidden_teams(public: ContestSnapshot, _session: Session) -> Iterable[Viewer]:
    """Hidden teams, which see themselves."""
    return [Viewer("team", None, team.id) for team in public.contest.teams if team.hidden]


def teams_with_own_clock(public: ContestSnapshot, _session: Session) -> Iterable[Viewer]:
    """Teams with a clock of their own, which see the problems before everyone does."""
    return [Viewer("team", None, team_id) for team_id in sorted(public.contest.participations)]


def teams_in_conversation(public: ContestSnapshot, session: Session) -> Iterable[Viewer]:
    """Teams that asked a question, or that a reply is addressed to; and hidden teams."""
    ids = {viewer.team_id for viewer in hidden_teams(public, session)}
    groups: set[str] = set()
    for row in messages_queries.clarifications(session, public.contest.id):
        ids.update(row.to_team_ids or (), [row.from_team_id])
        groups.update(row.to_group_ids or ())
    ids.update(team.id for team in public.contest.teams if not groups.isdisjoint(team.group_ids))
    return [Viewer("team", None, team_id) for team_id in sorted(id_ for id_ in ids if id_ is not None)]


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection, or an object where `single`: its model, its documents, and who sees which part of it.

    documents   objects that a viewer sees
    refers_to   collections whose objects this one's may name: they come first in the feed
    last        comes after all others: nothing may follow the end of updates
    sparse      the route leaves out properties that are not set
    large       thousands of objects: the feed looks only at those that changed
    imported    a contest package brings its objects; the others are computed again
    files       properties that hold files
    special     teams that may see more than everyone, or other things
    of_judges   properties that only judges see
    of_answers  properties that only readers of answers see
    of_accounts only viewers with an account see any of it
    """

    name: str
    model: type[BaseModel]
    documents: Documents
    refers_to: frozenset[str] = frozenset()
    single: bool = False
    last: bool = False
    sparse: bool = False
    large: bool = False
    imported: bool = True
    files: tuple[str, ...] = ()
    special: Special = no_team
    of_judges: frozenset[str] = frozenset()
    of_answers: tuple[str, ...] = ()
    of_accounts: bool = False

    def parsed(self, document: JsonObject | BaseModel) -> BaseModel:
        """The model of a document, as the route answers it."""
        return document if isinstance(document, BaseModel) else self.model.model_validate(document)


def _of_directory(each: directory.DirectoryKind, *refers_to: str) -> Collection:
    return Collection(
        each.name,
        each.view,
        each.documents,
        frozenset(refers_to),
        sparse=True,
        files=each.files,
        special=hidden_teams,
        of_judges=each.of_judges,
    )


# The collections in the order in which access lists them.
COLLECTIONS: Sequence[Collection] = (
    # The contest names its main group, and comes first all the same: CLICS clients expect it there.
    Collection("contest", ContestView, contests.documents, single=True, imported=False, files=contests_schemas.FILES),
    Collection("judgement-types", contests.JudgementTypeView, contests.type_documents, imported=False),
    Collection("languages", contests.LanguageView, contests.language_documents, imported=False),
    Collection(
        "problems",
        problems.Problem,
        problems.documents,
        sparse=True,
        special=teams_with_own_clock,
        of_judges=frozenset({"package"}),
    ),
    _of_directory(directory.GROUPS),
    _of_directory(directory.ORGANIZATIONS),
    _of_directory(directory.PERSONS, "teams"),
    Collection(
        "teams",
        teams.TeamView,
        teams.documents,
        frozenset({"groups", "organizations"}),
        sparse=True,
        files=teams.FILES,
        special=hidden_teams,
        of_judges=teams.OF_JUDGES,
    ),
    Collection(
        "accounts",
        AccountView,
        accounts.documents,
        frozenset({"teams", "persons"}),
        of_accounts=True,
    ),
    Collection("state", contests.StateView, contests.state_documents, single=True, last=True, imported=False),
    Collection(
        "submissions",
        Submission,
        submissions.submission_documents,
        frozenset({"languages", "problems", "teams", "accounts"}),
        sparse=True,
        large=True,
        of_judges=frozenset({"account_id"}),
        of_answers=("comment",),
    ),
    Collection(
        "judgements",
        Judgement,
        submissions.judgement_documents,
        frozenset({"submissions", "judgement-types"}),
        sparse=True,
        large=True,
        imported=False,
    ),
    Collection(
        "runs",
        JudgedCase,
        submissions.run_documents,
        frozenset({"judgements", "judgement-types"}),
        large=True,
        imported=False,
        of_answers=("testcase", "raw", "message"),
    ),
    Collection(
        "clarifications",
        clarifications.ClarificationView,
        clarifications.documents,
        frozenset({"problems", "teams", "groups", "submissions"}),
        sparse=True,
        special=teams_in_conversation,
    ),
    Collection(
        "awards",
        scoreboard.AwardView,
        scoreboard.documents,
        frozenset({"teams"}),
        special=hidden_teams,
    ),
    Collection(
        "commentary",
        commentary.CommentaryView,
        commentary.documents,
        frozenset({"problems", "teams", "submissions"}),
        sparse=True,
        special=hidden_teams,
    ),
)
BY_NAME: Mapping[str, Collection] = {each.name: each for each in COLLECTIONS}


def _in_reference_order(waiting: Sequence[Collection]) -> Iterator[Collection]:
    """Each collection after those it refers to, otherwise in the order of the list."""
    placed: set[str] = set()
    while waiting:
        following = next(each for each in waiting if each.refers_to <= placed and (len(waiting) == 1 or not each.last))
        yield following
        placed.add(following.name)
        waiting = [each for each in waiting if each is not following]


# The collections, each after those it refers to: the order of the feed, of an export and of an import.
IN_REFERENCE_ORDER: Sequence[Collection] = tuple(_in_reference_order(COLLECTIONS))

SCOREBOARD = ("time", "contest_time", "state", "rows", "version")


class Endpoint(BaseModel):
    """A kind of object, and its properties the client may see."""

    type: str
    properties: list[str]


class Access(BaseModel):
    """The rights of a client; they stay the same while the contest runs."""

    capabilities: list[str]
    endpoints: list[Endpoint]


def access(session: Session, viewer: Viewer, contest_id: str) -> Access:
    """The viewer's rights in a contest, those for later phases among them; raises NotFound."""
    contest = contest_of(session, contest_id)
    takes_part = viewer.team_id is not None and teams_queries.takes_part(session, contest, viewer.team_id)
    settings = contest.settings
    allowed = capabilities(viewer, settings, takes_part=takes_part)
    return Access(capabilities=list(allowed), endpoints=endpoints(viewer, settings))


def endpoints(viewer: Viewer, settings: ContestSettings) -> list[Endpoint]:
    """The endpoints this client may read. Without an account there are no accounts, and nothing may refer to one."""
    reads_answers = viewer.sees_all or viewer.team_id is not None or settings.show_others_answers
    listed = [
        Endpoint(type=each.name, properties=_properties(viewer, each, reads_answers=reads_answers))
        for each in COLLECTIONS
        if viewer.logged_in or not each.of_accounts
    ]
    return [*listed, Endpoint(type="scoreboard", properties=list(SCOREBOARD))]


def _properties(viewer: Viewer, collection: Collection, *, reads_answers: bool) -> list[str]:
    names = [name for name in collection.model.model_fields if reads_answers or name not in collection.of_answers]
    return names if viewer.sees_all else [name for name in names if name not in collection.of_judges]

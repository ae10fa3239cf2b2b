"""Problems of a contest: their labels and their scoring there.

- Prediction contests: a contest with a problem that is made of one CSV table.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints
from sqlalchemy.orm import Session

from app.accounts.service.grants import OWNER
from app.accounts.service.viewer import Viewer, refuse_unusable
from app.authoring.service import packages
from app.contests import queries as contests_queries
from app.contests.schemas import ContestBody, ContestView, Limits, Rule
from app.contests.service import commands
from app.contests.service.contests import contest_to_change
from app.core import clics, clock
from app.core.bodies import Body, Line, same_id
from app.core.db.database import after_commit, run_after_commit
from app.core.files.temporary import UPLOAD_PREFIX, locked_folder
from app.core.messages import N_, BadRequest, Conflict, Message, describe_pattern, message_of
from app.core.service import Service
from app.domain.contests import ScoringRule
from app.judging.queries import rejudging_changes
from app.judging.service.problem_changes import How, Preview, RejudgingView, change, check_version, preview, shown
from app.packages.skeletons import predictions
from app.packages.zips import zip_bytes
from app.problems.queries import pins, problems, versions
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.tables import ContestProblemRow, ProblemRow
from checkers.doors import Rejected

Label = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(r"^[^\x00-\x20\x7f/]+$", Message(N_("a label without spaces and slashes"))),
        max_length=36,
    ),
]
Rgb = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(r"^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", Message(N_("a color such as #ff0000")))
    ),
]
MOST_ORDINAL = 2**31 - 1
# The choices for a prediction contest that is made of a table.
TableBody = predictions.Predictions


class EntryProperties(Body):
    """The properties of a problem in a contest that may be left out."""

    label: Label | None = None
    ordinal: int | None = Field(None, ge=0, le=MOST_ORDINAL)
    rgb: Rgb | None = None
    color: Line | None = None


class EntryBody(EntryProperties):
    """A problem to be put into a contest. Without a label it gets the next free letter, and the last place."""

    id: Line = Field(description="the problem")
    rule: Rule = Rule()
    limits: Limits = Field(default_factory=Limits)


class EntryChange(EntryProperties):
    """A change of a problem in the contest; omitted properties stay. A given rule, or limits, replace the old ones.

    `version`: the version of the problem that the contest stays with; null: it follows the newest.
    """

    id: Line | None = None
    rule: Rule | None = None
    limits: Limits | None = None
    version: int | None = Field(None, ge=1, le=MOST_ORDINAL)


class EntryView(BaseModel):
    """A problem's place in a contest, and the whole rule and limits that hold there.

    `version` is the contest's; `pinned`: newer versions of the problem do not change it.
    """

    id: str
    label: str
    ordinal: int
    rgb: str | None
    color: str | None
    rule: Rule
    limits: Limits
    version: int
    pinned: bool


def add(session: Session, boards: ScoreboardCache, viewer: Viewer, contest_id: str, body: EntryBody) -> EntryView:
    """Put a problem into a contest, with a rule of its own or the problem's; raises BadRequest or Conflict."""
    contest_to_change(session, contest_id)
    refuse_unusable(viewer, body.id)
    problem = session.get(ProblemRow, body.id)
    if problem is None:
        raise BadRequest(N_("expected a problem that exists, found %(found)r"), where="id", found=body.id)
    others = contests_queries.entries(session, contest_id)
    if any(entry.problem_id == body.id for entry in others):
        raise Conflict(N_("problem %(problem)r is in the contest already"), problem=body.id)
    row = ContestProblemRow(
        contest_id=contest_id,
        problem_id=body.id,
        label=body.label or contests_queries.free_label({entry.label for entry in others}),
        ordinal=body.ordinal if body.ordinal is not None else max((entry.ordinal for entry in others), default=-1) + 1,
        rgb=body.rgb,
        color=body.color,
        rule=body.rule,
        limits=body.limits,
    )
    _check_label(session, row)
    shown = _view(session, row, problem)
    session.add(row)
    after_commit(session, lambda: boards.changed(contest_id))
    return shown


def alter(
    service: Service,
    viewer: Viewer,
    session: Session,
    place: tuple[str, str],
    body: EntryChange,
    how: How,
) -> EntryView | RejudgingView | Preview:
    """Change a problem's place (contest, problem) at once; a rule or version that changes someone's points waits.

    Raises BadRequest for both at once, or an unknown version.
    """
    contest_id, problem_id = place
    row = contests_queries.entry_of(session, contest_id, problem_id)
    contest_to_change(session, contest_id)
    same_id(problem_id, body.id)
    named = body.model_fields_set
    if body.rule is not None and "version" in named:
        raise BadRequest(N_("cannot be combined with a rule, as each may become a rejudging"), where="version")
    if how.keep:
        raise BadRequest(
            N_("expected no such parameter, as the change is this contest's alone, found keep"), where="contests"
        )
    if how.preview and body.rule is None and "version" not in named:
        raise BadRequest(N_("expected a rule or a version to look at, found neither"), where="preview")
    opened = None
    if "version" in named:
        opened = _move(session, viewer, row, body.version, how)
    elif body.rule is not None:
        opened = _alter_rule(session, viewer, row, body.rule, how)
    if isinstance(opened, Preview):
        return opened
    row.label = body.label or row.label
    row.ordinal = row.ordinal if body.ordinal is None else body.ordinal
    row.rgb = body.rgb if "rgb" in named else row.rgb
    row.color = body.color if "color" in named else row.color
    if body.limits is not None:
        row.limits = body.limits
    _check_label(session, row)
    after_commit(session, lambda: service.boards.changed(contest_id))
    if opened is None:
        return _view(session, row, session.get_one(ProblemRow, problem_id))
    after_commit(session, lambda: service.engine.wake(rejudging=True))
    return opened


def _move(
    session: Session, viewer: Viewer, row: ContestProblemRow, version: int | None, how: How
) -> RejudgingView | Preview | None:
    contest_id, problem_id = row.contest_id, row.problem_id
    check_version(session, problem_id, how.version)
    if versions.manifest(session, problem_id, version) is None:
        newest = session.get_one(ProblemRow, problem_id).version
        raise BadRequest(
            N_("expected a version of %(problem)s, 1 to %(newest)s, found %(found)s"),
            where="version",
            problem=problem_id,
            newest=newest,
            found=version,
        )
    author = versions.Author(viewer.account_id, f"version {version or 'newest'} of {problem_id} for {contest_id}")
    if how.preview:
        return preview(session, rejudging_changes.planned_move(session, contest_id, problem_id, version))
    opened = rejudging_changes.move(session, contest_id, problem_id, version, author)
    return None if opened is None else shown(session, opened)


def _alter_rule(
    session: Session, viewer: Viewer, row: ContestProblemRow, rule: Rule, how: How
) -> RejudgingView | Preview | None:
    contest_id, problem_id = row.contest_id, row.problem_id

    def write() -> None:
        row.rule = rule

    author = versions.Author(viewer.account_id, f"another rule for {problem_id}")
    return change(session, problem_id, write, author, how, contest_id=contest_id)


def remove(session: Session, boards: ScoreboardCache, contest_id: str, problem_id: str) -> None:
    """Take a problem out of a contest; raises Conflict where someone has submitted to it here."""
    row = contests_queries.entry_of(session, contest_id, problem_id)
    contest_to_change(session, contest_id)
    rejudging_changes.hold(session, problem_id)
    if count := contests_queries.submission_count(session, contest_id, problem_id=problem_id):
        raise Conflict(N_("the problem has %(count)s submissions in this contest"), count=count)
    session.delete(row)
    after_commit(session, lambda: boards.changed(contest_id))


def _view(session: Session, row: ContestProblemRow, problem: ProblemRow) -> EntryView:
    """Show an entry with its whole rule."""
    settings = contests_queries.contest_of(session, row.contest_id).settings
    return EntryView(
        id=row.problem_id,
        label=row.label,
        ordinal=row.ordinal,
        rgb=row.rgb,
        color=row.color,
        rule=Rule.of(_whole(session, row, problem)),
        limits=row.limits.over(settings.limits),
        version=row.version or problem.version,
        pinned=row.version is not None,
    )


def _whole(session: Session, row: ContestProblemRow, problem: ProblemRow) -> ScoringRule:
    scoring = pins.row(session, row.contest_id, problem.id).settings["scoring"]
    points = [(each.max_points_num, each.max_points_den) for each in pins.groups(session, row.contest_id, problem.id)]
    most = sum((Fraction(*each) for each in points), Fraction(0))
    return row.rule.over(scoring["kind"], scoring["direction"], most)


def _check_label(session: Session, row: ContestProblemRow) -> None:
    """Raise Conflict where another problem of the contest has this label."""
    with session.no_autoflush:  # else the database would refuse the label before we can say why
        others = contests_queries.entries(session, row.contest_id)
    for other in others:
        if other.problem_id != row.problem_id and other.label == row.label:
            raise Conflict(
                N_("%(label)r is the label of problem %(problem)r"),
                where="label",
                label=row.label,
                problem=other.problem_id,
            )


def create_predictions(service: Service, viewer: Viewer, data: bytes, asked: TableBody) -> ContestView:
    """Create a contest without a start, and its problem, from a CSV table; raises BadRequest with its first fault.

    Each submission is judged for both kinds of rows, whenever the contest begins. The last one counts, unless the team
    chooses: the best private score would reward many guesses.
    """
    limits = {"per_window": {"count": asked.per_day, "seconds": 86_400}}
    settings = {"final_release": clics.format_time(clock.utc_now()), "choose": True, "limits": limits}
    body = {"name": asked.name, "duration": f"{24 * asked.days}:00:00", "settings": settings}
    try:
        files = predictions.package_of(data, asked)
    except Rejected as fault:
        raise BadRequest(message_of(fault), where="table") from None
    with service.database.read() as session:
        taken = {row.id for row in problems.problems(session)}
    slug = clics.slug(asked.name, lambda name: name.replace("-", "") in taken, "table").replace("-", "")
    with locked_folder(UPLOAD_PREFIX) as folder:
        (folder / "body").write_bytes(zip_bytes(files))
        packages.bring_in(service, viewer, packages.SentPackage(folder / "body", slug), How())
    owner = replace(viewer, grants=replace(viewer.grants, problems={**viewer.grants.problems, slug: OWNER}))
    with service.database.write() as session:
        made = commands.create(session, service, viewer, ContestBody.model_validate(body))
        add(session, service.boards, owner, made.id, EntryBody(id=slug, rule=Rule(counting="last")))
    run_after_commit(session)
    return made

"""Contests: what they are called, and when they run.

- Languages and judgement types: the kinds of submissions and of their results.
- Limits of a contest for its judges: what teams may send to it and to each problem, and what they have sent.
"""

from datetime import timedelta
from importlib.metadata import version

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.schemas import BoardState, ContestView, Limits
from app.core import clics
from app.core.files.file_references import shown
from app.core.messages import N_, NotFound
from app.domain import contests as rules
from app.domain.counting import JUDGEMENT_TYPES, JudgementType
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries.usage import bytes_used
from app.tables import ContestRow


class Provider(BaseModel):
    """The provider of the service."""

    name: str
    version: str


class ApiInformation(BaseModel):
    """The version and the provider of the API."""

    version: str
    version_url: str
    provider: Provider


class RemovedInterval(BaseModel):
    """A pause: from when until when (null: still), and the contest time at which the contest's clock stood still."""

    start: str
    end: str | None
    contest_time: str


class StateView(BoardState):
    """The moments at which something happened to a contest; null: not yet. And the pauses taken out of its time."""

    removed_intervals: list[RemovedInterval]


def api_information() -> ApiInformation:
    """The version of the API, and of the server."""
    provider = Provider(name="Jurado", version=version("jurado"))
    return ApiInformation(version=clics.VERSION, version_url=clics.VERSION_URL, provider=provider)


def documents(_viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[ContestView]:
    """The contest itself."""
    row = contests_queries.get(session, snapshot.contest.id)
    return [] if row is None else [view(row)]


def view(row: ContestRow) -> ContestView:
    """Show a contest."""
    return ContestView(
        id=row.id,
        name=row.name,
        formal_name=row.formal_name or row.name,
        start_time=clics.format_time_or_none(row.start_time),
        countdown_pause_time=_reltime(row.countdown_pause_ms),
        duration=clics.format_reltime(timedelta(milliseconds=row.duration_ms)),
        scoreboard_freeze_duration=_reltime(row.freeze_ms),
        scoreboard_thaw_time=clics.format_time_or_none(row.thaw_time),
        main_scoreboard_group_id=row.main_scoreboard_group_id,
        banner=_files(row, "banner"),
        logo=_files(row, "logo"),
        location=row.details.get("location"),
        open_to_all=row.open_to_all,
        settings=row.settings,
    )


def _files(row: ContestRow, name: str) -> list[dict[str, object]] | None:
    if name not in row.details:
        return None
    return [dict(each) for each in shown(f"contests/{row.id}", name, row.details[name])]


def _reltime(length_ms: int | None) -> str | None:
    return None if length_ms is None else clics.format_reltime(timedelta(milliseconds=length_ms))


def state_documents(_viewer: Viewer, snapshot: ContestSnapshot, _session: Session) -> list[StateView]:
    """The contest's state."""
    return [state_view(snapshot.state, snapshot.contest.clock)]


def state_view(happened: rules.State, times: rules.Clock) -> StateView:
    """The state as CLICS shows it, and the pauses taken out of the contest's time."""
    removed = clics.intervals_json(times)
    return StateView.model_validate({**clics.state_json(happened), "removed_intervals": removed})


def contest_to_change(session: Session, contest_id: str) -> ContestRow:
    """The contest for a change of what belongs to it: no one makes it final before the end of this transaction.

    Raises NotFound, and Forbidden where it is final.
    """
    row = contests_queries.contest_of(session, contest_id)
    session.refresh(row, with_for_update={"read": True})  # read, as who changes a problem holds it, too, and then this
    contests_queries.refuse_final(row)
    return row


def free_id(session: Session, name: str) -> str:
    """An id made of a contest's name that no contest has yet."""
    return clics.slug(name, lambda contest_id: contests_queries.get(session, contest_id) is not None, "contest")


class JudgementTypeView(BaseModel):
    """A judgement type: a result that a judgement may have."""

    id: str
    name: str
    penalty: bool
    solved: bool


class LanguageView(BaseModel):
    """A language: a kind of files that may be submitted."""

    id: str
    name: str
    entry_point_required: bool
    extensions: list[str]


ANSWERS = LanguageView(
    id=clics.LANGUAGE, name="answer files", entry_point_required=False, extensions=["out", "ans", "txt", "zip"]
)


def judgement_types(session: Session, contest_id: str) -> list[JudgementTypeView]:
    """The judgement types of a contest: without PC where it shows that as AC. Raises NotFound without the contest."""
    contest = contests_queries.contest_of(session, contest_id)
    as_accepted = contest.settings.partly_correct_as == JudgementType.AC
    return [
        JudgementTypeView(id=type_.value, name=name, penalty=False, solved=type_ is JudgementType.AC)
        for type_, name in JUDGEMENT_TYPES.items()
        if not (as_accepted and type_ is JudgementType.PC)
    ]


def judgement_type(session: Session, contest_id: str, type_id: str) -> JudgementTypeView:
    """A judgement type of a contest; raises NotFound."""
    for each in judgement_types(session, contest_id):
        if each.id == type_id:
            return each
    raise NotFound(N_("no judgement type %(type)r"), type=type_id)


def languages(session: Session, contest_id: str) -> list[LanguageView]:
    """The one language of a contest; raises NotFound where there is no such contest."""
    contests_queries.contest_of(session, contest_id)
    return [ANSWERS]


def language(session: Session, contest_id: str, language_id: str) -> LanguageView:
    """A language of a contest; raises NotFound."""
    contests_queries.contest_of(session, contest_id)
    if language_id != ANSWERS.id:
        raise NotFound(N_("no language %(language)r"), language=language_id)
    return ANSWERS


def type_documents(_viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[JudgementTypeView]:
    """The judgement types of a contest."""
    return judgement_types(session, snapshot.contest.id)


def language_documents(_viewer: Viewer, _snapshot: ContestSnapshot, _session: Session) -> list[LanguageView]:
    """The languages of a contest."""
    return [ANSWERS]


class ProblemLimits(BaseModel):
    """The limits of a team's submissions to a problem: its own, and the contest's where it has none."""

    problem_id: str
    label: str
    limits: Limits


class LimitsView(BaseModel):
    """The bytes of answers and sources that all teams have sent to a contest, and the limits; null: any number.

    `bytes_limit` is the most of all teams together, `team_bytes` that of each.
    """

    bytes_used: int
    bytes_limit: int | None
    team_bytes: int | None
    problems: list[ProblemLimits]


def contest_limits(session: Session, contest_id: str) -> LimitsView:
    """The limits of a contest and its problems; raises NotFound."""
    settings = contests_queries.contest_of(session, contest_id).settings
    entries = contests_queries.entries(session, contest_id)
    return LimitsView(
        bytes_used=bytes_used(session, contest_id),
        bytes_limit=settings.contest_bytes,
        team_bytes=settings.team_bytes,
        problems=[
            ProblemLimits(problem_id=entry.problem_id, label=entry.label, limits=entry.limits.over(settings.limits))
            for entry in entries
        ],
    )

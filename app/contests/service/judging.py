"""Languages and judgement types: the kinds of submissions and of their results."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.contests import contest_of
from app.core.clics import LANGUAGE
from app.core.errors import NotFound
from app.core.messages import N_
from app.domain.verdicts import JUDGEMENT_TYPES, JudgementType
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestRow


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
    id=LANGUAGE, name="answer files", entry_point_required=False, extensions=["out", "ans", "txt", "zip"]
)


def judgement_types(session: Session, contest_id: str) -> list[JudgementTypeView]:
    """The judgement types of a contest; raises NotFound where there is no such contest."""
    return types(contest_of(session, contest_id))


def judgement_type(session: Session, contest_id: str, type_id: str) -> JudgementTypeView:
    """A judgement type of a contest; raises NotFound."""
    for each in types(contest_of(session, contest_id)):
        if each.id == type_id:
            return each
    raise NotFound(N_("no judgement type %(type)r"), type=type_id)


def languages(session: Session, contest_id: str) -> list[LanguageView]:
    """The one language of a contest; raises NotFound where there is no such contest."""
    contest_of(session, contest_id)
    return [ANSWERS]


def language(session: Session, contest_id: str, language_id: str) -> LanguageView:
    """A language of a contest; raises NotFound."""
    contest_of(session, contest_id)
    if language_id != ANSWERS.id:
        raise NotFound(N_("no language %(language)r"), language=language_id)
    return ANSWERS


def type_documents(_viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[JudgementTypeView]:
    """The judgement types of a contest."""
    return types(contest_of(session, snapshot.contest.id))


def language_documents(_viewer: Viewer, _snapshot: ContestSnapshot, _session: Session) -> list[LanguageView]:
    """The languages of a contest."""
    return [ANSWERS]


def types(contest: ContestRow) -> list[JudgementTypeView]:
    """The judgement types of a contest: without PC where the contest shows it as AC."""
    as_accepted = contest.settings.partly_correct_as == JudgementType.AC
    return [
        JudgementTypeView(id=type_.value, name=facts.name, penalty=False, solved=facts.solved)
        for type_, facts in JUDGEMENT_TYPES.items()
        if not (as_accepted and type_ is JudgementType.PC)
    ]

"""What submissions are made of and end with: languages and judgement types."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.api.auth import Viewer
from app.api.clics import LANGUAGE
from app.api.contests import contest_of
from app.api.deps import CurrentViewer, Reading
from app.api.errors import NotFound
from app.api.gated import GatedRoute
from app.domain.verdicts import JUDGEMENT_TYPES, JudgementType
from app.grading.boards import Standing
from app.storage.tables import ContestRow

router = APIRouter(route_class=GatedRoute, tags=["contests"])


class JudgementTypeView(BaseModel):
    """How a judgement may end."""

    id: str
    name: str
    penalty: bool
    solved: bool


class LanguageView(BaseModel):
    """What may be submitted."""

    id: str
    name: str
    entry_point_required: bool
    extensions: list[str]


ANSWERS = LanguageView(
    id=LANGUAGE, name="answer files", entry_point_required=False, extensions=["out", "ans", "txt", "zip"]
)


@router.get("/contests/{contest_id}/judgement-types", summary="How judgements may end")
def list_judgement_types(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[JudgementTypeView]:
    """Those this contest shows: one that shows partly correct as AC has no PC."""
    return _types(contest_of(session, contest_id))


@router.get("/contests/{contest_id}/judgement-types/{type_id}", summary="One judgement type")
def get_judgement_type(_viewer: CurrentViewer, session: Reading, contest_id: str, type_id: str) -> JudgementTypeView:
    """Its name, and whether it solves the problem."""
    for found in _types(contest_of(session, contest_id)):
        if found.id == type_id:
            return found
    raise NotFound(f"no judgement type {type_id!r}")


@router.get("/contests/{contest_id}/languages", summary="What may be submitted")
def list_languages(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[LanguageView]:
    """Answer files, and nothing else."""
    contest_of(session, contest_id)
    return [ANSWERS]


@router.get("/contests/{contest_id}/languages/{language_id}", summary="One language")
def get_language(_viewer: CurrentViewer, session: Reading, contest_id: str, language_id: str) -> LanguageView:
    """There is one: `answers`."""
    contest_of(session, contest_id)
    if language_id != ANSWERS.id:
        raise NotFound(f"no language {language_id!r}")
    return ANSWERS


def type_documents(_viewer: Viewer, standing: Standing, session: Session) -> list[JudgementTypeView]:
    """How judgements may end in this contest."""
    return _types(contest_of(session, standing.contest.id))


def language_documents(_viewer: Viewer, _standing: Standing, _session: Session) -> list[LanguageView]:
    """What may be submitted."""
    return [ANSWERS]


def _types(contest: ContestRow) -> list[JudgementTypeView]:
    as_accepted = contest.settings.get("partly_correct_as") == "AC"
    return [
        JudgementTypeView(id=type_.value, name=facts.name, penalty=False, solved=facts.solved)
        for type_, facts in JUDGEMENT_TYPES.items()
        if not (as_accepted and type_ is JudgementType.PC)
    ]

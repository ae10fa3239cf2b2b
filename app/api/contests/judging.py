"""HTTP routes: what submissions are made of and end with: languages and judgement types."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.http.deps import CurrentViewer, Reading
from app.api.http.gated import GatedRoute
from app.services.contests.contests import contest_of
from app.services.contests.judging import ANSWERS, JudgementTypeView, LanguageView, types
from app.services.errors import NotFound

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get("/contests/{contest_id}/judgement-types", summary="How judgements may end")
def list_judgement_types(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[JudgementTypeView]:
    """Those this contest shows: one that shows partly correct as AC has no PC."""
    return types(contest_of(session, contest_id))


@router.get("/contests/{contest_id}/judgement-types/{type_id}", summary="One judgement type")
def get_judgement_type(_viewer: CurrentViewer, session: Reading, contest_id: str, type_id: str) -> JudgementTypeView:
    """Its name, and whether it solves the problem."""
    for found in types(contest_of(session, contest_id)):
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

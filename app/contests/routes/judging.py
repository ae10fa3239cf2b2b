"""HTTP routes: what submissions are made of and end with: languages and judgement types."""

from __future__ import annotations

from fastapi import APIRouter

from app.contests.service import judging
from app.contests.service.judging import JudgementTypeView, LanguageView
from app.core.http.deps import CurrentViewer, Reading
from app.core.http.gated import GatedRoute

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get("/contests/{contest_id}/judgement-types", summary="How judgements may end")
def list_judgement_types(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[JudgementTypeView]:
    """Those this contest shows: one that shows partly correct as AC has no PC."""
    return judging.judgement_types(session, contest_id)


@router.get("/contests/{contest_id}/judgement-types/{type_id}", summary="One judgement type")
def get_judgement_type(_viewer: CurrentViewer, session: Reading, contest_id: str, type_id: str) -> JudgementTypeView:
    """Its name, and whether it solves the problem."""
    return judging.judgement_type(session, contest_id, type_id)


@router.get("/contests/{contest_id}/languages", summary="What may be submitted")
def list_languages(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[LanguageView]:
    """Answer files, and nothing else."""
    return judging.languages(session, contest_id)


@router.get("/contests/{contest_id}/languages/{language_id}", summary="One language")
def get_language(_viewer: CurrentViewer, session: Reading, contest_id: str, language_id: str) -> LanguageView:
    """There is one: `answers`."""
    return judging.language(session, contest_id, language_id)

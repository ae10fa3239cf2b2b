"""What decides a contest in the end: its final cases, and the medals and ranks that the board gives."""

from fastapi import Request, Response

from app.contests.pages.setup import finals_of, moment
from app.contests.queries import contest_of
from app.contests.schemas import ContestChange
from app.contests.service import commands as service_commands
from app.core.pages import forms, languages
from app.core.pages.visitor import Fields, TheService, Visitor, Writing, see
from app.tables import ContestRow

MEDALS = ("gold", "silver", "bronze", "ranks")


def medals_of(row: ContestRow) -> dict[str, str]:
    """The fields of the form of medals and ranks, as a contest has them."""
    awards = row.settings.awards.model_dump()
    return {name: str(awards[name]) for name in MEDALS}


def set_finals(
    request: Request, viewer: Visitor, service: TheService, contest_id: str, fields: Fields, session: Writing
) -> Response:
    """Change when teams get the inputs of final cases, or how long each has for them, and what counts in the end."""
    languages.refuse_outdated(fields, finals_of(contest_of(session, contest_id, for_update=True)))
    settings = {
        "final_release": moment(fields.get("final_release", "")),
        "final_minutes": forms.whole_number("final_minutes", fields.get("final_minutes", "")),
        "final_phase": fields.get("final_phase"),
    }
    body = forms.made_of_values(ContestChange, {"settings": settings})
    service_commands.change(session, service, viewer, contest_id, body)
    return see(request, f"/admin/contests/{contest_id}/rules", done="saved")


def set_medals(
    request: Request, viewer: Visitor, service: TheService, contest_id: str, fields: Fields, session: Writing
) -> Response:
    """Change how many medals and ranks the board gives."""
    languages.refuse_outdated(fields, medals_of(contest_of(session, contest_id, for_update=True)))
    medals = {name: forms.whole_number(name, fields.get(name, "")) or 0 for name in MEDALS}
    body = forms.made_of_values(ContestChange, {"settings": {"awards": medals}})
    service_commands.change(session, service, viewer, contest_id, body)
    return see(request, f"/admin/contests/{contest_id}/awards", done="saved")

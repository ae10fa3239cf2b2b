"""What decides a contest in the end: its final cases, and the medals and ranks that the board gives."""

from __future__ import annotations

from fastapi import Request, Response

from app.services.contests import commands
from app.services.contests.bodies import ContestChange
from app.web.forms import made_of_values, whole_number
from app.web.organiser.gate import Fields, see
from app.web.organiser.setup import moment
from app.web.visitor import TheService, Visitor, Writing

MEDALS = ("gold", "silver", "bronze", "ranks")


def set_finals(
    request: Request, viewer: Visitor, service: TheService, contest_id: str, fields: Fields, session: Writing
) -> Response:
    """Change when teams get the inputs of final cases, or how long each has for them, and what counts in the end."""
    settings = {
        "final_release": moment(fields.get("final_release", "")),
        "final_minutes": whole_number("final_minutes", fields.get("final_minutes", "")),
        "final_phase": fields.get("final_phase"),
    }
    body = made_of_values(ContestChange, {"settings": settings})
    commands.change(session, service, viewer, contest_id, body)
    return see(request, f"/admin/contests/{contest_id}/rules", done="saved")


def set_medals(
    request: Request, viewer: Visitor, service: TheService, contest_id: str, fields: Fields, session: Writing
) -> Response:
    """Change how many medals and ranks the board gives."""
    medals = {name: whole_number(name, fields.get(name, "")) or 0 for name in MEDALS}
    body = made_of_values(ContestChange, {"settings": {"awards": medals}})
    commands.change(session, service, viewer, contest_id, body)
    return see(request, f"/admin/contests/{contest_id}/awards", done="saved")

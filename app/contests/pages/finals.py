"""What decides a contest in the end: its final cases, and the medals and ranks that the board gives."""

from fastapi import Response

from app.contests.pages.setup import change_contest, finals_of
from app.contests.queries import contest_of
from app.core.pages import forms, languages
from app.core.pages.visits import Change
from app.tables import ContestRow

MEDALS = ("gold", "silver", "bronze", "ranks")


def medals_of(row: ContestRow) -> dict[str, str]:
    """The fields of the form of medals and ranks, as a contest has them."""
    awards = row.settings.awards.model_dump()
    return {name: str(awards[name]) for name in MEDALS}


def set_finals(change: Change, contest_id: str) -> Response:
    """Change when teams get the inputs of final cases, or how long each has for them, and what counts in the end."""
    row, zone = contest_of(change.session, contest_id, for_update=True), change.fields.get(forms.ZONE, "")
    languages.refuse_outdated(change.fields, finals_of(row, zone))
    settings = {
        "final_release": forms.moment(change.fields, "final_release"),
        "final_minutes": forms.whole_number("final_minutes", change.fields.get("final_minutes", "")),
        "final_phase": change.fields.get("final_phase"),
    }
    change_contest(change, contest_id, {"settings": settings})
    return change.see(f"/admin/contests/{contest_id}/rules", done="saved")


def set_medals(change: Change, contest_id: str) -> Response:
    """Change how many medals and ranks the board gives."""
    languages.refuse_outdated(change.fields, medals_of(contest_of(change.session, contest_id, for_update=True)))
    medals = {name: forms.whole_number(name, change.fields.get(name, "")) or 0 for name in MEDALS}
    change_contest(change, contest_id, {"settings": {"awards": medals}})
    return change.see(f"/admin/contests/{contest_id}/awards", done="saved")

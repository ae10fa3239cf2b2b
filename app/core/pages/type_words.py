"""Types, states and roles as organisers' tables name them, in the reader's language; the API has them as keys."""

from __future__ import annotations

from app.core.messages import N_
from app.core.pages.languages import gettext

WORDS = {
    "absolute": N_("absolute"),
    "accepted": N_("accepted"),
    "admin": N_("admin"),
    "analyst": N_("analyst"),
    "applied": N_("applied"),
    "cancelled": N_("cancelled"),
    "done": N_("done"),
    "failed": N_("failed"),
    "final": N_("final"),
    "judge": N_("judge"),
    "judge_error": N_("judge error"),
    "maximise": N_("the greatest is best"),
    "minimise": N_("the least is best"),
    "owner": N_("owner"),
    "provisional": N_("provisional"),
    "queued": N_("queued"),
    "rank": N_("by rank"),
    "reference-run": N_("Reference run"),
    "reference_run": N_("Reference run"),
    "rejected": N_("rejected"),
    "relative": N_("relative"),
    "running": N_("running"),
    "sample": N_("sample"),
    "staff": N_("staff"),
    "team": N_("team account"),
    "tournament": N_("Tournament"),
    "verification": N_("Verification"),
    "identical": N_("identical"),
    "tokens": N_("the same tokens"),
    "lines": N_("the same lines"),
    "near": N_("near"),
}


def type_word(key: str) -> str:
    """A type in words; one that is not known as it is."""
    return gettext(WORDS[key]) if key in WORDS else key

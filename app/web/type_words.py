"""Types, states and roles as organisers' tables name them, in the reader's language; the API has them as keys."""

from __future__ import annotations

from app.web.languages import N_, gettext

WORDS = {
    "accepted": N_("accepted"),
    "admin": N_("admin"),
    "analyst": N_("analyst"),
    "applied": N_("applied"),
    "cancelled": N_("cancelled"),
    "done": N_("done"),
    "failed": N_("failed"),
    "judge": N_("judge"),
    "judge_error": N_("judge error"),
    "owner": N_("owner"),
    "queued": N_("queued"),
    "reference-run": N_("Reference run"),
    "reference_run": N_("Reference run"),
    "rejected": N_("rejected"),
    "running": N_("running"),
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

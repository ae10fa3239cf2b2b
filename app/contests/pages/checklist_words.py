"""The points of a contest's checklist as sentences, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping

from app.contests.service.checklist import Point
from app.core.messages import N_
from app.core.pages.languages import _, ngettext
from app.core.pages.type_words import type_word

SENTENCES = {
    "no-start": N_("No start is set."),
    "started": N_("Started %(time)s UTC."),
    "starts": N_("Starts %(time)s UTC."),
    "no-freeze": N_("The board does not freeze: everybody sees every result at once."),
    "freeze": N_("The board freezes %(time)s before the end."),
    "no-problems": N_("No problem is in the contest."),
    "no-answers": N_("%(label)s: without an expected answer %(names)s: nobody can answer these."),
    "no-statement": N_("%(label)s has no statement."),
    "verifying": N_("%(label)s is still being verified."),
    "verified-nothing": N_("%(label)s: its verification found no result: it is %(state)s."),
    "no-teams": N_("No team takes part."),
    "registration": N_("People may register by themselves with the contest's code."),
    "no-logins": N_("Without an account that can log in: %(names)s."),
    "no-graders": N_("No grader is able to judge."),
}


def sentence(point: Point) -> str:
    """The sentence of a point."""
    values = dict(point.values)
    if "names" in values:
        values["names"] = _names(values)
    if "state" in values:
        values["state"] = type_word(str(values["state"]))
    if point.key in SENTENCES:
        return _(SENTENCES[point.key], **values)
    return _counted(point.key, int(values.pop("num")), values)


def _counted(key: str, count: int, values: Mapping[str, object]) -> str:
    match key:
        case "problems":
            return ngettext("%(num)s problem is in the contest.", "%(num)s problems are in the contest.", count)
        case "verified-errors":
            return ngettext(
                "%(label)s: its verification found %(num)s error.",
                "%(label)s: its verification found %(num)s errors.",
                count,
                **values,
            )
        case "teams":
            return ngettext("%(num)s team takes part.", "%(num)s teams take part.", count)
        case "all-teams":
            return ngettext(
                "%(num)s team takes part, as every team of the server does.",
                "%(num)s teams take part, as every team of the server does.",
                count,
            )
        case "graders":
            return ngettext("%(num)s grader is ready to judge.", "%(num)s graders are ready to judge.", count)
    raise KeyError(key)


def _names(values: Mapping[str, str | int]) -> str:
    names, more = str(values["names"]), int(values["more"])
    return _("%(names)s and %(more)s more", names=names, more=more) if more else names

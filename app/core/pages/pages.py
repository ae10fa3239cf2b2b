"""Makes pages of templates, which escape what they are given, and serves the files that pages need.

- Types, states and roles as organisers' tables name them, in the reader's language; the API has them as keys.
- Texts of others are shown without marks of writing direction; letters have a direction without them.
"""

import re
from typing import Annotated, cast

from fastapi import Query, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.ext import InternationalizationExtension
from markupsafe import Markup

from app.core.messages import N_
from app.core.pages import forms, languages, wording
from app.core.pages.headers import PRIVATE, folders, versioned
from app.core.pages.languages import gettext, stored_values
from app.core.service import Service

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
    "verification": N_("Verification"),
    "identical": N_("identical"),
    "near": N_("near"),
}


def type_word(key: str) -> str:
    """A type in words; one that is not known as it is."""
    return gettext(WORDS[key]) if key in WORDS else key


MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def without_marks(value: object) -> object:
    """A value as a template shows it: a text without marks of direction, which could turn round the words after it."""
    if not isinstance(value, str) or value.isascii():
        return value
    shown = MARKS.sub("", value)
    return Markup(shown) if isinstance(value, Markup) else shown  # marks are no HTML


# The cookie, of each contest's pages, with the number of messages that the reader has seen.
READ = "jurado_read"
READ_COUNT = re.compile(r"[0-9]{1,6}")
ENVIRONMENT = Environment(
    loader=FileSystemLoader(folders("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=without_marks,  # also of whole sentences, with the texts that they name
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=[InternationalizationExtension],
)
ENVIRONMENT.policies["ext.i18n.trimmed"] = True
ENVIRONMENT.install_gettext_callables(languages.gettext, languages.plural, newstyle=True)  # type: ignore[attr-defined]
ENVIRONMENT.filters.update(
    tr=languages.gettext,  # of a message that Python marks by N_; never of data, which might be a message by chance
    points=wording.points,
    plain=wording.plain,
    size=wording.size,
    versioned=versioned,
    minute=forms.minute,
    stamp=forms.stamp,
    ordinal=wording.ordinal,
    stored_values=stored_values,
    said=languages.translate,
    type_word=type_word,
)


def page(template: str, request: Request, status: int = 200, **values: object) -> HTMLResponse:
    """A page of a template."""
    shared = reader_values(request)
    with languages.speaking(shared["spoken"]):
        known = {**shared, **values, "languages_known": languages.LANGUAGES}
        html = ENVIRONMENT.get_template(template).render(known)
    return HTMLResponse(html, status, headers={**PRIVATE, "Content-Language": shared["spoken"]})


def reader_values(request: Request) -> dict[str, str]:
    """The values of every page that differ by the request, beside who asks.

    `root` goes before addresses, so that they hold behind any path prefix; `daily_pages` are on or off; `read` counts
    the messages of the contest that were seen.
    """
    root = request.scope.get("root_path", "")
    theme, zone, here = forms.theme_of(request), forms.zone_of(request), forms.here_of(request)
    spoken = forms.language_of(request)
    daily = cast(Service, request.app.state.service).settings.daily
    read = request.cookies.get(READ, "")
    return {
        "root": root,
        "theme": theme,
        "zone": zone,
        "here": here,
        "spoken": spoken,
        "daily_pages": daily,
        "read": read if READ_COUNT.fullmatch(read) else "0",
    }


# What a page says after a change, by the word in its address.
DONE = {
    "made": N_("The contest is made. Put problems into it next."),
    "saved": N_("Saved."),
    "opened": N_("Saved. The scoreboard was frozen and is open now."),
    "reopened": N_("Saved. The contest had ended and continues."),
    "added": N_("Added."),
    "removed": N_("Removed."),
    "started": N_("The start is set: the contest begins within a minute."),
    "paused": N_("The contest's clock stands still; nobody may send answers."),
    "resumed": N_("The contest goes on."),
    "sent": N_("Sent."),
    "enrolled": N_("The teams take part."),
    "final": N_("The results are final."),
    "thawed": N_("The board is open."),
    "granted": N_("The role is given."),
    "revoked": N_("The role is taken back."),
}


Done = Annotated[str, Query(max_length=20)]

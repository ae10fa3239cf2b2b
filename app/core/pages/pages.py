"""Makes pages of templates, which escape what they are given, and serves the files that pages need.

- Types, states and roles as organisers' tables name them, in the reader's language; the API has them as keys.
- Marks of writing direction in texts of others: each text closes its own, so that no word after it is turned round.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, cast

from fastapi import Query, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.ext import InternationalizationExtension
from jinja2.runtime import Context
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
EMBEDDINGS, POP_EMBEDDING = frozenset("\u202a\u202b\u202d\u202e"), "\u202c"
ISOLATES, POP_ISOLATE = frozenset("\u2066\u2067\u2068"), "\u2069"


def closed(value: object) -> object:
    """A value as a template shows it: a text without ends of what it has not begun, and with those that it lacks.

    Text with well-paired marks, as people write Arabic or Hebrew names, stays as it is. HTML is closed as a whole: a
    translated sentence comes as HTML with the texts that it names in it.
    """
    if not isinstance(value, str) or value.isascii() or not MARKS.search(value):
        return value
    shown: list[str] = []
    still_open: list[str] = []
    for each in value:
        if each in EMBEDDINGS:
            still_open.append(POP_EMBEDDING)
        elif each in ISOLATES:
            still_open.append(POP_ISOLATE)
        elif each == POP_ISOLATE and POP_ISOLATE in still_open:
            while still_open.pop() != POP_ISOLATE:  # it ends the embeddings within it too
                pass
        elif each == POP_EMBEDDING and still_open[-1:] == [POP_EMBEDDING]:
            still_open.pop()
        elif each in {POP_EMBEDDING, POP_ISOLATE}:
            continue
        shown.append(each)
    whole = "".join([*shown, *reversed(still_open)])
    return Markup(whole) if isinstance(value, Markup) else whole  # marks are no HTML


# The cookie, of each contest's pages, with the number of messages that the reader has seen.
READ = "jurado_read"
READ_COUNT = re.compile(r"[0-9]{1,6}")
ENVIRONMENT = Environment(
    loader=FileSystemLoader(folders("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=closed,
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=[InternationalizationExtension],
)
ENVIRONMENT.policies["ext.i18n.trimmed"] = True
ENVIRONMENT.install_gettext_callables(languages.gettext, languages.plural, newstyle=True)  # type: ignore[attr-defined]


def _closing(translate: Callable[..., str]) -> Callable[..., str]:
    """A function of templates that closes the marks of direction of each text before it puts them into a sentence."""

    @pass_context
    def translated(context: Context, *message: object, **values: object) -> str:
        return translate(context, *message, **{name: closed(value) for name, value in values.items()})

    return translated


for each in ("gettext", "ngettext"):
    ENVIRONMENT.globals[each] = _closing(cast(Callable[..., str], ENVIRONMENT.globals[each]))
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

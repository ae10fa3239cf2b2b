"""Makes pages of templates, which escape what they are given, and serves the files that pages need."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import cast

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.ext import InternationalizationExtension
from jinja2.runtime import Context

from app.core.pages import languages, preferences, type_words, wording
from app.core.pages.asking import stored_values
from app.core.pages.direction import closed
from app.core.pages.headers import PRIVATE, takes_gzip
from app.core.pages.pieces import Piece, plain, zipped
from app.core.pages.static_files import folders, versioned
from app.core.service import Service

READ = "jurado_read"
"""The cookie, of each contest's pages, with the number of messages that the reader has seen."""
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
    minute=preferences.minute,
    stamp=preferences.stamp,
    ordinal=wording.ordinal,
    stored_values=stored_values,
    said=languages.translate,
    type_word=type_words.type_word,
)


def page(template: str, request: Request, status: int = 200, **values: object) -> HTMLResponse:
    """A page of a template."""
    return HTMLResponse(html_of(template, request, **values), status, headers=_headers(request))


def html_of(template: str, request: Request, **values: object) -> str:
    """The text of a page."""
    shared = reader_values(request)
    with languages.speaking(shared["spoken"]):
        return ENVIRONMENT.get_template(template).render({**shared, **values, "languages_known": languages.LANGUAGES})


def _headers(request: Request) -> dict[str, str]:
    return {**PRIVATE, "Content-Language": preferences.language_of(request)}


def reader_values(request: Request) -> dict[str, str]:
    """The values of every page that differ by the request, beside who asks.

    `root` goes before addresses, so that they hold behind any path prefix; `daily_pages` are on or off; `read` counts
    the messages of the contest that were seen.
    """
    root = request.scope.get("root_path", "")
    theme, zone, here = preferences.theme_of(request), preferences.zone_of(request), preferences.here_of(request)
    spoken = preferences.language_of(request)
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


def page_of_pieces(request: Request, pieces: Sequence[Piece]) -> Response:
    """A page whose pieces are zipped already, for readers who take that."""
    headers = {**_headers(request), "Vary": f"{PRIVATE['Vary']}, Accept-Encoding"}
    if not takes_gzip(request):
        return HTMLResponse(plain(pieces), headers=headers)
    return HTMLResponse(zipped(pieces), headers={**headers, "Content-Encoding": "gzip"})

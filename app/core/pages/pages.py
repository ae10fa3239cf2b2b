"""Makes pages of templates, which escape what they are given, and serves the files that pages need.

- Types, states and roles as organisers' tables name them, in the reader's language; the API has them as keys.
- Texts of others are shown without marks of writing direction; letters have a direction without them.
- Headers of pages and of the files that they need.
- Static files of pages, from memory: each is found, read, zipped and given its digest once (guarantee 6).
- The texts of the pages' scripts in one language, as a script that the pages load before theirs.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs

import polib
import segno
from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.ext import InternationalizationExtension
from markupsafe import Markup, escape

from app.core.messages import N_, NotFound
from app.core.pages import forms, languages, wording
from app.core.pages.languages import LANGUAGES, SOURCE, gettext, stored_values
from app.core.service import Service

POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin", "Cache-Control": "no-cache"}
# Of pages that differ by who asks.
PRIVATE = {**HEADERS, "Cache-Control": "private, no-cache", "Vary": "Cookie, Accept-Language"}


def script_of(language: str) -> str:
    """The script with the texts of a language; its plural rule is the catalogue's own, which is C and JavaScript."""
    catalogue = languages.catalogue(language)
    texts = json.dumps(texts_of_scripts(catalogue), ensure_ascii=False, separators=(",", ":"))
    rule = f"(n) => Number({catalogue.metadata['Plural-Forms'].partition('plural=')[2].rstrip(';')})"
    return f'"use strict";\nglobalThis.juradoMessages = {{ plural: {rule}, texts: {texts} }};\n'


def texts_of_scripts(catalogue: polib.POFile) -> dict[str, str | list[str]]:
    """The translated messages that stand in scripts: of those with a count every form, under the first."""
    texts: dict[str, str | list[str]] = {}
    for entry in catalogue.translated_entries():
        if any(path.endswith(".js") for path, _ in entry.occurrences):
            texts[entry.msgid] = list(entry.msgstr_plural.values()) if entry.msgid_plural else entry.msgstr
    return texts


APP = Path(__file__).parents[2]
# The languages of scripts with texts, by their names below /static/.
SCRIPTS = {f"messages/{language}.js": language for language in LANGUAGES if language != SOURCE}
SMALLEST_ZIPPED = 1024
DIGITS = 16
IMMUTABLE = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent, and what names its contents; `zipped` is None where zipping gains nothing."""

    media_type: str
    digest: str
    plain: bytes
    zipped: bytes | None


def reply(request: Request, name: str) -> Response:
    """A style sheet, script or image; 304 where the reader has it. Raises NotFound."""
    if name not in PATHS and name not in SCRIPTS:
        raise NotFound(N_("there is no file /static/%(name)s"), name=name[:100])
    file = static_file(name)
    tag, asked = f'"{file.digest}"', parse_qs(request.url.query).get("v")
    cached = IMMUTABLE if asked == [file.digest] else HEADERS["Cache-Control"]
    headers = {**HEADERS, "Cache-Control": cached, "ETag": tag, "Vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if file.zipped is None or "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(file.plain, media_type=file.media_type, headers=headers)
    return Response(file.zipped, media_type=file.media_type, headers={**headers, "Content-Encoding": "gzip"})


def versioned(name: str) -> str:
    """The name of a file with the digest of its contents, for an address: `jurado.css?v=1f0c...`."""
    return f"{name}?v={static_file(name).digest}"


def folders(name: str) -> list[Path]:
    """Return the shared folder of this name (`static`, `templates`), then that of each feature."""
    return [APP / "core/pages" / name, *sorted(APP.glob(f"*/{name}"))]


# The files of all features by their names below /static/.
PATHS: Mapping[str, Path] = {
    str(path.relative_to(folder)): path for folder in folders("static") for path in folder.rglob("*") if path.is_file()
}


@cache
def static_file(name: str) -> StaticFile:
    """Read and zip a file once: each page names its digest (guarantee 6)."""
    plain = script_of(SCRIPTS[name]).encode() if name in SCRIPTS else PATHS[name].read_bytes()
    media_type = guess_type(name)[0] or "application/octet-stream"
    zipped = gzip.compress(plain, 9, mtime=0) if len(plain) >= SMALLEST_ZIPPED else None
    return StaticFile(media_type, sha256(plain).hexdigest()[:DIGITS], plain, zipped)


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


def qr(address: str) -> Markup:
    """An address as a QR code."""
    return Markup(segno.make_qr(address).svg_inline(omitsize=True, title=address))  # segno escapes it


MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def without_marks(value: object) -> object:
    """A value as a template shows it: a text without marks of direction, which could turn round the words after it."""
    if not isinstance(value, str) or value.isascii():
        return value
    shown = MARKS.sub("", value)
    return Markup(shown) if isinstance(value, Markup) else shown  # marks are no HTML


# The cookie, of each contest's pages, with the number of messages that the reader has seen, and of verdicts: `3.12`.
READ = "jurado_read"
READ_COUNT = re.compile(r"^[0-9]{1,6}(?:\.[0-9]{1,6})?$")
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


CODE = re.compile(r"`([^`]+)`")


def coded(text: str) -> Markup:
    """A text with what is between backticks as code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))  # of an escaped text


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
    named=languages.named,
    coded=coded,
    type_word=type_word,
    qr=qr,
)


def page(template: str, request: Request, status: int = 200, **values: object) -> HTMLResponse:
    """A page of a template, which says what was changed before where the address names it (`done`)."""
    shared, done = reader_values(request), DONE.get(request.query_params.get("done", ""))
    with languages.speaking(shared["spoken"]):
        known = {**shared, "done": done, **values, "languages_known": languages.LANGUAGES}
        html = ENVIRONMENT.get_template(template).render(known)
    return HTMLResponse(html, status, headers={**PRIVATE, "Content-Language": shared["spoken"]})


def reader_values(request: Request) -> dict[str, str]:
    """The values of every page that differ by the request, beside who asks.

    `root` goes before addresses, so that they hold behind any path prefix; `daily_pages` are on or off; `read` counts
    the notifications of the contest that were seen.
    """
    read = request.cookies.get(READ, "")
    return {
        "root": request.scope.get("root_path", ""),
        "theme": forms.theme_of(request),
        "zone": forms.zone_of(request),
        "here": forms.here_of(request),
        "spoken": forms.language_of(request),
        "daily_pages": cast(Service, request.app.state.service).settings.daily,
        "read": read if READ_COUNT.fullmatch(read) else "0",
    }


# What a page says after a change, by the word in its address.
DONE = {
    "made": N_("The contest is created. Add problems next."),
    "created": N_("The problem is created. Now edit its statement, test data and checker."),
    "predictions": N_("The contest is created. Add teams, then start it."),
    "saved": N_("Saved."),
    "opened": N_("Saved. The scoreboard was frozen and is open now."),
    "reopened": N_("Saved. The contest had ended and continues."),
    "added": N_("Added."),
    "removed": N_("Removed."),
    "started": N_("The contest starts in one minute."),
    "paused": N_("The contest is paused. No one can submit."),
    "resumed": N_("The contest continues."),
    "extended": N_("The contest ends 10 minutes later."),
    "frozen": N_("The scoreboard is frozen."),
    "sent": N_("Sent."),
    "enrolled": N_("The teams were added."),
    "final": N_("The results are final."),
    "thawed": N_("The scoreboard is open."),
    "granted": N_("Role assigned."),
    "revoked": N_("Role revoked."),
    "password": N_("Password changed. Other sessions and tokens have ended."),
    "deleted": N_("Deleted."),
    "accepted": N_("You accepted the role."),
    "declined": N_("You declined the role."),
}

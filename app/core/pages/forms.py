"""Forms without files: their fields, and documents of services made of them.

- Preferences of a reader, in cookies of their own: language, theme, zone of times. No one needs an account.
"""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import parse_qsl, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from jinja2 import pass_context
from jinja2.runtime import Context, Undefined
from markupsafe import Markup
from pydantic import BaseModel, ValidationError

from app.core.clics import format_time
from app.core.http import forms as http_forms
from app.core.http.forms import Expected, Form
from app.core.messages import N_, BadRequest, TooLarge, all_in_words, fault
from app.core.pages import languages, wording

# Bytes of a form.
LONGEST = 100_000
# Fields of a form: a list of teams has a box to tick for each.
MOST_FIELDS = 5000
# Digits of a number: every database stores it, and no document takes more of anything that is counted.
MOST_DIGITS = 9
M = TypeVar("M", bound=BaseModel)


@asynccontextmanager
async def open_form(
    request: Request, *, texts: Collection[str], files: Collection[str], most_files: int = 1
) -> AsyncIterator[Form]:
    """Read a form with at most so many files of each name, whose texts its request keeps; raises BadRequest."""
    expected = Expected(frozenset(texts), frozenset(files), len(texts) + most_files * len(files))
    async with http_forms.open_form(request, expected) as form:
        request.state.fields = dict(form.texts)
        yield form


async def read_form(request: Request, longest: int = LONGEST) -> dict[str, str]:
    """The fields of a form of at most so many bytes, which its request keeps; raises TooLarge or BadRequest."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > longest:
            raise TooLarge(N_("expected at most %(limit)s bytes, found more"), where="the form", limit=longest)
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:  # UnicodeDecodeError is one
        raise BadRequest(N_("expected fields in UTF-8, percent-encoded"), where="the form") from None
    # PostgreSQL keeps no text with a NUL.
    if any("\0" in value for _, value in fields):
        raise BadRequest(N_("expected text, found a NUL character"), where="the form")
    request.state.fields = {name: value.replace("\r\n", "\n") for name, value in fields}
    return dict(request.state.fields)


def whole_number(name: str, text: str) -> int | None:
    """The whole number from 0 on that a field holds, None for an empty one; raises BadRequest for other text."""
    digits = text.strip()
    if not digits:
        return None
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS):
        raise BadRequest(
            N_("expected a whole number of at most %(most)s digits, found %(found)r"),
            where=name,
            most=MOST_DIGITS,
            found=text[:40],
        )
    return int(digits)


def refuse_two_texts(fields: Mapping[str, str]) -> dict[str, str]:
    """The fields without the second spelling of a new password; raises BadRequest where it is another one."""
    others = {name: value for name, value in fields.items() if name != "again"}
    if fields.get("again", "") != fields.get("password", ""):
        raise BadRequest(N_("expected the same text twice, found two texts"), where="again")
    return others


def made_of(model: type[M], fields: Mapping[str, str]) -> M:
    """A document made of the fields that are filled in; raises BadRequest with what is wrong with them."""
    return made_of_values(model, {name: value for name, value in fields.items() if value})


def made_of_values(model: type[M], values: Mapping[str, object], *, strict: bool | None = None) -> M:
    """A document made of values, empty ones too; raises BadRequest with what is wrong with them."""
    try:
        return model.model_validate(values, strict=strict)
    except ValidationError as error:
        faults = [fault(each) for each in error.errors()]
        raise BadRequest(all_in_words(faults, len(faults)), errors=faults) from None


THEME_COOKIE, ZONE_COOKIE, LANGUAGE_COOKIE = "jurado_theme", "jurado_zone", "jurado_language"
COOKIES = {"theme": THEME_COOKIE, "zone": ZONE_COOKIE, "language": LANGUAGE_COOKIE}
# Where a scope remembers the language for its reader.
LANGUAGE = "jurado.language"
THEMES = ("light", "dark", "system")
MOST_KEPT = 40  # characters
KEPT_SECONDS = 365 * 24 * 3600


async def set_preferences(request: Request) -> Response:
    """Keep the language, the theme or the zone that a form names, and go back to the page.

    Languages and themes are chosen from a list: another one is kept and has no effect.
    """
    fields = await read_form(request)
    if zone := fields.get("zone"):
        zone_named(zone, "zone")
    # `next` comes from a form that any page may send: only addresses of ours are followed.
    root = request.scope.get("root_path") or "/"
    reply = RedirectResponse(inside(fields.get("next", "/")), 303)
    for field, cookie in COOKIES.items():
        if field in fields:
            reply.set_cookie(cookie, fields[field][:MOST_KEPT], max_age=KEPT_SECONDS, path=root, samesite="lax")
    return reply


def theme_of(request: Request) -> str:
    """The theme of a reader; `system` where none is kept."""
    theme = request.cookies.get(THEME_COOKIE, "")
    return theme if theme in THEMES else "system"


def language_of(request: Request) -> str:
    """The language for a reader: the kept one, otherwise the browser's, otherwise that of the settings."""
    chosen: str | None = request.scope.get(LANGUAGE)
    if chosen is None:
        cookie, accepted = request.cookies.get(LANGUAGE_COOKIE, ""), request.headers.get("accept-language", "")
        chosen = languages.chosen(cookie, accepted, request.app.state.service.settings.language)
        request.scope[LANGUAGE] = chosen
    return chosen


def accepted_languages(request: Request) -> str:
    """The languages a reader wants texts of problems in, as Accept-Language has them: the kept one first."""
    cookie, accepted = request.cookies.get(LANGUAGE_COOKIE, ""), request.headers.get("accept-language", "")
    return f"{cookie}, {accepted}" if cookie in languages.LANGUAGES else accepted or language_of(request)


def zone_of(request: Request) -> str:
    """The zone of a reader; empty where none is kept: times are in UTC then."""
    zone = request.cookies.get(ZONE_COOKIE, "")
    return zone if zone and is_zone(zone) else ""


def zone_named(name: str, where: str) -> ZoneInfo:
    """The time zone of this name; raises BadRequest where there is none."""
    if is_zone(name):
        return ZoneInfo(name)
    raise BadRequest(
        N_("expected the name of a time zone such as Europe/Bratislava, found %(found)r"), where=where, found=name[:40]
    )


# The hidden field of a form with the zone of its times (`moment`).
ZONE = "time_zone"


def moment_shown(moment: str | None, zone: str) -> str:
    """A moment of a document as a form has it: in a zone ("": UTC), with seconds if it has any; "" for none."""
    if moment is None:
        return ""
    local = datetime.fromisoformat(moment).astimezone(zone_named(zone or "UTC", ZONE)).replace(tzinfo=None)
    return local.isoformat(timespec="seconds").removesuffix(":00")


def moment(fields: Mapping[str, str], name: str) -> str | None:
    """The moment of a field (2026-11-22T09:00, in the form's zone) as documents have it; None for an empty one.

    The zone is the form's own, not the cookie's: that may have changed since the form was shown. A text that is no
    moment stays as it is, and the document refuses it.
    """
    text, zone = fields.get(name, "").strip(), zone_named(fields.get(ZONE) or "UTC", ZONE)
    if not text:
        return None
    try:
        return format_time(datetime.fromisoformat(text).replace(tzinfo=zone))
    except (ValueError, OverflowError):
        return text


def is_zone(name: str) -> bool:
    """Whether a time zone has this name."""
    try:
        ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return False
    return True


@pass_context
def minute(context: Context, moment: datetime) -> Markup:
    """A moment in the reader's zone, which is named beside it; in UTC for scripts and as a title."""
    zone = context.resolve("zone")
    utc = wording.minute(moment)
    shown = in_zone(moment, "" if isinstance(zone, Undefined) else zone)
    machine = f"{moment.astimezone(UTC):%Y-%m-%dT%H:%MZ}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(machine, utc, shown)


def in_zone(moment: datetime, zone: str) -> str:
    """A moment in a zone, which is named beside it; "": UTC."""
    return f"{languages.moment(moment, zone)} {zone}" if zone else wording.minute(moment)


@pass_context
def stamp(context: Context, moment: str | None) -> Markup:
    """A moment as documents have it (2026-11-22T03:40:00Z) in the reader's zone; an en dash where there is none."""
    return minute(context, datetime.fromisoformat(moment)) if moment else Markup("\N{EN DASH}")


def here_of(request: Request) -> str:
    """Return the address of the requested page within these pages, with its query string."""
    path = request.url.path.removeprefix(request.scope.get("root_path", ""))
    return f"{path}?{request.url.query}" if request.url.query else path


def inside(address: str) -> str:
    """An address within these pages; `/` for any other."""
    parts = urlsplit(address)
    local = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith("//")
    return address if local and "\\" not in address and address.isprintable() else "/"

"""Languages of pages: which one a reader gets, and texts, numbers and times in it. English is the source text.

The language of a request is a context variable, since wording is made deep below the handlers; work that is shared by
requests names its language in its key and enters it by `speaking`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.dates import format_skeleton, get_datetime_format, get_timezone
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from app.core.messages import Message

SOURCE = "en"
LANGUAGES = {SOURCE: "English", "es": "Español", "sk": "Slovenčina", "ru": "Русский", "ja": "日本語"}
"""The languages of pages, each by its own name."""
CATALOGUES = Path(__file__).parent / "translations"
"""The catalogues, `es.po` for Spanish: each is read once, when the first reader wants it."""
MOST_ASKED = 20
"""Languages of an Accept-Language header that are looked at."""

_language: ContextVar[str] = ContextVar("language", default=SOURCE)


def language() -> str:
    """The language that is spoken to the reader of this request."""
    return _language.get()


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak a language while the block runs."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


@cache
def translations(language: str) -> NullTranslations:
    """The texts of a language."""
    if language == SOURCE:
        return NullTranslations()
    compiled = BytesIO()
    with (CATALOGUES / f"{language}.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)


def gettext(message: str) -> str:
    """A message in the reader's language, its placeholders as they are."""
    return translations(_language.get()).gettext(message) if message else ""


def plural(one: str, many: str, count: int) -> str:
    """The form of a message that goes with a count, its placeholders as they are."""
    return translations(_language.get()).ngettext(one, many, count)


def _(message: str, **values: object) -> str:
    """A message in the reader's language, with values for its placeholders such as `%(name)s`."""
    text = gettext(message)
    return text % values if values else text


def ngettext(one: str, many: str, count: int, **values: object) -> str:
    """A message about a count, which is `%(num)s` in it."""
    return plural(one, many, count) % {"num": count, **values}


def translate(message: object) -> str:
    """Return a message in the reader's language; any other value as it is."""
    if not isinstance(message, Message):
        return str(message)
    text = gettext(message.id)
    values = {name: translate(each) if isinstance(each, Message) else each for name, each in message.values.items()}
    return text % values if values else text


def decimal(text: str) -> str:
    """A number as programs write it (12.5), with the reader's decimal sign."""
    return text.replace(".", _decimal_sign(_language.get()))


@cache
def _decimal_sign(language: str) -> str:
    return str(Locale(language).number_symbols["latn"]["decimal"])


def moment(time: datetime, zone: str) -> str:
    """A moment by the clock of a zone, to the minute: in English as ISO 8601 has it, else as the language writes it."""
    local = time.astimezone(get_timezone(zone))
    if _language.get() == SOURCE:
        return f"{local:%Y-%m-%d %H:%M}"
    locale = _language.get()
    date = format_skeleton("yMMMd", local, locale=locale)
    both = str(get_datetime_format("medium", locale=locale)).replace("'", "")
    return both.replace("{1}", date).replace("{0}", f"{local:%H:%M}")


def chosen(cookie: str, accepted: str, default: str) -> str:
    """The language for a reader: that of the cookie, else the best that the browser accepts, else the default."""
    if cookie in LANGUAGES:
        return cookie
    return next((each for each in _asked(accepted) if each in LANGUAGES), default)


def _asked(accepted: str) -> list[str]:
    """The languages of an Accept-Language header without their regions, the most wanted first."""
    wanted = []
    for part in accepted.split(",")[:MOST_ASKED]:
        tag, _, rest = part.partition(";")
        name, _, weight = rest.strip().partition("=")
        try:
            quality = float(weight) if name.strip() == "q" else 1.0
        except ValueError:
            quality = 0.0
        if quality > 0:
            wanted.append((-quality, tag.strip().partition("-")[0].lower()))
    return [tag for _, tag in sorted(wanted, key=lambda pair: pair[0])]

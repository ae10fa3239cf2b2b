"""Languages of pages: which one a reader gets, and texts, numbers and times in it. English is the source text.

The language of a request is a context variable, since wording is made deep below the handlers; work that is shared by
requests names its language in its key and enters it by `speaking`. Catalogues are read once: a page has hundreds of
texts (guarantee 6).

- Questions before a form is carried out: is this meant, and which of two values is to be kept.
- Checkers' messages in the reader's language, by their keys and values; in English where the key is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

import polib

from app.core.messages import N_, BadRequest, Message
from app.domain.documents import MessageDocument, PhraseDocument
from checkers.doors import SENTENCES, Phrase

SOURCE = "en"
# The languages of pages, each by its own name.
LANGUAGES = {SOURCE: "English", "es": "Español", "sk": "Slovenčina", "ru": "Русский", "ja": "日本語"}
DECIMAL_SIGNS = {SOURCE: ".", "es": ",", "sk": ",", "ru": ",", "ja": "."}
# Moments of other languages, as CLDR writes them, and the names of months in them.
MOMENTS = {
    "es": "{day} {month} {year}, {time}",
    "sk": "{day}. {number}. {year}, {time}",
    "ru": "{day} {month} {year}\u202fг., {time}",  # noqa: RUF001 - Russian
    "ja": "{year}年{number}月{day}日 {time}",
}
MONTHS = {
    "es": ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"],
    "ru": ["янв.", "февр.", "мар.", "апр.", "мая", "июн.", "июл.", "авг.", "сент.", "окт.", "нояб.", "дек."],
}
# The catalogues, `es.po` for Spanish: each is read once, when the first reader wants it.
CATALOGUES = Path(__file__).parent / "translations"
# Languages of an Accept-Language header that are looked at.
MOST_ASKED = 20

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
    return GNUTranslations(BytesIO(catalogue(language).to_binary()))


def catalogue(language: str) -> polib.POFile:
    """The messages of a language with their translations."""
    return polib.pofile(str(CATALOGUES / f"{language}.po"), encoding="utf-8")


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
    """Return a message or phrase in the reader's language; any other value as it is."""
    if isinstance(message, Phrase):
        return in_words_of(message)
    if not isinstance(message, Message):
        return str(message)
    text = gettext(message.id)
    values = {
        name: translate(each) if isinstance(each, Message | Phrase) else each for name, each in message.values.items()
    }
    return text % values if values else text


def named(names: Mapping[str, str], default: str) -> str:
    """Return a problem's name in the reader's language, or in English, or any."""
    return names.get(language()) or names.get(SOURCE) or next(iter(names.values()), default)


def decimal(text: str) -> str:
    """A number as programs write it (12.5), with the reader's decimal sign."""
    return text.replace(".", DECIMAL_SIGNS[_language.get()])


def moment(time: datetime, zone: str) -> str:
    """A moment by the clock of a zone, to the minute: in English as ISO 8601 has it, else as the language writes it."""
    local, spoken = time.astimezone(ZoneInfo(zone)), _language.get()
    if spoken == SOURCE:
        return f"{local:%Y-%m-%d %H:%M}"
    month = MONTHS[spoken][local.month - 1] if spoken in MONTHS else ""
    return MOMENTS[spoken].format(
        day=local.day, month=month, number=local.month, year=local.year, time=f"{local:%H:%M}"
    )


def chosen(cookie: str, accepted: str, default: str) -> str:
    """The language for a reader: that of the cookie, else the best that the browser accepts, else the default."""
    if cookie in LANGUAGES:
        return cookie
    return next((each for each in _asked(accepted) if each in LANGUAGES), default)


def _asked(accepted: str) -> list[str]:
    """The languages of an Accept-Language header without their regions: browsers send the most wanted first."""
    tags = (part.partition(";")[0].strip() for part in accepted.split(",")[:MOST_ASKED])
    return [tag.partition("-")[0].lower() for tag in tags]


SURE = "sure"
# The hidden field with the stored values that a form was filled with (`stored_values`).
STORED = "stored"


@dataclass(frozen=True, slots=True)
class Answer:
    """A button of a question: its text, and the field that it sends."""

    text: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A field whose stored value has changed since the form was shown; `is_own`: its sender has changed it, too."""

    name: str
    stored: str
    sent: str
    is_own: bool


class AskFirst(Exception):
    """A form that is carried out only after an answer.

    replaced  hidden fields of the next form with other values than were sent
    texts     what others wrote in the meantime
    """

    def __init__(
        self,
        title: str,
        sentence: str,
        answers: Sequence[Answer],
        *,
        differences: Sequence[Difference] = (),
        replaced: Mapping[str, str] | None = None,
        texts: Sequence[str] = (),
        status: int = 200,
    ) -> None:
        super().__init__(title)
        self.title = title
        self.sentence = sentence
        self.answers = answers
        self.differences = differences
        self.replaced = replaced or {}
        self.texts = texts
        self.status = status

    def resent_fields(self, fields: Mapping[str, str]) -> dict[str, str]:
        """The fields that the next form sends again."""
        asked = {each.name for each in self.answers} | {each.name for each in self.differences}
        return {**{name: value for name, value in fields.items() if name not in asked}, **self.replaced}


def confirm(fields: Mapping[str, str], title: str, sentence: str, button: str) -> None:
    """Raise AskFirst unless the reader has confirmed this."""
    if fields.get(SURE) != "yes":
        raise AskFirst(title, sentence, [Answer(button, SURE, "yes")])


def stored_values(values: Mapping[str, str]) -> str:
    """The values that a form is filled with, as its hidden field `stored` carries them: the form's version."""
    return json.dumps(dict(values), sort_keys=True, ensure_ascii=False)


def refuse_outdated(fields: Mapping[str, str], stored: Mapping[str, str]) -> None:
    """Raise AskFirst, with both values of each field, if what is stored has changed since the form was shown.

    Call it in the transaction that writes, after its rows are locked. A program may leave `stored` out.
    """
    if STORED not in fields:
        return
    shown = _shown(fields[STORED])
    differences = [
        Difference(name, value, sent, is_own=sent != shown.get(name))
        for name, value in stored.items()
        if value != shown.get(name) and (sent := fields.get(name, "").strip()) != value
    ]
    if differences:
        raise AskFirst(
            _("Someone else has changed this"),
            _("Nothing was saved yet. Choose the value to keep for each field."),
            [Answer(_("Save"), SURE, "")],
            differences=differences,
            replaced={STORED: stored_values(stored)},
            status=409,
        )


def _shown(text: str) -> Mapping[str, str]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise BadRequest(N_("expected the values that the form was filled with, found other text"), where="stored")
    return values


def in_words(message: MessageDocument) -> str:
    """Return a checker's message for the reader: translated where its key is known and its text is that of the key."""
    sentence, text, args = SENTENCES.get(message["key"]), message["text"], message["args"]
    try:
        if sentence is None or sentence % args != text:  # a package's own checker, with words of its own
            return text
        shown = {name: _phrase(each, str(args[name])) for name, each in message.get("phrases", {}).items()}
    except KeyError:  # the same, with other values
        return text
    return gettext(sentence) % {**args, **shown}


def in_words_of(text: str) -> str:
    """Return a phrase of a game in the reader's language; other text as its catalogue has it."""
    return _phrase(cast(PhraseDocument, text.document()), text) if isinstance(text, Phrase) else gettext(text)


def _phrase(phrase: PhraseDocument, english: str) -> str:
    """Return a phrase in the reader's language; in English where no catalogue has it, as it may come from a package."""
    source: str = phrase["source"]
    translated = gettext(source)
    if translated == source:
        return english
    values = {name: _value(each) for name, each in phrase["values"].items()}
    return translated % values if values else translated


def _value(value: object) -> object:
    """Return a value of a phrase, which may be a phrase itself."""
    if not isinstance(value, dict):
        return value
    inner = {name: _value(each) for name, each in value["values"].items()}
    return _phrase(cast(PhraseDocument, value), value["source"] % inner if inner else value["source"])

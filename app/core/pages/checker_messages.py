"""Checkers' messages in the reader's language, by their keys and values; in English where the key is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from app.core.messages import N_
from app.core.pages.languages import SOURCE, gettext, language
from checkers.doors import Phrase

SENTENCES = {
    "accepted": N_("accepted"),
    "comesolo-eaten": N_("%(eaten)s of %(pieces)s pieces eaten"),
    "final-case": N_("counts after the end of the contest"),
    "no-answer": N_("no answer was sent for this test case"),
    "waiting": N_("waiting to be judged"),
    "expected-found": N_("%(where)s: expected %(expected)s, found %(found)s"),
    "game-won": N_("won in %(moves)s moves"),
    "judge-error": N_("the judge failed on this answer; it is not your fault"),
    "lasttreat-right": N_("%(positions)s positions right"),
    "netgame-right": N_("right"),
    "optimiza-collected": N_("%(total)s collected on %(cells)s cells"),
    "rejected": N_("rejected"),
    "rejected-at": N_("%(where)s: rejected"),
    "rollingballs-score": N_(
        "%(right)s of %(balls)s cells have the right colour, %(other)s another colour, after %(rolls)s rolls"
    ),
    "too-large": N_("expected at most %(limit)s bytes, found more"),
}
"""The sentence of each key, as checkers write it in English."""


class Said(Protocol):
    """A message of a checker."""

    @property
    def key(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def args(self) -> Mapping[str, int | str]: ...  # noqa: D102
    @property
    def phrases(self) -> Mapping[str, Any]: ...  # noqa: D102


def in_words(message: Said) -> str:
    """Return a message for the reader: translated where its key is known and its text is that of the key."""
    sentence = SENTENCES.get(message.key)
    if sentence is None or language() == SOURCE:
        return message.text
    try:
        if sentence % message.args != message.text:  # a package's own checker, with a key of ours and words of its own
            return message.text
        shown = {name: _phrase(each, str(message.args[name])) for name, each in message.phrases.items()}
    except KeyError:  # the same, with other values
        return message.text
    return gettext(sentence) % {**message.args, **shown}


def in_words_of(text: str) -> str:
    """Return a phrase of a game in the reader's language; other text as its catalogue has it."""
    return _phrase(text.document(), text) if isinstance(text, Phrase) else gettext(text)


def _phrase(phrase: Mapping[str, Any], english: str) -> str:
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
    return _phrase(value, value["source"] % inner if inner else value["source"])

"""English sentences of services and games in the reader's language: recognised by their words, with values as they are.

Services and games speak English, as the API and the commands do, and know no catalogue. A sentence that is not known
here stands in English on a page, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from app.core.pages.languages import SOURCE, gettext, language

PLACE = re.compile(r"%\((\w+)\)s")
LONGEST = 2000
"""Characters of a sentence that is looked at."""
DEEPEST = 4
"""Sentences within sentences that are looked at."""


class KnownSentences:
    """Sentences with places such as `%(name)s`; those of `within` hold sentences or phrases themselves.

    Earlier ones are tried first; sentences without places before all others.
    """

    def __init__(self, sentences: Sequence[str], within: Collection[str] = ()) -> None:
        self.whole = frozenset(each for each in sentences if not PLACE.search(each))
        self.with_places = {each: PLACE.split(each) for each in sentences if each not in self.whole}
        self._within = frozenset(within)

    def in_words(self, text: str, depth: int = DEEPEST) -> str:
        """A sentence in the reader's language; as it is where it is not known."""
        if language() == SOURCE or len(text) > LONGEST or not depth:
            return text
        if text in self.whole:
            return gettext(text)
        for sentence, parts in self.with_places.items():
            if (values := values_of(parts, text)) is not None:
                return gettext(sentence) % {
                    name: self.in_words(value, depth - 1) if name in self._within else value
                    for name, value in values.items()
                }
        return text


def values_of(parts: Sequence[str], text: str) -> Mapping[str, str] | None:
    """What stands in the places of a sentence (`parts`: words and names in turn), each as short as can be.

    None for another text. It takes time in proportion to the text.
    """
    first, last = parts[0], parts[-1]
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return None
    at, end = len(first), len(text) - len(last)
    values: dict[str, str] = {}
    for name, words in zip(parts[1:-2:2], parts[2:-2:2], strict=True):
        until = text.find(words, at, end)
        if until <= at:
            return None
        values[name], at = text[at:until], until + len(words)
    if at >= end:
        return None
    values[parts[-2]] = text[at:end]
    return values

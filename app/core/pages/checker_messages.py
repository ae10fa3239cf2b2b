"""Checkers' messages in the reader's language, made of key and values; the English text where it says more."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from app.core.pages.languages import N_, SOURCE, gettext, language

SENTENCES = {
    "accepted": N_("accepted"),
    "comesolo-eaten": N_("%(eaten)s of %(pieces)s pieces eaten"),
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
PHRASES = (
    N_("line %(number)s"),
    N_("end of file"),
    N_("end of the plan"),
    N_("jump %(number)s (%(line)s)"),
    N_("roll %(number)s (%(line)s)"),
    N_("step %(number)s (%(line)s)"),
    N_("cell %(number)s (%(line)s)"),
    N_("position %(number)s (%(line)s)"),
    N_("position %(number)s"),
    N_("token %(number)s"),
    N_("at most %(count)s numbers"),
    N_("at most %(count)s jumps (pieces minus 1)"),
    N_("%(numbers)s numbers for %(count)s jumps"),
    N_("%(numbers)s numbers for %(count)s positions"),
    N_("%(numbers)s numbers for %(count)s cells"),
    N_("%(count)s more numbers"),
    N_("nothing after %(count)s jumps"),
    N_("nothing after %(count)s cells"),
    N_("nothing"),
    N_("none"),
    N_("more"),
    N_("an empty file"),
    N_("an empty line"),
    N_("the end of the file"),
    N_("the number of jumps"),
    N_("the number of rolls"),
    N_("the number of steps"),
    N_("the number of cells"),
    N_("the least number of steps"),
    N_("the winner, 1 or 2"),
    N_("a decimal number without sign, leading zeros or letters"),
    N_("rows and columns below %(size)s"),
    N_("a landing cell two cells away in a row, a column or a diagonal"),
    N_("a piece to jump with"),
    N_("a piece to jump over"),
    N_("an empty cell to land on"),
    N_("an empty cell at %(cell)s"),
    N_("a piece at %(cell)s"),
    N_("a ball at %(cell)s"),
    N_("a wall"),
    N_("an empty cell"),
    N_("a winning move, or 0 0 where there is none"),
    N_("a wrong answer"),
    N_("answer"),
    N_("more: %(found)s"),
    N_("none at %(cell)s"),
    N_("line %(number)s, roll %(roll)s"),
    N_("%(numbers)s numbers, three a roll and their count"),
    N_("%(sum)s, the sum of the %(count)s cells"),
    N_("the sum"),
    N_("%(least)s to %(most)s cells"),
    N_("a cell %(distance)s away from %(cell)s in a straight line"),
    N_("a cell not visited before"),
    N_("a cell of the board"),
    N_("a cell without a piglet to land on"),
    N_("a column below %(size)s"),
    N_("a row below %(size)s"),
    N_("a direction below %(size)s"),
    N_("rows and columns from %(least)s to %(most)s"),
    N_("a decimal number without plus sign, leading zeros or letters"),
    N_("a free cell to land on"),
    N_("a number from one pile or the same number from both"),
    N_("a number of steps up to %(most)s, or -1"),
    N_("a number up to %(most)s"),
    N_("a piglet at %(cell)s"),
    N_("a piglet on every haystack after %(steps)s steps"),
    N_("a piglet to jump over"),
    N_("a piglet to move"),
    N_("a step not made before"),
    N_("a tree at %(cell)s"),
    N_("a value of at least %(least)s"),
    N_("at most %(count)s cakes"),
    N_("at most %(count)s from a pile"),
    N_("at most %(count)s pieces of fruit"),
    N_("at most %(count)s rolls"),
    N_("digits and white space (space, tab, line feed, carriage return)"),
    N_("no plan, or %(numbers)s numbers for %(steps)s steps"),
    N_("nothing after %(count)s steps"),
    N_("nothing after %(count)s"),
    N_("one cell, or two over a piglet, in a row or a column"),
    N_("that of cell %(number)s, %(cell)s"),
    N_("the rope to cut, %(least)s to %(most)s"),
    N_("the winner and, if that is the first player, a winning cut"),
    N_("%(value)s at %(cell)s"),
    N_("%(start)s to %(end)s"),
)
PLACE = re.compile(r"%\((\w+)\)s")
VALUE = re.compile(r"[^,]+|\([0-9, -]+\)")
"""What stands in a place of a phrase: a number, a cell, or a phrase without a comma."""
PARTS = {known: PLACE.split(known) for known in PHRASES}
"""Each phrase as its words and the names of its places in turn, words at both ends."""
"""The phrases that checkers put into a sentence; others stay in English."""


class Said(Protocol):
    """A message of a checker."""

    @property
    def key(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def args(self) -> Mapping[str, int | str]: ...  # noqa: D102


def in_words(message: Said) -> str:
    """A message for the reader; only where key and values say all that its English text says is it translated."""
    sentence = SENTENCES.get(message.key)
    if sentence is None or language() == SOURCE or _filled(sentence, message.args) != message.text:
        return message.text
    return gettext(sentence) % {
        name: phrase(value) if isinstance(value, str) else value for name, value in message.args.items()
    }


def _filled(sentence: str, values: Mapping[str, int | str]) -> str | None:
    try:
        return sentence % values
    except KeyError:  # a package's own checker may use a key of ours with values of its own
        return None


def phrase(text: str) -> str:
    """A phrase in the reader's language, and so what stands in its places; as it is where it is not known."""
    for known, parts in PARTS.items():
        if (values := _values(parts, text)) is not None:
            return gettext(known) % {name: phrase(value) for name, value in values.items()}
    return text


def _values(parts: Sequence[str], text: str) -> dict[str, str] | None:
    """What stands in the places of a phrase that a text is; None for another text. Takes time in proportion to it."""
    values: dict[str, str] = {}
    if not text.startswith(parts[0]):
        return None
    at = len(parts[0])
    for name, words in zip(parts[1::2], parts[2::2], strict=True):
        is_last = len(values) == len(parts) // 2 - 1
        end = len(text) - len(words) if is_last and text.endswith(words) else text.find(words, at + 1) if words else -1
        if end <= at or VALUE.fullmatch(text, at, end) is None:
            return None
        values[name] = text[at:end]
        at = end + len(words)
    return values if at == len(text) else None

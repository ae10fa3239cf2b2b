"""The doors every checker opens, and the words they answer with.

A checker is a plain module `checkers/<slug>.py` that satisfies :class:`Checker`. Its docstring has these headings, in
this order: statement in one sentence, Instance, Answer, Raw score, Rejected when, Source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from types import MappingProxyType
from typing import Any, Protocol, Self, TypeVar, cast

Exact = int | Fraction
"""A raw score or a multiplier: an integer or a ratio of two, never a float."""

I = TypeVar("I")  # noqa: E741 - the instance of a problem; one letter, as type variables are
A = TypeVar("A")

LONGEST_QUOTE = 40


class Phrase(str):
    """Text with its English source and values, as an argument of a message: so a page can translate what is in it.

    source  an English text with placeholders such as %(count)s; values may be phrases too
    """

    source: str
    values: Mapping[str, object]

    def __new__(cls, source: str, /, **values: object) -> Self:
        """Fill the values into the English text."""
        text = super().__new__(cls, source % values if values else source)
        text.source, text.values = source, values
        return text

    def document(self) -> dict[str, Any]:
        """Return source and values as JSON."""
        values = {
            name: each.document() if isinstance(each, Phrase) else each if isinstance(each, int) else str(each)
            for name, each in self.values.items()
        }
        return {"source": self.source, "values": values}


def N_(source: str) -> str:
    """Mark the source of a phrase that is made elsewhere."""
    return source


SENTENCES: Mapping[str, str] = {
    "accepted": N_("accepted"),
    "comesolo-eaten": N_("%(eaten)s of %(pieces)s pieces eaten"),
    "expected-found": N_("%(where)s: expected %(expected)s, found %(found)s"),
    "final-case": N_("counts after the end of the contest"),
    "game-won": N_("won in %(moves)s moves"),
    "judge-error": N_("the judge failed on this answer; it is not your fault"),
    "lasttreat-right": N_("%(positions)s positions right"),
    "lazypiglets-right": N_("right: %(answer)s"),
    "lazypiglets-unknown": N_("%(answer)s, not compared: no expected answer"),
    "netgame-right": N_("right"),
    "no-answer": N_("no answer was sent for this test case"),
    "optimiza-collected": N_("%(total)s collected on %(cells)s cells"),
    "output-partly-correct": N_("output is partially correct"),
    "output-right": N_("output is correct"),
    "output-wrong": N_("output isn't correct"),
    "partly-correct": N_("partially correct"),
    "rejected": N_("rejected"),
    "rejected-answer": N_("the checker rejects this answer"),
    "rejected-at": N_("%(where)s: rejected"),
    "rollingballs-score": N_(
        "%(right)s of %(balls)s cells have the right colour, %(other)s another colour, after %(rolls)s rolls"
    ),
    "too-large": N_("expected at most %(limit)s bytes, found more"),
    "unexpected-end": N_("unexpected end of file"),
    "waiting": N_("waiting to be judged"),
    "wrong-answer": N_("wrong answer"),
    "wrong-format": N_("wrong output format"),
}
"""The English sentence of each key of a message: pages show a message with such a key in the reader's language."""


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence for people: a key with arguments, so that a page can translate it, beside its English text."""

    key: str
    text: str
    args: Mapping[str, str | int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def phrases(self) -> dict[str, dict[str, Any]]:
        """The sources of the arguments that are phrases, as JSON."""
        return {name: value.document() for name, value in self.args.items() if isinstance(value, Phrase)}


def message_of(key: str, **args: str | int) -> Message:
    """Return the message of a key of SENTENCES."""
    return Message(key, SENTENCES[key] % args, args)


class Rejected(Exception):
    """The answer (or instance) is not valid: a verdict on the file, never a fault of the judge.

    `text` says where, what was expected and what was found. `key` and `args` let a page say it in another language.
    """

    def __init__(self, text: str, *, key: str = "rejected", **args: str | int) -> None:
        super().__init__(text)
        self.message = Message(key, text, args)

    @classmethod
    def at(cls, where: str, *, expected: str, found: str) -> Rejected:
        """Build the usual sentence: `where: expected ..., found ...`."""
        text = f"{where}: expected {expected}, found {found}"
        return cls(text, key="expected-found", where=where, expected=expected, found=found)


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a valid answer.

    raw         the exact raw score, never negative
    max_raw     a bound no answer can pass, where one is known
    multiplier  0..1, the share of the case's points for absolute scoring; None where only relative scoring makes sense
    message     a sentence for the contestant
    """

    raw: Exact
    max_raw: Exact | None = None
    multiplier: Exact | None = None
    message: Message = field(default_factory=lambda: Message("accepted", "accepted"))


class Checker(Protocol[I, A]):
    """A module that reads and scores the answers of one problem."""

    def read_instance(self, data: bytes) -> I:
        """Parse and validate a test case's input; raises :class:`Rejected` if it is malformed."""
        ...

    def read_answer(self, data: bytes, instance: I) -> A:
        """Parse and validate an answer file; raises :class:`Rejected` and nothing else, whatever the bytes."""
        ...

    def write_answer(self, answer: A) -> str:
        """Render an answer so that `read_answer` gives it back."""
        ...

    def score_answer(self, instance: I, answer: A, reference: bytes | None = None) -> Score:
        """Score a valid answer; `reference` is the case's `.ans` file as stored. A wrong answer raises Rejected too."""
        ...


# Any: a checker's instances and answers are its own.
AnyChecker = Checker[Any, Any]


def open_checker(slug: str, args: Sequence[str] = ()) -> AnyChecker:
    """Open the checker of a problem; `slug` comes from the catalogue, never from a request.

    `args` are the case's output_validator_args: a checker that takes some has `configure(args) -> Checker`. Raises
    ValueError where they are not understood.
    """
    module = import_module(f"checkers.{slug}")
    if not args:
        return cast(AnyChecker, module)
    if not hasattr(module, "configure"):
        raise ValueError(f"checker {slug}: expected no arguments, found {list(args)}")
    return cast(AnyChecker, module.configure(args))


def check_instance(checker: AnyChecker, instance: Any) -> None:
    """Hold an instance that was read against what a test case must be beyond its format; raises :class:`Rejected`.

    A checker that asks for more has a function `check_instance(instance)`: it is asked when a test case is taken, and
    not at each judgement.
    """
    own = getattr(checker, "check_instance", None)
    if own is not None:
        own(instance)


def check_reference(checker: AnyChecker, instance: Any, data: bytes) -> Score | None:
    """Hold an expected answer (a `.ans` file) against its case; raises :class:`Rejected` where it is not one.

    A checker whose `.ans` files are no answers has a function `check_reference(data, instance)`, which returns the
    score of the answer that the file was made from, or None if that is not known. With any other checker the file must
    be an answer that is accepted beside itself.
    """
    own = getattr(checker, "check_reference", None)
    if own is not None:
        return cast("Score | None", own(data, instance))
    return checker.score_answer(instance, checker.read_answer(data, instance), data)


def quote(data: bytes) -> str:
    """Show a piece of a file in a message: short, in quotes, with every odd byte spelt out."""
    shown = data[:LONGEST_QUOTE].decode("latin-1").encode("unicode_escape").decode("ascii")
    more = f"... ({len(data)} bytes)" if len(data) > LONGEST_QUOTE else ""
    return f'"{shown}"{more}'

"""Messages for users: an English source text as id, with named values. Pages translate it, others format English."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeAlias


class Message:
    """A text that users read, not yet in a language.

    id      the English source text, with placeholders such as %(team)s; catalogues have its translations
    values  what the placeholders stand for; a value may be a message too
    """

    __slots__ = ("id", "values")

    def __init__(self, id_: str, /, **values: object) -> None:
        self.id = id_
        self.values = values

    def __str__(self) -> str:
        """Format the text in English."""
        return self.id % self.values if self.values else self.id

    def __repr__(self) -> str:
        return f"Message({self.id!r}, {self.values!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.id, self.values) == (other.id, other.values)

    def __hash__(self) -> int:
        return hash(self.id)


# A value as it is, such as what was found, or a message.
Text: TypeAlias = "str | Message"
# A fault of a field: `where`, `expected` and `found`, or `where` and `message`.
Fault: TypeAlias = dict[str, Text]


class WrongValue(ValueError):
    """A value that is not what a field takes; the message says what was expected."""

    def __init__(self, expected: str | Message, /, **values: object) -> None:
        self.expected = as_message(expected, values)
        super().__init__(f"expected {self.expected}")


class WrongProperty(ValueError):
    """A property that contradicts others of its object, or has none of its values; the message says so."""

    def __init__(self, message: str, /, *, where: str, **values: object) -> None:
        self.message = Message(message, **values)
        self.where = where
        super().__init__(f"{where}: {self.message}")


def as_message(message: str | Message, values: Mapping[str, object]) -> Message:
    """Return a message of an id and values, or a whole message itself."""
    return message if isinstance(message, Message) else Message(message, **values)


def N_(message: str) -> str:
    """Return the message itself: marks an id for the catalogues, which is translated where it is shown."""
    return message


A_VALUE = Message(N_("a value"))
NOTHING = Message(N_("nothing"))


def joined(messages: Iterable[str | Message], separator: str = ", ") -> Message:
    """Return a list of messages as one; its id has placeholders only, so that no catalogue needs it."""
    values = {f"part{at}": each for at, each in enumerate(messages)}
    return Message(separator.join(f"%({name})s" for name in values), **values)


COUNTED = {
    "accounts": N_("%(count)s accounts"),
    "awards": N_("%(count)s awards"),
    "clarifications": N_("%(count)s clarifications"),
    "commentary": N_("%(count)s commentary"),
    "groups": N_("%(count)s groups"),
    "games": N_("%(count)s games"),
    "jobs": N_("%(count)s jobs"),
    "main scoreboards": N_("%(count)s main scoreboards"),
    "organizations": N_("%(count)s organizations"),
    "persons": N_("%(count)s persons"),
    "submissions": N_("%(count)s submissions"),
    "teams": N_("%(count)s teams"),
}


def counted(uses: Mapping[str, int]) -> Message:
    """Return numbers of objects by kind as a list such as `2 accounts, 1 awards`."""
    return joined(Message(COUNTED[kind], count=count) for kind, count in uses.items())


def in_english(fault: Mapping[str, object]) -> dict[str, object]:
    """Return a fault as the API shows it."""
    return {name: str(value) if isinstance(value, Message) else value for name, value in fault.items()}


NEAR = 0.5
LONGEST_NAME = 100
# Names that are compared with a misspelt one; with more, anybody could have thousands compared by each request.
MOST_NAMES = 300


def did_you_mean(message: Message, name: str, known: Iterable[str]) -> Message:
    """Return the refusal of a name with the nearest known name, or the message itself where none is near."""
    if len(name) > LONGEST_NAME:
        return message
    by_lower = {each.lower(): each for each in known}
    if len(by_lower) > MOST_NAMES:
        return message
    near = get_close_matches(name.lower(), by_lower, 1, NEAR)
    if not near:
        return message
    return Message(N_("%(sentence)s: did you mean %(name)r?"), sentence=message, name=by_lower[near[0]])

"""Names of people as usernames and ids."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container

from app.core.passwords import LETTERS, LETTERS_IN_NAMES, random_letters

NOT_IN_USERNAMES = re.compile(r"[^a-z0-9]+")
LONGEST_USERNAME = 30
DIGITS_OF_A_NAME = 6
IN_LATIN = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфхыэ", "abvgdeziyklmnoprstufhye", strict=True))
    | dict(zip("αβγδεζηικλμνξοπρσςτυφχω", "avgdeziiklmnxoprsstyfho", strict=True))
    | {"ж": "zh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ю": "yu", "я": "ya", "ъ": "", "ь": ""}
    | {"є": "ye", "і": "i", "ґ": "g", "ђ": "dj", "ј": "j", "љ": "lj", "њ": "nj", "ћ": "c", "џ": "dz", "ѕ": "dz"}
    | {
        "θ": "th",
        "ψ": "ps",
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ł": "l",
        "þ": "th",
        "ı": "i",
    }
)
"""Letters of Cyrillic, Greek and extended Latin that have no ASCII letter inside, as usernames write them."""


def plain(text: str) -> str:
    """Small letters without their accents: José Ñandú is jose nandu."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(each for each in letters if not unicodedata.combining(each)).lower()


def username_of(name: str) -> str:
    """The username that a name gives, such as ana.perez.

    A name in a script without a table gives a neutral one made of its digest: the same name always gives the same.
    """
    letters = unicodedata.normalize("NFC", name).lower().translate(IN_LATIN)  # й before its accent is taken off
    letters = plain(letters).translate(IN_LATIN)
    username = NOT_IN_USERNAMES.sub(".", letters).strip(".")[:LONGEST_USERNAME].strip(".")
    return username or f"user.{hashlib.sha256(plain(name).encode()).hexdigest()[:DIGITS_OF_A_NAME]}"


def free_username(base: str, taken: Container[str]) -> str:
    """Return the base, or the base with random letters if it is taken: a number would count hidden accounts."""
    free = base
    while free in taken:
        free = f"{base}-{random_letters()}"
    return free


def made_of(base: str, username: str) -> bool:
    """Return whether `free_username` could have made a username of a base that was taken."""
    return re.fullmatch(f"{re.escape(base)}-[{LETTERS}]{{{LETTERS_IN_NAMES}}}", username) is not None

"""Names of people as usernames and ids."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

NOT_IN_USERNAMES = re.compile(r"[^a-z0-9]+")
LONGEST_USERNAME = 30


def plain(text: str) -> str:
    """Small letters without their accents: José Ñandú is jose nandu."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(each for each in letters if not unicodedata.combining(each)).lower()


def username_of(name: str) -> str | None:
    """The username that a name gives, such as ana.perez; None for a name without a letter or digit of ASCII."""
    return NOT_IN_USERNAMES.sub(".", plain(name)).strip(".")[:LONGEST_USERNAME].strip(".") or None


def free_username(base: str, taken: Container[str]) -> str:
    """A username that is not taken: the base itself, or with the first number from 2 that makes it one."""
    free, number = base, 1
    while free in taken:
        number += 1
        free = f"{base}{number}"
    return free

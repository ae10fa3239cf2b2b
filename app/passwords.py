"""Passwords: kept as argon2id hashes, with the least cost that OWASP recommends (19 MiB, 2 passes, 1 lane).

One hash takes about 20 ms of one core, so that a thousand accounts are imported in seconds, not minutes.
"""

from __future__ import annotations

import secrets
import string

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

HASHER = PasswordHash((Argon2Hasher(time_cost=2, memory_cost=19 * 1024, parallelism=1),))
LETTERS = "".join(sorted(set(string.ascii_letters + string.digits) - set("0O1lI")))
"""What passwords are made of: nothing that looks like another letter, or like an option of a command."""


def hash_password(password: str) -> str:
    """Hash a password for keeping."""
    return HASHER.hash(password)


def password_fits(password: str, password_hash: str) -> bool:
    """Check a password against a kept hash, in time that does not depend on where they differ."""
    return HASHER.verify(password, password_hash)


def make_password() -> str:
    """Make a password nobody guesses and everybody can copy by hand: 93 random bits in 16 letters and digits."""
    return "".join(secrets.choice(LETTERS) for _ in range(16))

"""Passwords: kept as argon2id hashes, with the least cost that OWASP recommends (19 MiB, 2 passes, 1 lane).

One hash takes about 20 ms of one core, so that a thousand accounts are imported in 10 s.
"""

import secrets
import string
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from app.core.effort import EFFORT
from app.core.messages import N_, Message

LETTERS_IN_NAMES = 4
# The letters of made passwords: those that look or sound like another one are left out.
LETTERS = "".join(sorted(set(string.ascii_lowercase + string.digits) - set("01ilo")))
PARTS, LETTERS_OF_A_PART = 3, 5
LEAST = 10
CORES = 2  # of the machine that guarantee 6 names; a hash takes one, and 19 MiB
# Characters that a password has at least beside its username, so that `anna-2026` is none of anna's.
LEAST_BESIDE_NAME = 5
DECORATION = string.digits + string.punctuation + " "
COMMONEST = Path(__file__).with_name("common_passwords.txt")


def weakness(password: str, *names: str | None) -> Message | None:
    """The demand that a password of someone with these names fails, as text for a refusal; None for a good one."""
    if len(password) < LEAST:
        return Message(N_("at least %(count)s characters"), count=LEAST)
    plain = password.casefold()
    for name in filter(None, names):
        if len(plain.replace(name.casefold(), "")) < LEAST_BESIDE_NAME:
            return Message(N_("a password that is not the username"))
    if plain in (plain + plain)[1:-1]:  # it is its own rotation
        return Message(N_("a password that does not repeat one part of it"))
    if not {plain, plain.strip(DECORATION)}.isdisjoint(commonest()):
        return Message(N_("a password that is not one of the commonest, with or without digits around it"))
    return None


def commonest() -> frozenset[str]:
    """The commonest passwords, in lower case; the file names its source."""
    lines = COMMONEST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("# "))


def hasher() -> PasswordHash:
    """Return a hasher of the effort of this process."""
    return PasswordHash((Argon2Hasher(time_cost=EFFORT.hash_passes, memory_cost=EFFORT.hash_kib, parallelism=1),))


def hash_password(password: str) -> str:
    """Hash a password for keeping."""
    return hasher().hash(password)


def password_fits(password: str, password_hash: str) -> bool:
    """Check a password against a kept hash, in time that does not depend on where they differ."""
    return hasher().verify(password, password_hash)


def make_password() -> str:
    """Make a password no one guesses and everyone can copy by hand, such as k7fmq-2xwrt-hn9bd: 74 random bits."""
    return "-".join(random_letters(LETTERS_OF_A_PART) for _ in range(PARTS))


def random_letters(count: int = LETTERS_IN_NAMES) -> str:
    """Return random letters and digits that no one mistakes for others; by default as many as generated ids have."""
    return "".join(secrets.choice(LETTERS) for _ in range(count))


def hash_all(passwords: Mapping[str, str]) -> Mapping[str, str]:
    """Hash passwords, by their keys. This takes long, and must be done outside of transactions."""
    with ThreadPoolExecutor(CORES) as pool:
        return dict(zip(passwords, pool.map(hash_password, passwords.values()), strict=True))

"""Values of settings that are more than a number or a word: each function returns the value or raises ValueError."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from importlib.metadata import PackageNotFoundError, distribution
from ipaddress import ip_network
from urllib.parse import urlsplit

from app.core.files.s3 import S3, address_of

PREFIX = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")
ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
TOKEN = re.compile(r"[!-~]{16,}")
SECRET_KEY = re.compile(r"[A-Za-z0-9_-]{43}=")
KEY_BYTES = 32
OWN = frozenset({"api", "docs", "health", "metrics", "openapi.json", "static"})


def path_prefix(text: str) -> str:
    """A path prefix without a slash at its end, empty for none; raises ValueError for what is none.

    It may not begin as the service's own addresses do: whether a proxy has taken it off could not be told.
    """
    prefix = text.rstrip("/")
    if not PREFIX.fullmatch(prefix):
        raise ValueError(f"expected a path such as /jurado, found {text!r}")
    if prefix.split("/")[1:2] and prefix.split("/")[1] in OWN:
        raise ValueError(f"expected a path that does not begin with {prefix.split('/')[1]!r}, found {text!r}")
    return prefix


def secret_keys_of(text: str) -> list[str]:
    """Keys with white space or commas between them; raises ValueError, which shows none of them, for what is none."""
    keys = text.replace(",", " ").split()
    for key in keys:
        if not SECRET_KEY.fullmatch(key) or len(urlsafe_b64decode(key)) != KEY_BYTES:
            raise ValueError(f"expected keys of {KEY_BYTES} bytes in URL-safe Base64, found a secret that is none")
    return keys


def with_port(url: str) -> str:
    """The address; raises ValueError, which shows no secret, for a port that is none."""
    try:
        urlsplit(url).port  # noqa: B018 - its look is the check
    except ValueError as error:
        raise ValueError(f"expected a port or none behind the host: {error}") from None
    return url


def store(url: str) -> str:
    """The address of a file store: a folder, a bucket, or nothing."""
    if url.startswith(S3):
        address_of(url)
    elif url and not url.startswith("file:///"):
        raise ValueError(f"expected file:///FOLDER or s3://BUCKET/PREFIX, found {url.partition(':')[0]}:...")
    return url


def token(text: str) -> str:
    """A token that is hard to guess, or nothing."""
    if text and not TOKEN.fullmatch(text):
        raise ValueError("expected 16 visible ASCII characters or more, or nothing, found a secret")
    return text


def keys(text: str) -> str:
    """Secret keys, see `secret_keys_of`."""
    secret_keys_of(text)
    return text


def networks(text: str) -> str:
    """Addresses or networks with commas between them."""
    for each in listed(text):
        try:
            ip_network(each)
        except ValueError:
            raise ValueError(f"expected addresses or networks, found {each!r}") from None
    return text


def proxies(text: str) -> str:
    """Addresses or networks with commas between them, or * for all."""
    for each in listed(text):
        try:
            if each != "*":
                ip_network(each)
        except ValueError:
            raise ValueError(f"expected addresses, networks or *, found {each!r}") from None
    return text


def distributions(text: str) -> str:
    """Names of installed distributions with commas between them."""
    for each in listed(text):
        try:
            distribution(each)
        except PackageNotFoundError:
            raise ValueError(f"expected distributions installed beside the service, found {each!r}") from None
    return text


def origins(text: str) -> str:
    """Origins with commas between them, in lowercase."""
    for each in listed(text):
        if not ORIGIN.fullmatch(each):
            raise ValueError(f"expected origins such as https://board.example, found {each!r}")
    return text.lower()


def listed(text: str) -> list[str]:
    """The parts of a text with commas between them, without empty ones."""
    return [each for each in map(str.strip, text.split(",")) if each]

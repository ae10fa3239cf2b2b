"""Addresses of S3, and requests to it, each within a bounded time (guarantee 1).

An address is `s3://[KEY:SECRET@]BUCKET[/PREFIX][?endpoint=URL&region=NAME]`. Requests that fail for a moment are
repeated; a store that stays away is one error.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import structlog

from app.core.files.stored_bytes import StoreUnavailable

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import S3Config, S3Store

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.s3")
T = TypeVar("T")

FIRST_WAIT, LONGEST_WAIT = 0.05, 1.0
# After a request that failed to the end, others fail at once for so long: threads are not to wait one by one.
SECONDS_AWAY = 2.0
# Objects that a listing gives at once.
BATCH = 1000
CODE = re.compile(r"<Code>([A-Za-z0-9.]{1,64})</Code>")
STATUS = re.compile(r"status code: (\d{3})")
# What S3 servers say where they have no room left, or the bucket has no share of it; Amazon's own always has.
OUT_OF_ROOM = frozenset({"QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "InsufficientStorage"})
NO_CREATE = "expected a store with create-only puts (If-None-Match: *), found one that has not implemented them"
LACKING = "files on S3 need the extra s3, which is not installed: pip install 'jurado[s3]' (or uv sync --extra s3)"
S3 = "s3://"
PARTS = frozenset({"endpoint", "region"})
BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
PREFIX = re.compile(r"[A-Za-z0-9._~/-]*")
EXPECTED = "expected s3://BUCKET/PREFIX with ?endpoint=URL&region=NAME where needed, found"


@dataclass(frozen=True, slots=True)
class Address:
    """The place of objects on S3. Empty parts come from the environment: AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, ..."""

    bucket: str
    prefix: str = ""
    endpoint: str = ""
    region: str = ""
    key: str = ""
    secret: str = ""

    @property
    def shown(self) -> str:
        """The address without its secret."""
        return S3 + "/".join(filter(None, (self.bucket, self.prefix)))


def address_of(url: str) -> Address:
    """Read an address; raises ValueError, which shows no secret."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    bucket, prefix = parts.netloc.rpartition("@")[2], parts.path.strip("/")
    if parts.scheme != "s3" or not BUCKET.fullmatch(bucket):
        raise ValueError(f"{EXPECTED} {parts.scheme}://{bucket}")
    if unknown := sorted(options.keys() - PARTS):
        raise ValueError(f"{EXPECTED} {unknown[0]!r}")
    if not PREFIX.fullmatch(prefix):
        raise ValueError(f"{EXPECTED} the prefix {prefix!r}")
    endpoint = options.get("endpoint", "")
    if endpoint and not endpoint.startswith(("http://", "https://")):
        raise ValueError(f"{EXPECTED} the endpoint {endpoint!r}")
    if bool(parts.username) != bool(parts.password):
        raise ValueError(f"{EXPECTED} a key without its secret, or the other way round")
    key, secret = unquote(parts.username or ""), unquote(parts.password or "")
    return Address(bucket, prefix, endpoint, options.get("region", ""), key, secret)


class NoObject(LookupError):
    """There is no object of that name."""


class ObjectExists(Exception):
    """There is an object of that name."""


class OddObject(StoreUnavailable):
    """A listing came to an object whose name no listing passes, such as `a//b`; the message names it."""


class Bucket:
    """The objects below one address. `seconds` bounds each request, and when the last try of it may begin.

    A store that fails is `away` for some seconds: requests fail at once. Listings come `batch` by `batch`.
    """

    def __init__(
        self,
        address: Address,
        seconds: float,
        *,
        first_wait: float = FIRST_WAIT,
        away: float = SECONDS_AWAY,
        batch: int = BATCH,
    ) -> None:
        self._first_wait = first_wait
        self._seconds_away = away
        self._batch = batch
        self.address = address
        # How often a request has succeeded after one that failed.
        self.recovered = 0
        self._seconds = seconds
        self._store = _opened(address, seconds)
        self._away: tuple[float, str] | None = None

    def create(self, name: str, data: bytes) -> None:
        """Make an object; raises ObjectExists. An earlier try may have made it, so look at what there is then."""
        self._ask(lambda: self._store.put(name, data, mode="create", use_multipart=False), name)

    def replace(self, name: str, data: bytes) -> None:
        """Make an object, or put these bytes in place of its own."""
        self._ask(lambda: self._store.put(name, data, mode="overwrite", use_multipart=False), name)

    def send(self, name: str, pieces: Callable[[], Iterator[bytes]], part: int) -> None:
        """Make or replace a large object from pieces, in parts of `part` bytes; it appears as a whole or not at all."""

        def put() -> object:
            return self._store.put(name, pieces(), chunk_size=part, max_concurrency=2)

        self._ask(put, name)

    def about(self, name: str) -> ObjectMeta:
        """The size and time of an object; raises NoObject."""
        return self._ask(lambda: self._store.head(name), name)

    def first(self, name: str, most: int) -> tuple[bytes, int]:
        """The first `most` bytes of an object, and its size; raises NoObject."""

        def get() -> tuple[bytes, int]:
            result = self._store.get(name)  # no range: an object that has become empty would have none
            size = result.meta["size"]
            return (bytes(result.bytes()) if size <= most else b""), size

        data, size = self._ask(get, name)
        return (data if size <= most else self.range(name, 0, most)), size

    def range(self, name: str, start: int, end: int) -> bytes:
        """The bytes of an object from `start` up to before `end`; raises NoObject."""
        return self._ask(lambda: bytes(self._store.get_range(name, start=start, end=end)), name)

    def listed(self, prefix: str = "") -> Iterator[ObjectMeta]:
        """All objects below a prefix, in batches; those made or removed in the meantime may be among them.

        Raises OddObject, or another OSError of the store: never ends before the last one.
        """
        last: str | None = None
        stream = self._stream(prefix, last)

        def following() -> Sequence[ObjectMeta] | None:
            nonlocal stream
            try:
                return next(stream, None)
            except Exception:
                stream = self._stream(prefix, last)  # one that has failed would say that it is at its end
                raise

        while (batch := self._ask(following, prefix)) is not None:
            last = batch[-1]["path"]
            yield from batch

    def _stream(self, prefix: str, after: str | None) -> Iterator[Sequence[ObjectMeta]]:
        return iter(self._store.list(prefix or None, offset=after, chunk_size=self._batch))

    def remove(self, name: str) -> None:
        """Remove an object, if there is one."""
        self._ask(lambda: self._store.delete(name), name)

    def _ask(self, request: Callable[[], T], name: str) -> T:
        """Make a request until it succeeds or time is up; raises NoObject, ObjectExists, or an OSError of the store."""
        self._refuse_while_away()
        until, wait = time.monotonic() + self._seconds, self._first_wait
        while True:
            try:
                result = request()
            except Exception as error:
                fault = self._fault(error, name)
                if fault is None:
                    raise
                if not _may_pass(fault) or time.monotonic() + wait > until:
                    self._note(fault)
                    raise fault from None
                time.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
            else:
                self._note(None)
                return result

    def _refuse_while_away(self) -> None:
        away = self._away
        if away is not None and time.monotonic() < away[0]:
            raise StoreUnavailable(away[1])

    def _note(self, fault: Exception | None) -> None:
        is_away = isinstance(fault, OSError) and not isinstance(fault, OddObject)
        was_away = self._away is not None
        self._away = (time.monotonic() + self._seconds_away, str(fault)) if is_away else None
        self.recovered += was_away and not is_away
        if is_away and not was_away:
            log.error("S3 fails", place=self.address.shown, error=str(fault))
        elif was_away and not is_away:
            log.info("S3 answers again", place=self.address.shown)

    def _fault(self, error: Exception, name: str) -> Exception | None:
        """The error to raise in place of one of the library; None for a fault of the program."""
        from obstore.exceptions import AlreadyExistsError, BaseError, InvalidPathError

        text = str(error).partition("\n\nDebug source:")[0]
        code, status = CODE.search(text), STATUS.search(text)
        word = code[1] if code else ""
        if word in OUT_OF_ROOM or (status is not None and status[1] == "507"):
            return OSError(errno.EDQUOT, f"{self.address.shown}: no room left ({word or 507})")
        if isinstance(error, AlreadyExistsError):
            return ObjectExists(name)
        if isinstance(error, FileNotFoundError) and word != "NoSuchBucket":
            return NoObject(name)
        if isinstance(error, InvalidPathError):
            return OddObject(f"{self.address.shown}: expected names of files, found one to be removed: {text}")
        if not isinstance(error, BaseError | OSError):
            return None
        if word == "NotImplemented":
            return StoreUnavailable(f"{self.address.shown}: {NO_CREATE}", is_final=True)
        is_final = status is not None and status[1].startswith("4") and status[1] not in {"408", "409", "429"}
        reason = word or (f"status {status[1]}" if status else text.rpartition(" - ")[2].strip()[:200])
        return StoreUnavailable(f"{self.address.shown}: {reason}", is_final=is_final)


def _may_pass(fault: Exception) -> bool:
    return isinstance(fault, StoreUnavailable) and not (fault.is_final or isinstance(fault, OddObject))


def _opened(address: Address, seconds: float) -> S3Store:
    try:
        from obstore.store import S3Store
    except ImportError:
        raise OSError(LACKING) from None
    endpoint = address.endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    config = {"endpoint": endpoint, "region": address.region}
    config |= {"access_key_id": address.key, "secret_access_key": address.secret}
    given = cast("S3Config", {name: value for name, value in config.items() if value})
    limit = f"{max(1, round(1000 * seconds))}ms"
    return S3Store(
        address.bucket,
        prefix=address.prefix or None,
        config=given,
        client_options={"timeout": limit, "connect_timeout": limit, "allow_http": endpoint.startswith("http://")},
        retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=seconds)},
    )

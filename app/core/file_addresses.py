"""Addresses of file stores on S3: `s3://[KEY:SECRET@]BUCKET[/PREFIX][?endpoint=URL&region=NAME]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

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

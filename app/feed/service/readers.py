"""Readers of a feed, the events each of them gets, and the tokens that name a place in it.

- Calls of webhooks: signed, and only to public or allowed addresses, checked after name resolution.
- Documents of the event feed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple

import httpx
from pydantic import BaseModel, Field

from app.accounts.service.viewer import Viewer
from app.core.bodies import Sparse
from app.core.clics import example
from app.core.errors import BadRequest
from app.core.messages import N_
from app.submissions.service.judgements import JUDGEMENT

EVERYBODY, OWNER, JUDGES, ACCOUNT = "p", "o", "j", "a"
FIELDS = struct.Struct(">QBQ")
CHECK = 8
NO_KIND = 255
TOKEN = re.compile(r"([ptj])([0-9a-f]{16})([0-9a-f]{34})")


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of a contest's feed: a judge, or the public, possibly with a team and an account."""

    sees_all: bool = False
    team_id: str | None = None
    account_id: str | None = None

    @property
    def role(self) -> str:
        """The letter of the kind of reader; tokens are valid for one kind only."""
        if self.sees_all:
            return "j"
        return "p" if self.team_id is None else "t"

    def gets(self, audience: str, owner: str | None) -> bool:
        """Whether this reader is in an event's audience."""
        if self.sees_all:
            return JUDGES in audience
        if EVERYBODY in audience and (owner is None or owner != self.team_id):
            return True
        if OWNER in audience and owner is not None and owner == self.team_id:
            return True
        return ACCOUNT in audience and owner is not None and owner == self.account_id

    def views(self, owner: str | None) -> list[str]:
        """The keys of `Entry.views` for this reader, except its account's; the latest view holds."""
        if self.sees_all:
            return [JUDGES]
        keys = [EVERYBODY] if owner is None or owner != self.team_id else []
        if self.team_id is not None:
            keys.append(of_team(self.team_id))
        return keys


def reader_of(viewer: Viewer) -> Reader:
    """The reader for a viewer."""
    return Reader(viewer.sees_all, None if viewer.sees_all else viewer.team_id, viewer.account_id)


def of_team(team_id: str) -> str:
    """The key of a team's view, which replaces or complements the public one."""
    return f"{OWNER}:{team_id}"


def of_account(account_id: str) -> str:
    """The key of one account's view."""
    return f"{ACCOUNT}:{account_id}"


class ShownLast(NamedTuple):
    """The version of an object published last to an audience: its digest (None: deleted) and the event's id."""

    digest: int | None
    event_id: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A published object: `owner` is the team that audience `p` excludes."""

    owner: str | None
    views: Mapping[str, ShownLast]

    def seen_by(self, reader: Reader) -> ShownLast | None:
        """The last version for this reader, if any. An account's view comes before its team's."""
        if not reader.sees_all and reader.account_id is not None:
            own = self.views.get(of_account(reader.account_id))
            if own is not None:
                return own
        views = [view for key in reader.views(self.owner) if (view := self.views.get(key)) is not None]
        return max(views, key=lambda view: view.event_id, default=None)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a feed: after event `event`; or, where `kind` is set, within the initial listing as of that event:
    after the object whose first event was `first`, of the kind at that index in the order of kinds.
    """

    event: int
    kind: int | None = None
    first: int = 0


def write_token(epoch: str, place: Place, role: str) -> str:
    """Write the token of a place, valid for the log with the secret `epoch` only.

    The token is encrypted: the number of events would reveal verdicts behind a frozen board. A place has one token.
    """
    kind = NO_KIND if place.kind is None else place.kind
    plain = FIELDS.pack(place.event, kind, place.first)
    check = _hash(epoch, b"check", role.encode() + plain, CHECK)
    return f"{role}{check.hex()}{_veiled(epoch, check, plain).hex()}"


def read_token(token: str, epoch: str, head: int, role: str) -> Place:
    """Read a token; raises BadRequest for one that this log did not give to such a reader."""
    parts = TOKEN.fullmatch(token)
    if parts is not None and parts[1] == role:
        check = bytes.fromhex(parts[2])
        plain = _veiled(epoch, check, bytes.fromhex(parts[3]))
        event, kind, first = FIELDS.unpack(plain)
        if check == _hash(epoch, b"check", role.encode() + plain, CHECK) and event <= head:
            return Place(event, None if kind == NO_KIND else kind, first)
    raise BadRequest(N_("expected a token of this feed, found %(found)r"), where="since_token", found=token[:40])


def _veiled(epoch: str, check: bytes, data: bytes) -> bytes:
    """Encrypt or decrypt data."""
    veil = int.from_bytes(_hash(epoch, b"veil", check, len(data)))
    return (int.from_bytes(data) ^ veil).to_bytes(len(data))


def _hash(epoch: str, use: bytes, data: bytes, size: int) -> bytes:
    return hashlib.blake2b(data, key=epoch.encode()[:64], person=use, digest_size=size).digest()


Network = IPv4Network | IPv6Network
# Networks that are never called, in addition to those that `ipaddress` knows as private: most of them embed an IPv4
# address, which a gateway forwards to, and which may be inside a network.
NOT_PUBLIC = [
    ip_network(each)
    for each in (
        "192.0.0.0/24",  # IETF protocol assignments, 192.0.0.8 among them
        "::/96",  # IPv4-compatible, such as ::10.0.0.1
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",  # NAT64 within a network
        "2001::/32",  # Teredo
        "2002::/16",  # 6to4
        "fec0::/10",  # site-local
    )
]


def signed(token: str, body: bytes, seconds: int) -> dict[str, str]:
    """The headers that prove who calls and when: HMAC-SHA256, by the token, of the time, a full stop and the body."""
    digest = hmac.new(token.encode(), b"%d.%b" % (seconds, body), sha256).hexdigest()
    return {"Webhook-Token": token, "Webhook-Timestamp": str(seconds), "Webhook-Signature": f"sha256={digest}"}


def networks_of(text: str) -> list[Network]:
    """Networks and addresses, with commas between them; raises ValueError for what is none."""
    return [ip_network(each) for each in map(str.strip, text.split(",")) if each]


def hosts_of(text: str) -> list[str]:
    """Names of hosts, with commas between them."""
    return [each.lower() for each in map(str.strip, text.split(",")) if each]


class Refused(httpx.ConnectError):
    """An address that no webhook may have."""


class Outward(httpx.AsyncHTTPTransport):
    """Connects only to public addresses and those in `allowed`, and only to `hosts` if any are given.

    A name is resolved once, and the connection goes to that very address: a second answer of a name server, or a proxy
    of the environment, cannot redirect it. Connections are not reused, because another name may share the address.
    """

    def __init__(self, allowed: Sequence[Network], hosts: Sequence[str]) -> None:
        super().__init__(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
        self._allowed = allowed
        self._hosts = hosts

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the resolved address; raises Refused for an address that is not allowed."""
        host = request.url.host
        address = await resolved(host, request.url.port or 0, self._allowed, self._hosts)
        request.url = request.url.copy_with(host=address)  # the header Host is written already
        request.extensions = {**request.extensions, "sni_hostname": host}
        return await super().handle_async_request(request)


async def resolved(host: str, port: int, allowed: Sequence[Network], hosts: Sequence[str]) -> str:
    """Resolve a host to an address that webhooks may call.

    Raises Refused for an address that is not allowed, and httpx.ConnectError for an unknown name.
    """
    if hosts and host.lower() not in hosts:
        raise Refused(f"{host} is not in JURADO_WEBHOOK_HOSTS")
    try:
        loop = asyncio.get_running_loop()
        answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # the latter where a part of the name is empty or over 63 characters
        raise httpx.ConnectError(f"{host}: {getattr(error, 'strerror', None) or error}") from None
    addresses = [str(answer[4][0]) for answer in answers]
    if refused := [each for each in addresses if not may_be_called(each, allowed)]:
        raise Refused(f"{host} is {refused[0]}, inside a network (JURADO_WEBHOOK_NETWORKS names those allowed)")
    return addresses[0]


def may_be_called(address: str, allowed: Sequence[Network]) -> bool:
    """Whether an address is public, or in one of the networks allowed."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if any(parsed in network for network in allowed if network.version == parsed.version):
        return True
    if any(parsed in network for network in NOT_PUBLIC if network.version == parsed.version):
        return False
    return parsed.is_global and not parsed.is_multicast


@example({"type": "judgements", "id": JUDGEMENT["id"], "data": JUDGEMENT, "token": "5f1c-81"})
class Notification(Sparse):
    """A line of the event feed, or the data of a server-sent event: an object as its GET route answers it now."""

    type: str = Field(description="the collection, such as `judgements`, or `contest`, `state` or `event`")
    id: str | None = Field(description="the object's id; null where there is one object, or all of them are sent")
    token: str | None = Field(None, description="for `since_token`, to go on behind this line")
    data: dict[str, object] | list[dict[str, object]] | None = Field(description="null: the object is deleted")


class Call(BaseModel):
    """The body of a call to a webhook."""

    contest_id: str
    notifications: list[Notification]

"""Readers of a feed, the events each of them gets, and the tokens that name a place in it."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from app.accounts.service.viewer import Viewer
from app.core.errors import BadRequest
from app.core.messages import N_

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

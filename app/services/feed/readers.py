"""Who reads a feed, which events are theirs, and the tokens that name a place in it."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from app.services.errors import BadRequest
from app.services.viewer import Viewer

EVERYBODY, OWNER, JUDGES, ACCOUNT = "p", "o", "j", "a"
FIELDS = struct.Struct(">QBQ")
CHECK = 8
NO_KIND = 255
TOKEN = re.compile(r"([ptj])([0-9a-f]{16})([0-9a-f]{34})")


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who follows a contest: a judge, or the public, perhaps with a team and an account of their own."""

    sees_all: bool = False
    team_id: str | None = None
    account_id: str | None = None

    @property
    def role(self) -> str:
        """A letter for the kind of reader: a token made for one kind is no good to another."""
        if self.sees_all:
            return "j"
        return "p" if self.team_id is None else "t"

    def gets(self, audience: str, owner: str | None) -> bool:
        """Is an event for these people one for this reader?"""
        if self.sees_all:
            return JUDGES in audience
        if EVERYBODY in audience and (owner is None or owner != self.team_id):
            return True
        if OWNER in audience and owner is not None and owner == self.team_id:
            return True
        return ACCOUNT in audience and owner is not None and owner == self.account_id

    def views(self, owner: str | None) -> list[str]:
        """The keys of `Entry.views` that are for this reader beside those of accounts; the latest of them holds."""
        if self.sees_all:
            return [JUDGES]
        found = [EVERYBODY] if owner is None or owner != self.team_id else []
        if self.team_id is not None:
            found.append(of_team(self.team_id))
        return found


def reader_of(viewer: Viewer) -> Reader:
    """How a viewer reads."""
    return Reader(viewer.sees_all, None if viewer.sees_all else viewer.team_id, viewer.account_id)


def of_team(team_id: str) -> str:
    """The key of what a team sees in place of, or beside, what everybody sees."""
    return f"{OWNER}:{team_id}"


def of_account(account_id: str) -> str:
    """The key of what only one account sees."""
    return f"{ACCOUNT}:{account_id}"


@dataclass(frozen=True, slots=True)
class ShownLast:
    """What some people were told last of an object: a digest of it, None once it is gone, and the event's id."""

    digest: int | None
    event_id: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of a contest as it was told: `first` is its first event, `owner` whoever `p` leaves out."""

    first: int
    owner: str | None
    views: Mapping[str, ShownLast]

    def seen_by(self, reader: Reader) -> ShownLast | None:
        """What this reader was told last, if anything. What only an account sees stands before what its team sees."""
        if not reader.sees_all and reader.account_id is not None:
            own = self.views.get(of_account(reader.account_id))
            if own is not None:
                return own
        found = [view for key in reader.views(self.owner) if (view := self.views.get(key)) is not None]
        return max(found, key=lambda view: view.event_id, default=None)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a feed: behind event `event`; or, where `kind` is set, still in the first account up to that event:
    behind the object whose first event was `first`, of the kind at that place in the order of kinds.
    """

    event: int
    kind: int | None = None
    first: int = 0


def write_token(epoch: str, place: Place, role: str) -> str:
    """Name a place; `epoch` is the log's own secret, so that no other log takes it for one of its places.

    The place cannot be read from it: how many events there are that somebody does not get says what became of answers
    behind a frozen board. The same place always has the same token.
    """
    kind = NO_KIND if place.kind is None else place.kind
    plain = FIELDS.pack(place.event, kind, place.first)
    check = _hash(epoch, b"check", role.encode() + plain, CHECK)
    return f"{role}{check.hex()}{_veiled(epoch, check, plain).hex()}"


def read_token(token: str, epoch: str, head: int, role: str) -> Place:
    """The place a token names; raises BadRequest for whatever this log did not give to such a reader."""
    found = TOKEN.fullmatch(token)
    if found is not None and found[1] == role:
        check = bytes.fromhex(found[2])
        plain = _veiled(epoch, check, bytes.fromhex(found[3]))
        event, kind, first = FIELDS.unpack(plain)
        if check == _hash(epoch, b"check", role.encode() + plain, CHECK) and event <= head:
            return Place(event, None if kind == NO_KIND else kind, first)
    raise BadRequest(f"since_token: expected a token of this feed, found {token[:40]!r}")


def _veiled(epoch: str, check: bytes, data: bytes) -> bytes:
    """Data made unreadable, or readable again."""
    veil = _hash(epoch, b"veil", check, len(data))
    return bytes(one ^ other for one, other in zip(data, veil, strict=True))


def _hash(epoch: str, use: bytes, data: bytes, size: int) -> bytes:
    return hashlib.blake2b(data, key=epoch.encode()[:64], person=use, digest_size=size).digest()

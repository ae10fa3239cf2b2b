"""Streams for clients: a contest's event feed as lines, and a team's own verdicts as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator

from app.core.errors import BadRequest, Forbidden
from app.core.messages import N_
from app.feed.service.hub import Hub
from app.feed.service.kinds import LARGE, ORDER
from app.feed.service.log import Line, Log
from app.feed.service.readers import Place, reader_of, write_token
from app.feed.service.streams import Client, Wish, Write, server_sent


async def event_feed(
    hub: Hub, client: Client, contest_id: str, *, token: str | None, types: str | None, live: bool
) -> AsyncIterator[bytes]:
    """The feed of a contest behind `token` as NDJSON, only `types` (with commas between); raises BadRequest, NotFound.

    First every object once, each after those it refers to, then every change; an empty line while there is none.
    """
    wish = Wish(reader_of(client.viewer), _types(types), live=live)
    log = await hub.open_log(contest_id)
    place = hub.place(log, wish, token)
    return hub.stream(log, client, wish, place, _as_line(log, wish.reader.role), b"\n")


async def own_verdicts(
    hub: Hub, client: Client, contest_id: str, *, token: str | None, live: bool
) -> AsyncIterator[bytes]:
    """A team's own submissions, judgements and runs, all for judges, from now on or behind `token`.

    Raises BadRequest, Forbidden or NotFound.
    """
    viewer = client.viewer
    if not viewer.sees_all and viewer.team_id is None:
        raise Forbidden(N_("only a team, a judge or an admin has verdicts to wait for"))
    wish = Wish(reader_of(viewer), frozenset(LARGE), live=live, own=not viewer.sees_all)
    log = await hub.open_log(contest_id)
    place = Place(log.head) if token is None else hub.place(log, wish, token)
    return hub.stream(log, client, wish, place, _as_server_sent(log, wish.reader.role), b":\n\n")


def _types(text: str | None) -> frozenset[str] | None:
    """The types asked for; raises BadRequest for one that does not exist."""
    if text is None:
        return None
    names = frozenset(text.split(","))
    if unknown := sorted(names - set(ORDER)):
        raise BadRequest(
            N_("expected some of %(names)s, found %(found)r"),
            where="types",
            names=", ".join(ORDER),
            found=unknown[0][:40],
        )
    return names


def _as_line(log: Log, role: str) -> Write:
    """Events as lines of NDJSON."""

    def write(line: Line, token: str) -> bytes:
        return line.at(token, role) if token else line.sent(log.epoch, role)

    return write


def _as_server_sent(log: Log, role: str) -> Write:
    """Events as server-sent ones; of several runs only the last has an id, since only then all of them are there."""

    def write(line: Line, token: str) -> bytes:
        name = token or write_token(log.epoch, Place(line.id), role)
        events = line.notifications(role)
        last = len(events) - 1
        return b"".join(server_sent(line.type, each, name if at == last else None) for at, each in enumerate(events))

    return write

"""Webhooks: addresses that are called with every change, so that their owners need not ask.

- The addresses that webhooks may call. Calls go only to public or allowed addresses, checked after name resolution
  (guarantee 4).
"""

import asyncio
import re
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Annotated
from urllib.parse import urlsplit

import httpx
from anyio.to_thread import run_sync
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.core import bodies, clics, clock
from app.core.db.locks import lock_names
from app.core.messages import N_, BadRequest, Conflict, Message, NotFound, WrongValue, describe_pattern
from app.core.service import Service
from app.core.settings import Settings
from app.feed import queries as stored
from app.feed.service.hub import Hub
from app.feed.service.rendering import ORDER
from app.submissions.service.judgements import JUDGEMENT
from app.tables import WebhookRow

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


def networks_of(text: str) -> list[Network]:
    """Networks and addresses, with commas between them; raises ValueError for what is none."""
    return [ip_network(each) for each in map(str.strip, text.split(",")) if each]


class Refused(httpx.ConnectError):
    """An address that no webhook may have."""


class Outward(httpx.AsyncHTTPTransport):
    """Connects only to public addresses and those in `allowed`.

    A name is resolved once, and the connection goes to that very address: a second answer of a name server, or a proxy
    of the environment, cannot redirect it. Connections are not reused, because another name may share the address.
    """

    def __init__(self, allowed: Sequence[Network]) -> None:
        super().__init__(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
        self._allowed = allowed

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the resolved address; raises Refused for an address that is not allowed."""
        host = request.url.host
        address = await resolved(host, request.url.port or 0, self._allowed)
        request.url = request.url.copy_with(host=address)  # the header Host is written already
        request.extensions = {**request.extensions, "sni_hostname": host}
        return await super().handle_async_request(request)


async def resolved(host: str, port: int, allowed: Sequence[Network]) -> str:
    """Resolve a host to an address that webhooks may call.

    Raises Refused for an address that is not allowed, and httpx.ConnectError for an unknown name.
    """
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


# Each webhook is a task that reads every event.
MOST = 100
SECONDS_TO_RESOLVE = 5.0
NO_ADDRESS = re.compile(r"[^\x21-\x7e]")


def _address(text: str) -> str:
    """Check an address: http or https, without a password (it would be shown) or characters that could end a header."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if NO_ADDRESS.search(text) or parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise WrongValue(N_("an address that begins with http:// or https://"))
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise WrongValue(N_("an address without a username, a password or a fragment: the token is what proves us"))
    return text


def _type(text: str) -> str:
    if text not in ORDER:
        raise WrongValue(N_("one of %(names)s"), names=", ".join(ORDER))
    return text


Address = Annotated[str, StringConstraints(max_length=2000), AfterValidator(_address)]
Token = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(r"^[\x21-\x7e]+$", Message(N_("printable ASCII characters without spaces"))),
        max_length=1000,
    ),
]
Type = Annotated[str, AfterValidator(_type)]
# The position of a webhook in each contest: the epoch of its log, and the event.
Positions = dict[str, list[str | int]]


class WebhookBody(bodies.Body):
    """An address to be called back; no contests or no endpoints: all of them."""

    id: clics.Id | None = None
    url: Address
    token: Token = Field(description="sent as the header Webhook-Token with every call")
    contest_ids: list[clics.Id] = Field(default=[], max_length=1000)
    endpoints: list[Type] = Field(default=[], max_length=100)


class WebhookChange(bodies.Body):
    """Whether the webhook is active."""

    active: bool


class WebhookView(BaseModel):
    """A webhook, without its token; why it fails, if it does."""

    id: str
    url: str
    contest_ids: list[str]
    endpoints: list[str]
    active: bool
    failing_since: Annotated[str | None, BeforeValidator(clics.format_time_or_none)]
    failures: int
    error: str | None


@clics.example({"type": "judgements", "id": JUDGEMENT["id"], "data": JUDGEMENT, "token": "5f1c-81"})
class Notification(bodies.Sparse):
    """A line of the event feed, or the data of a server-sent event: an object as its GET route answers it now."""

    type: str = Field(description="the collection, such as `judgements`, or `contest`, `state` or `event`")
    id: str | None = Field(description="the object's id; null where there is one object, or all of them are sent")
    token: str | None = Field(None, description="for `since_token`, to continue after this line")
    data: dict[str, object] | list[dict[str, object]] | None = Field(description="null: the object is deleted")


class Call(BaseModel):
    """The body of a call to a webhook."""

    contest_id: str
    notifications: list[Notification]


def listed(session: Session) -> list[WebhookView]:
    """The webhooks, inactive ones among them."""
    return [_view(row) for row in stored.webhooks(session)]


def one(session: Session, webhook_id: str) -> WebhookView:
    """A webhook; raises NotFound."""
    return _view(_webhook_of(session, webhook_id))


async def create(service: Service, hub: Hub, viewer: Viewer, body: WebhookBody) -> WebhookView:
    """Make a webhook that is told what its account may see from now on; raises BadRequest or Conflict."""
    await _check_target(service.settings, body.url)
    known_ids = await run_sync(_contests_of, service)
    if unknown := sorted(set(body.contest_ids) - set(known_ids)):
        raise BadRequest(N_("expected contests that exist, found %(found)r"), where="contest_ids", found=unknown[0])
    positions: Positions = {}
    for contest_id in body.contest_ids or known_ids:
        # The whole comparison: what exists already would follow as a change.
        log = await hub.open_log(contest_id, complete=True)
        positions[contest_id] = [log.epoch, log.head]
    return await run_sync(_store, service, str(viewer.account_id), body, positions)


def change(session: Session, webhook_id: str, body: WebhookChange) -> WebhookView:
    """Pause a webhook, or resume it with its failures forgotten: it is told what it missed; raises NotFound."""
    row = _webhook_of(session, webhook_id)
    if body.active and not row.active:
        row.failing_since, row.failures, row.error = None, 0, None
    row.active = body.active
    return _view(row)


def delete(session: Session, webhook_id: str) -> None:
    """Call a webhook no more; raises NotFound."""
    session.delete(_webhook_of(session, webhook_id))


async def _check_target(settings: Settings, address: str) -> None:
    """Refuse what no call would reach. A name that leads nowhere by now is taken: the receiver may come later."""
    host = urlsplit(address).hostname or ""
    allowed = networks_of(settings.webhook_networks)
    with suppress(httpx.ConnectError, TimeoutError):
        try:
            await asyncio.wait_for(resolved(host, 0, allowed), SECONDS_TO_RESOLVE)
        except Refused as refused:
            raise BadRequest(
                N_("expected an address that webhooks may call: %(refused)s"), where="url", refused=refused
            ) from None


def _webhook_of(session: Session, webhook_id: str) -> WebhookRow:
    """The webhook; raises NotFound."""
    row = session.get(WebhookRow, webhook_id)
    if row is None:
        raise NotFound(N_("no webhook %(webhook)r"), webhook=webhook_id)
    return row


def _view(row: WebhookRow) -> WebhookView:
    return WebhookView.model_validate(row, from_attributes=True)


def _contests_of(service: Service) -> list[str]:
    """The ids of all contests."""
    with service.database.read() as session:
        return [row.id for row in contests_queries.contests(session)]


def _store(service: Service, account_id: str, body: WebhookBody, positions: Positions) -> WebhookView:
    """Store a webhook that begins at these positions; raises Conflict for a known id or too many."""
    with service.database.write() as session:
        # Of two requests at once one is counted first, so that the limit holds.
        lock_names(session, ["webhooks"])
        if body.id is not None and session.get(WebhookRow, body.id) is not None:
            raise Conflict(N_("there is a webhook %(webhook)r already"), where="id", webhook=body.id)
        if len(stored.webhooks(session)) >= MOST:
            raise Conflict(N_("there are %(most)s webhooks already"), most=MOST)
        row = WebhookRow(
            id=body.id or secrets.token_hex(6),
            account_id=account_id,
            url=body.url,
            token=service.keys.encrypt(body.token.encode()).decode(),
            contest_ids=body.contest_ids,
            endpoints=body.endpoints,
            active=True,
            positions=positions,
            failures=0,
            created=clock.utc_now(),
        )
        session.add(row)
        session.flush()
        return _view(row)

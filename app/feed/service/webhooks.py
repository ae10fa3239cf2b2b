"""Webhooks: addresses that are called with every change, so that their owners need not ask."""

import asyncio
import re
import secrets
from contextlib import suppress
from typing import Annotated
from urllib.parse import urlsplit

import httpx
from anyio.to_thread import run_sync
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.core.bodies import Body, Sparse
from app.core.clics import Id, example, format_time_or_none
from app.core.clock import utc_now
from app.core.db.locks import lock_names
from app.core.errors import BadRequest, Conflict, NotFound, describe_pattern
from app.core.messages import N_, Message, WrongValue
from app.core.service import Service
from app.core.settings import Settings
from app.feed import queries as stored
from app.feed.service.addresses import Refused, hosts_of, networks_of, resolved
from app.feed.service.hub import Hub
from app.feed.service.rendering import ORDER
from app.submissions.service.judgements import JUDGEMENT
from app.tables import WebhookRow

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


class WebhookBody(Body):
    """An address to be called back; no contests or no endpoints: all of them."""

    id: Id | None = None
    url: Address
    token: Token = Field(description="sent as the header Webhook-Token with every call")
    contest_ids: list[Id] = Field(default=[], max_length=1000)
    endpoints: list[Type] = Field(default=[], max_length=100)


class WebhookChange(Body):
    """Active again, or no more."""

    active: bool


class WebhookView(BaseModel):
    """A webhook, without its token; why it fails, if it does."""

    id: str
    url: str
    contest_ids: list[str]
    endpoints: list[str]
    active: bool
    failing_since: Annotated[str | None, BeforeValidator(format_time_or_none)]
    failures: int
    error: str | None


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
    allowed, hosts = networks_of(settings.webhook_networks), hosts_of(settings.webhook_hosts)
    with suppress(httpx.ConnectError, TimeoutError):
        try:
            await asyncio.wait_for(resolved(host, 0, allowed, hosts), SECONDS_TO_RESOLVE)
        except Refused as refused:
            raise BadRequest(
                N_("expected an address that webhooks may call: %(refused)s"), where="url", refused=refused
            ) from None


def _webhook_of(session: Session, webhook_id: str) -> WebhookRow:
    """The webhook; raises NotFound."""
    row = stored.get(session, webhook_id)
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
        if body.id is not None and stored.get(session, body.id) is not None:
            raise Conflict(N_("there is a webhook %(webhook)r already"), where="id", webhook=body.id)
        if len(stored.webhooks(session)) >= MOST:
            raise Conflict(N_("there are %(most)s webhooks already"), most=MOST)
        token = service.keys.encrypt(body.token)
        row = WebhookRow(
            id=body.id or secrets.token_hex(6),
            account_id=account_id,
            url=body.url,
            token=token.text,
            key_id=token.key_id,
            contest_ids=body.contest_ids,
            endpoints=body.endpoints,
            active=True,
            positions=positions,
            failures=0,
            created=utc_now(),
        )
        session.add(row)
        session.flush()
        return _view(row)

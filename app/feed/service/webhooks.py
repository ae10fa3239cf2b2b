"""Webhooks: addresses that are called with every change, so that their owners need not ask.

Each is called by a task of its own, one request at a time and in order, so that none waits for another. Calls are
signed, and go only to public or allowed addresses, checked after name resolution (guarantee 4). How far a webhook has
got is durable before the next request is sent: a call is repeated if the server is killed before that (at least once).
Of several servers the one that has a webhook's lock calls it (guarantee 7).
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import socket
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Annotated
from urllib.parse import urlsplit

import httpx
import structlog
from anyio.to_thread import run_sync
from pydantic import AfterValidator, BaseModel, Field, StringConstraints
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer, viewer_of
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
from app.feed.queries import Delivered, Failed
from app.feed.service.log import Log, Reader, lines_behind, reader_of
from app.feed.service.looks import ORDER
from app.feed.service.streams import Hub
from app.submissions.service.judgements import JUDGEMENT
from app.tables import WebhookRow

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.webhooks")
MOST = 100
MOST_BYTES = 256 * 1024
LONGEST_ERROR = 300
LONGEST_WAIT = 60.0
SECONDS_TO_RESOLVE = 5.0
SECONDS_BETWEEN_TRIES = 1.0
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
    failing_since: str | None
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


def lock_of(hook_id: str) -> str:
    """The name of the lock of whoever calls a webhook."""
    return f"webhook {hook_id}"


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


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook as it is to be called."""

    id: str
    url: str
    token: str
    reader: Reader
    types: frozenset[str] | None
    contest_ids: Sequence[str]
    positions: dict[str, list[str | int]]
    failing_since: datetime | None
    failures: int

    def position(self, feed: Log) -> int:
        """The last event sent of a log; 0 for an unknown log, such as a new contest's."""
        epoch, event = self.positions.get(feed.contest_id, ("", 0))
        return int(event) if epoch == feed.epoch else 0


class Sender:
    """Calls webhooks from the server's event loop."""

    def __init__(self, service: Service, hub: Hub) -> None:
        self.service = service
        self.hub = hub
        self._settings = service.settings
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: asyncio.Task[None] | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._news: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        hub.publisher.listen(lambda _contest_id: self._soon(self._wake))
        service.database.listeners.append(lambda: self._soon(self._reload))

    def start(self) -> None:
        """Begin to call those that are active; in the event loop."""
        if self._running is None:
            self._loop = asyncio.get_running_loop()
            self._running = self._loop.create_task(self._run())

    async def stop(self) -> None:
        """Stop; what was not taken is sent after the next start."""
        tasks = [self._running, *self._tasks.values()] if self._running is not None else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def served(self) -> set[str]:
        """Ids of the webhooks that may be called before the next webhook is added or changed."""
        return {hook_id for hook_id, task in list(self._tasks.items()) if not task.done()}

    def _soon(self, call: Callable[[], object]) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # it has been closed
                self._loop.call_soon_threadsafe(call)

    def _wake(self) -> None:
        for news in self._news.values():
            news.set()

    def _reload(self) -> None:
        self._news["reload"].set()
        self._wake()

    async def _run(self) -> None:
        """Begin a task for each webhook that becomes active."""
        settings = self._settings
        transport = Outward(networks_of(settings.webhook_networks), hosts_of(settings.webhook_hosts))
        timeout = settings.webhook_timeout_seconds
        reload = self._news["reload"]
        async with httpx.AsyncClient(timeout=timeout, transport=transport, trust_env=False) as client:
            while True:
                reload.clear()
                wait = await self._serve_active(client)
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await reload.wait()

    async def _serve_active(self, client: httpx.AsyncClient) -> float | None:
        """Begin to call those that are active; returns how long to wait before the next try, None if all were read."""
        try:
            active = await run_sync(self._active)
        except Exception:  # the database is gone for a moment: this task is the only one that begins others
            log.exception("the list of webhooks could not be read; it is tried again")
            return self._settings.webhook_retry_seconds
        for hook_id in active:
            if hook_id not in self._tasks or self._tasks[hook_id].done():
                self._tasks[hook_id] = asyncio.create_task(self._serve(client, hook_id))
        return None

    def _active(self) -> set[str]:
        with self.service.database.read() as session:
            return stored.active(session)

    async def _serve(self, client: httpx.AsyncClient, hook_id: str) -> None:
        """Call one webhook for as long as it is active."""
        followed: set[str] = set()
        news = self._news[hook_id]
        try:
            while True:
                news.clear()
                try:
                    has_lock = await self._has_lock(hook_id)  # before its position is read
                    hook = await run_sync(self._hook, hook_id)
                    if hook is None:
                        return
                    if not has_lock:
                        await asyncio.sleep(SECONDS_BETWEEN_TRIES)
                        continue
                    for contest_id in set(hook.contest_ids) - followed:
                        self.hub.publisher.follow(contest_id)
                        followed.add(contest_id)
                    wait = await self._call_all(client, hook)
                except httpx.HTTPError as error:  # raised before a request was made: an address that is none
                    wait = await self._failed(hook_id, repr(error))
                except Exception:
                    log.exception("a webhook's task failed; it goes on", webhook=hook_id)
                    wait = self._settings.webhook_retry_seconds
                if wait is None:
                    await news.wait()
                else:
                    await asyncio.sleep(wait)
        finally:
            for contest_id in followed:
                self.hub.publisher.leave(contest_id)
            await run_sync(self.service.locks.give_back, lock_of(hook_id))

    async def _has_lock(self, hook_id: str) -> bool:
        """Whether this server is the one that calls a webhook."""
        locks = self.service.locks
        return locks.is_alone or await run_sync(locks.take, lock_of(hook_id))

    def _hook(self, hook_id: str) -> Hook | None:
        with self.service.database.read() as session:
            pair = stored.with_account(session, hook_id)
            if pair is None or not pair[0].active:
                return None
            row, account = pair
            known_ids = [contest.id for contest in contests_queries.contests(session)]
            wanted = [id_ for id_ in known_ids if not row.contest_ids or id_ in row.contest_ids]
            types = frozenset(row.endpoints) if row.endpoints else None
            reader = reader_of(viewer_of(account))
            return Hook(
                row.id,
                row.url,
                self.service.keys.decrypt(stored.encrypted_token(row)),
                reader,
                types,
                wanted,
                dict(row.positions),
                row.failing_since,
                row.failures,
            )

    async def _call_all(self, client: httpx.AsyncClient, hook: Hook) -> float | None:
        """Send whatever is new of each contest; returns how long to wait after a failure, None if there was none."""
        for contest_id in hook.contest_ids:
            feed = self.hub.publisher.log(contest_id)
            if feed is None:
                feed = await asyncio.wrap_future(self.hub.publisher.fresh(contest_id, complete=False))
            if feed is None:
                continue
            at = hook.position(feed)
            while at < feed.head:
                at, notifications = await _batch(feed, hook, at)
                if not notifications:
                    continue
                if not await self._has_lock(hook.id):
                    return SECONDS_BETWEEN_TRIES
                error = await self._call(client, hook, contest_id, notifications)
                if error is not None:
                    return await self._failed(hook.id, error, hook)
                await asyncio.wrap_future(
                    self.service.writer.submit(stored.deliver, Delivered(hook.id, contest_id, feed.epoch, at))
                )
            hook.positions[contest_id] = [feed.epoch, at]
        return None

    async def _call(
        self, client: httpx.AsyncClient, hook: Hook, contest_id: str, notifications: Sequence[bytes]
    ) -> str | None:
        """Send a request; returns its fault, or None if it was taken. Redirects are no 2xx, and not followed."""
        head = b'{"contest_id":"' + contest_id.encode() + b'","notifications":['
        body = head + b",".join(notifications) + b"]}"
        seconds = int(utc_now().timestamp())
        headers = {"Content-Type": "application/json", **signed(hook.token, body, seconds)}
        try:
            async with asyncio.timeout(self._settings.webhook_timeout_seconds):
                async with client.stream("POST", hook.url, content=body, headers=headers) as reply:
                    return None if reply.is_success else f"it answered {reply.status_code}"
        except TimeoutError:
            return f"it did not answer within {self._settings.webhook_timeout_seconds:g} s"
        except httpx.HTTPError as error:
            return f"{type(error).__name__}: {error}"

    async def _failed(self, hook_id: str, error: str, hook: Hook | None = None) -> float:
        """Keep that a call failed, and give up if they have failed for long; returns how long to wait."""
        now = utc_now()
        since = hook.failing_since if hook is not None and hook.failing_since is not None else now
        failures = hook.failures if hook is not None else 0
        given_up = now - since >= timedelta(seconds=self._settings.webhook_give_up_seconds)
        log.info("a webhook failed", webhook=hook_id, error=error[:LONGEST_ERROR], given_up=given_up)
        await asyncio.wrap_future(
            self.service.writer.submit(stored.fail, Failed(hook_id, now, error[:LONGEST_ERROR], given_up))
        )
        wait: float = min(self._settings.webhook_retry_seconds * 2 ** min(failures, 10), LONGEST_WAIT)
        return 0.0 if given_up else wait


async def _batch(feed: Log, hook: Hook, at: int) -> tuple[int, list[bytes]]:
    """The next notifications for a webhook, and where in the log they end."""
    notifications: list[bytes] = []
    size = 0
    head = feed.head  # before the lines: an event that is added after them is behind it
    lines = await lines_behind(feed, at)
    for line in lines:
        at = line.id
        if (hook.types is None or line.type in hook.types) and feed.gets(hook.reader, line):
            notifications += line.notifications(hook.reader.role)
            size += line.size
            if size >= MOST_BYTES:
                break
    return (at if lines else head), notifications


def listed(session: Session) -> list[WebhookView]:
    """The webhooks, inactive ones among them."""
    return [_view(row) for row in stored.webhooks(session)]


def one(session: Session, webhook_id: str) -> WebhookView:
    """A webhook; raises NotFound."""
    return _view(_webhook_of(session, webhook_id))


async def create(sender: Sender, viewer: Viewer, body: WebhookBody) -> WebhookView:
    """Make a webhook that is told what its account may see from now on; raises BadRequest or Conflict."""
    await _check_target(sender.service.settings, body.url)
    known_ids = await run_sync(_contests_of, sender.service)
    if unknown := sorted(set(body.contest_ids) - set(known_ids)):
        raise BadRequest(N_("expected contests that exist, found %(found)r"), where="contest_ids", found=unknown[0])
    positions: Positions = {}
    for contest_id in body.contest_ids or known_ids:
        log = await sender.hub.open_log(contest_id, complete=True)
        positions[contest_id] = [log.epoch, log.head]
    made = await run_sync(_store, sender.service, str(viewer.account_id), body, positions)
    sender.start()
    return made


async def change(sender: Sender, webhook_id: str, body: WebhookChange) -> WebhookView:
    """Pause a webhook, or set it going again with its failures forgotten: it is told what it missed."""
    changed = await run_sync(_set_active, sender.service, webhook_id, body)
    sender.start()
    return changed


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
    """Show a webhook."""
    return WebhookView(
        id=row.id,
        url=row.url,
        contest_ids=row.contest_ids,
        endpoints=row.endpoints,
        active=row.active,
        failing_since=format_time_or_none(row.failing_since),
        failures=row.failures,
        error=row.error,
    )


def _contests_of(service: Service) -> list[str]:
    """The ids of all contests."""
    with service.database.read() as session:
        return [row.id for row in contests_queries.contests(session)]


def _store(service: Service, account_id: str, body: WebhookBody, positions: Positions) -> WebhookView:
    """Store a webhook that begins at these positions; raises Conflict for a known id or too many."""
    with service.database.write() as session:
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


def _set_active(service: Service, webhook_id: str, body: WebhookChange) -> WebhookView:
    with service.database.write() as session:
        row = _webhook_of(session, webhook_id)
        if body.active and not row.active:
            row.failing_since, row.failures, row.error = None, 0, None
        row.active = body.active
        return _view(row)

"""Calls webhooks: each in a task of its own, one request at a time and in order, so that none waits for another.

Calls are signed, and go only to public or allowed addresses, checked after name resolution.

How far a webhook has got is durable before the next request is sent. What was sent, but not yet known to be taken when
the server is killed, is sent again: at least once, and never after the position is kept. Of several servers the one
that has a webhook's lock calls it.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeVar

import httpx
import structlog
from anyio.to_thread import run_sync

from app.accounts.service.viewer import viewer_of
from app.contests import queries as contests_queries
from app.core.clock import utc_now
from app.core.db.writer import Handler
from app.core.service import Service
from app.feed import queries as feed_queries
from app.feed.queries import Delivered, Failed
from app.feed.service.log import Log, Reader, lines_behind, reader_of
from app.feed.service.publisher import FeedPublisher

P = TypeVar("P")
R = TypeVar("R")
log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.webhooks")
MOST_BYTES = 256 * 1024
LONGEST_ERROR = 300
LONGEST_WAIT = 60.0


SECONDS_BETWEEN_TRIES = 1.0


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

    def __init__(self, service: Service, publisher: FeedPublisher) -> None:
        self._service = service
        self._publisher = publisher
        self._settings = service.settings
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: asyncio.Task[None] | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._news: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        publisher.listen(lambda _contest_id: self._soon(self._wake))
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
        with self._service.database.read() as session:
            return feed_queries.active(session)

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
                        self._publisher.follow(contest_id)
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
                self._publisher.leave(contest_id)
            await run_sync(self._service.locks.give_back, lock_of(hook_id))

    async def _has_lock(self, hook_id: str) -> bool:
        """Whether this server is the one that calls a webhook."""
        locks = self._service.locks
        return locks.is_alone or await run_sync(locks.take, lock_of(hook_id))

    def _hook(self, hook_id: str) -> Hook | None:
        with self._service.database.read() as session:
            pair = feed_queries.with_account(session, hook_id)
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
                self._service.keys.decrypt(feed_queries.encrypted_token(row)),
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
            feed = self._publisher.log(contest_id)
            if feed is None:
                feed = await asyncio.wrap_future(self._publisher.fresh(contest_id, complete=False))
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
                await self._written(feed_queries.deliver, Delivered(hook.id, contest_id, feed.epoch, at))
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
        await self._written(feed_queries.fail, Failed(hook_id, now, error[:LONGEST_ERROR], given_up))
        wait: float = min(self._settings.webhook_retry_seconds * 2 ** min(failures, 10), LONGEST_WAIT)
        return 0.0 if given_up else wait

    async def _written(self, handler: Handler[P, R], payload: P) -> None:
        await asyncio.wrap_future(self._service.writer.submit(handler, payload))


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

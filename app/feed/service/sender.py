"""Calls to webhooks, by tasks of the server's event loop.

Each webhook has its own task, which sends one request at a time and in order, so that none waits for another. How far
a webhook has got is durable before the next request is sent: a call is repeated if the server is killed before that
(at least once). Of several servers the one that has a webhook's lock calls it (guarantee 7).
"""

import asyncio
import hmac
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

import httpx
import structlog
from anyio.to_thread import run_sync
from cryptography.fernet import InvalidToken

from app.accounts.service.viewer import viewer_of
from app.contests import queries as contests_queries
from app.core.clock import utc_now
from app.core.service import Service
from app.feed import queries as stored
from app.feed.service.hub import Hub
from app.feed.service.index import Reader, reader_of
from app.feed.service.log import Log, lines_behind
from app.feed.service.webhooks import Outward, networks_of
from app.tables import WebhookRow

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.webhooks")
MOST_BYTES = 256 * 1024  # a request ends with the event that exceeds it
LONGEST_ERROR = 300
OTHER_KEY = "its token is encrypted by a key that this server lacks: put the key back, or make the webhook again"
LONGEST_WAIT = 60.0
SECONDS_BETWEEN_TRIES = 1.0  # while another server has the lock


def lock_of(hook_id: str) -> str:
    """The name of the lock of the server that calls a webhook."""
    return f"webhook {hook_id}"


def signed(token: str, body: bytes, seconds: int) -> dict[str, str]:
    """The headers that prove who calls and when: HMAC-SHA256, by the token, of the time, a full stop and the body."""
    digest = hmac.new(token.encode(), b"%d.%b" % (seconds, body), sha256).hexdigest()
    return {"Webhook-Token": token, "Webhook-Timestamp": str(seconds), "Webhook-Signature": f"sha256={digest}"}


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook to call: its row, its token (None: of another key), whose view it gets, and contests to follow."""

    row: WebhookRow
    token: str | None
    reader: Reader
    contest_ids: Sequence[str]

    def position(self, feed: Log) -> int:
        """The last event sent of a log; 0 for an unknown log, such as a new contest's."""
        epoch, event = self.row.positions.get(feed.contest_id, ("", 0))
        return int(event) if epoch == feed.epoch else 0


class Sender:
    """Calls webhooks from the server's event loop."""

    def __init__(self, service: Service, hub: Hub) -> None:
        self._service = service
        self._hub = hub
        self._publisher = hub.publisher
        self._settings = service.settings
        self._running: asyncio.Task[None] | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._news: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        hub.publisher.listeners.append(lambda _contest_id: hub.soon(self._wake))
        service.database.listeners.append(lambda: hub.soon(self._reload))

    def start(self) -> None:
        """Begin to call active webhooks; in the event loop."""
        self._hub.check_going()
        self._running = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop; what was not taken is sent after the next start."""
        tasks = [self._running, *self._tasks.values()] if self._running is not None else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def served(self) -> set[str]:
        """Ids of the webhooks that may be called before the next webhook is added or changed."""
        return {hook_id for hook_id, task in list(self._tasks.items()) if not task.done()}

    def _wake(self) -> None:
        for news in self._news.values():
            news.set()

    def _reload(self) -> None:
        self._news["reload"].set()
        self._wake()

    async def _run(self) -> None:
        """Begin a task for each webhook that becomes active."""
        settings = self._settings
        transport = Outward(networks_of(settings.webhook_networks))
        timeout = settings.webhook_timeout_seconds
        reload = self._news["reload"]
        async with httpx.AsyncClient(timeout=timeout, transport=transport, trust_env=False) as client:
            while True:
                reload.clear()
                wait = None
                try:
                    for hook_id in await run_sync(self._active):
                        if hook_id not in self.served():
                            self._tasks[hook_id] = asyncio.create_task(self._serve(client, hook_id))
                except Exception:  # the database is gone for a moment: this task is the only one that begins others
                    log.exception("the list of webhooks could not be read; it is tried again")
                    wait = settings.webhook_retry_seconds
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await reload.wait()

    def _active(self) -> set[str]:
        with self._service.database.read() as session:
            return stored.active(session)

    async def _serve(self, client: httpx.AsyncClient, hook_id: str) -> None:
        """Call one webhook for as long as it is active."""
        followed: set[str] = set()
        news = self._news[hook_id]
        try:
            while True:
                # Before reading: an event that comes in between wakes this task again.
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
                except Exception:
                    log.exception("a webhook's task failed and is retried", webhook=hook_id)
                    wait = self._settings.webhook_retry_seconds
                if wait is None:
                    await news.wait()
                else:
                    await asyncio.sleep(wait)
        finally:
            for contest_id in followed:
                self._publisher.leave(contest_id)
            # Another server may continue at once, and need not wait for the connection of this one to end.
            await run_sync(self._service.locks.give_back, lock_of(hook_id))

    async def _has_lock(self, hook_id: str) -> bool:
        """Whether this server is the one that calls a webhook."""
        locks = self._service.locks
        return locks.is_alone or await run_sync(locks.take, lock_of(hook_id))

    def _hook(self, hook_id: str) -> Hook | None:
        with self._service.database.read() as session:
            pair = stored.with_account(session, hook_id)
            if pair is None or not pair[0].active:
                return None
            row, account = pair
            known_ids = [contest.id for contest in contests_queries.contests(session)]
            wanted = [id_ for id_ in known_ids if not row.contest_ids or id_ in row.contest_ids]
            try:
                token = self._service.keys.decrypt(row.token).decode()
            except InvalidToken:
                token = None
            return Hook(row, token, reader_of(viewer_of(account)), wanted)

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
                # The lock may have been lost while the last call waited for its reply.
                if not await self._has_lock(hook.row.id):
                    return SECONDS_BETWEEN_TRIES
                error = await self._call(client, hook, contest_id, notifications)
                if error is not None:
                    return await self._failed(hook, error)
                await run_sync(self._delivered, hook, feed, at)
        return None

    async def _call(
        self, client: httpx.AsyncClient, hook: Hook, contest_id: str, notifications: Sequence[bytes]
    ) -> str | None:
        """Send a request; returns its fault, or None if it was taken. Redirects are no 2xx, and not followed."""
        if hook.token is None:
            return OTHER_KEY
        head = b'{"contest_id":"' + contest_id.encode() + b'","notifications":['
        body = head + b",".join(notifications) + b"]}"
        seconds = int(utc_now().timestamp())
        headers = {"Content-Type": "application/json", **signed(hook.token, body, seconds)}
        try:
            # The time-out of httpx holds for each read: a receiver that sends a byte now and then would never end.
            async with asyncio.timeout(self._settings.webhook_timeout_seconds):
                async with client.stream("POST", hook.row.url, content=body, headers=headers) as reply:
                    return None if reply.is_success else f"it answered {reply.status_code}"
        except TimeoutError:
            return f"it did not answer within {self._settings.webhook_timeout_seconds:g} s"
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return f"{type(error).__name__}: {error}"

    def _delivered(self, hook: Hook, feed: Log, at: int) -> None:
        """Store how far a webhook has got; one that takes a call has no failures any longer."""
        with self._service.database.write(quiet=True) as session:
            row = session.get(WebhookRow, hook.row.id)
            if row is not None:
                row.positions = {**row.positions, feed.contest_id: [feed.epoch, at]}
                row.failing_since, row.failures, row.error = None, 0, None

    async def _failed(self, hook: Hook, error: str) -> float:
        """Store that a call failed, and stop calling if calls have failed for long; returns how long to wait."""
        now = utc_now()
        since = hook.row.failing_since or now
        given_up = now - since >= timedelta(seconds=self._settings.webhook_give_up_seconds)
        log.info("a webhook failed", webhook=hook.row.id, error=error[:LONGEST_ERROR], given_up=given_up)

        def store() -> None:
            with self._service.database.write(quiet=True) as session:
                row = session.get(WebhookRow, hook.row.id)
                if row is not None:
                    row.failing_since = row.failing_since or now
                    row.failures, row.error = row.failures + 1, error[:LONGEST_ERROR]
                    row.active = row.active and not given_up

        await run_sync(store)
        wait: float = min(self._settings.webhook_retry_seconds * 2 ** min(hook.row.failures, 10), LONGEST_WAIT)
        return 0.0 if given_up else wait  # its task reads the row again, and ends


async def _batch(feed: Log, hook: Hook, at: int) -> tuple[int, list[bytes]]:
    """The next notifications for a webhook, and where in the log they end."""
    notifications: list[bytes] = []
    size = 0
    head = feed.head  # before the lines: an event that is added after them is behind it
    lines = await lines_behind(feed, at)
    for line in lines:
        at = line.id
        if (not hook.row.endpoints or line.type in hook.row.endpoints) and feed.gets(hook.reader, line):
            notifications += line.notifications(hook.reader.role)
            size += line.size
            if size >= MOST_BYTES:
                break
    return (at if lines else head), notifications

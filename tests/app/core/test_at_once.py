"""Of two writes at once, through two servers, that look for what the other is about to write, one waits and sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy.orm import Session

from app.accounts.service import tokens
from app.contests.queries import contest_of
from app.core.clock import utc_now
from app.feed.service import webhooks
from app.messages.service import clarifications
from app.tables import Base, ClarificationRow, TokenRow, WebhookRow
from tests.app.contests.test_clock import at, enrol, make
from tests.builders.contests import HOUR, add_problem
from tests.builders.service import Api
from tests.builders.two import two_apis, waiting_for_locks
from tests.builders.waiting import until

Ask = Callable[[], httpx.Response]
HOOK = {"url": "http://127.0.0.1:9/", "token": "a-secret"}


@pytest.fixture
def two(postgresql_url: str, tmp_path: Path) -> Iterator[tuple[Api, Api]]:
    """Two servers with contests `one` and `two` that run now, and `later`, which does not."""
    with two_apis(postgresql_url, tmp_path) as (one, other):
        contests(one)
        until(lambda: other.get("contests/later").status_code == 200)
        yield one, other


def contests(api: Api) -> None:
    for contest_id in ("one", "two"):
        make(api, contest_id, start_time=at(-HOUR))
    make(api, "later", start_time=at(100 * HOUR))


def statuses_of_both(api: Api, table: str, first: Ask, second: Ask) -> list[int]:
    """The statuses of two requests, each of which has looked, or waits to, before the other can insert into a table."""
    with ThreadPoolExecutor(2) as pool:
        with api.service.database.transaction() as connection:
            connection.exec_driver_sql(f"LOCK TABLE {table} IN SHARE MODE")
            asked = [pool.submit(first), pool.submit(second)]
            until(lambda: waiting_for_locks(api.service.database) == 2)
        return sorted(each.result().status_code for each in asked)


def status_after(api: Api, first: Callable[[Session], object], second: Ask) -> int:
    """The status of a request that comes when another one has written, but not committed."""
    with ThreadPoolExecutor(1) as pool:
        with api.service.database.write() as session:
            first(session)
            session.flush()
            asked = pool.submit(second)
            until(lambda: asked.done() or waiting_for_locks(api.service.database) == 1)
        return asked.result().status_code


def token_row(number: int) -> TokenRow:
    return TokenRow(digest=f"{number:064}", account_id="team", created=utc_now(), expires=None)


def webhook_row(number: int) -> WebhookRow:
    return WebhookRow(id=str(number), account_id="admin", url=HOOK["url"], token="", active=False, created=utc_now())


def question_row(number: int) -> ClarificationRow:
    asked = {"contest_id": "one", "account_id": "team", "from_team_id": "team", "text": "What?", "time": utc_now()}
    return ClarificationRow(id=str(number), contest_time_ms=0, **asked)


@pytest.mark.parametrize("what", ["enrol", "withdraw", "disqualify", "add a problem", "change it", "remove it"])
def test_teams_and_problems_of_a_contest_stay_as_they_are_when_it_becomes_final(
    two: tuple[Api, Api], what: str
) -> None:
    one, other = two
    assert enrol(one, "one", "team").status_code == 200
    for slug in ("echo", "more"):
        add_problem(one.service, slug=slug)
    assert one.post("contests/one/problems", user="admin", json={"id": "echo"}).status_code == 201
    until(lambda: len(other.get("contests/one/problems").json()) == 1)

    def finalize(session: Session) -> None:
        contest_of(session, "one", for_update=True).finalized = utc_now()

    path, disqualified = "contests/one/teams/team", {"disqualified": True}
    problems, other_label = "contests/one/problems", {"label": "Z"}
    asks: dict[str, Ask] = {
        "enrol": lambda: enrol(other, "one", "other"),
        "withdraw": lambda: other.delete(path, user="admin"),
        "disqualify": lambda: other.patch(path, user="admin", json=disqualified),
        "add a problem": lambda: other.post(problems, user="admin", json={"id": "more"}),
        "change it": lambda: other.patch(f"{problems}/echo", user="admin", json=other_label),
        "remove it": lambda: other.delete(f"{problems}/echo", user="admin"),
    }
    assert status_after(one, finalize, asks[what]) == 403


@pytest.mark.parametrize(
    ("limit", "row", "path", "body", "user", "refused"),
    [
        (tokens.MOST, token_row, "account/tokens", {"label": "mine"}, "team", 409),
        (webhooks.MOST, webhook_row, "webhooks", HOOK, "admin", 409),
        (clarifications.MOST_IN_A_MINUTE, question_row, "contests/one/clarifications", {"text": "Why?"}, "team", 429),
    ],
    ids=["tokens", "webhooks", "questions"],
)
def test_the_last_place_of_a_limit_goes_to_one_of_two(
    postgresql_url: str,
    tmp_path: Path,
    limit: int,
    row: Callable[[int], Base],
    path: str,
    body: dict[str, str],
    user: str,
    refused: int,
) -> None:
    with two_apis(postgresql_url, tmp_path, webhook_networks="127.0.0.0/8") as (one, other):
        contests(one)
        enrol(one, "one", "team", "other")
        until(lambda: len(other.get("contests/one/teams").json()) == 2)
        with one.service.database.write() as session:
            session.add_all(map(row, range(1, limit)))
        statuses = statuses_of_both(
            one,
            row(0).__tablename__,
            lambda: one.post(path, user=user, json=body),
            lambda: other.post(path, user=user, json=body),
        )
    assert statuses == [201, refused]


def test_two_questions_at_once_get_a_number_each(two: tuple[Api, Api]) -> None:
    one, other = two
    enrol(one, "one", "team", "other")
    until(lambda: len(other.get("contests/one/teams").json()) == 2)
    path, body = "contests/one/clarifications", {"text": "Why?"}
    statuses = statuses_of_both(
        one,
        "clarifications",
        lambda: one.post(path, user="team", json=body),
        lambda: other.post(path, user="other", json=body),
    )
    assert statuses == [201, 201]
    assert sorted(each["id"] for each in one.get(path, user="admin").json()) == ["1", "2"]

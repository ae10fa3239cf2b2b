"""The organiser's pages refuse whom the API refuses, and change nothing for pages of other origins."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from app.accounts.service.tokens import OPERATIONS, Who, who_may
from app.page_routes import PLACES
from app.tables import AccountRow, ContestRoleRow
from tests.app.core.test_pages import References
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.pages import OPENS, USERS, VALUES
from tests.builders.service import HASH, Api, open_api
from tests.conftest import migrated_sqlite


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A running contest, with an owner and a judge of its own, and another one."""
    folder = tmp_path_factory.mktemp("rights")
    with open_api(migrated_sqlite(folder / "jurado.sqlite"), folder / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        add_contest(api.service, "elsewhere", started=-timedelta(hours=1))
        add_submission(api.service, {})
        now = datetime.now(UTC)
        with api.service.database.write() as session:
            for account_id, role in (("staff", "judge"), ("boss", "owner")):
                if account_id == "boss":
                    session.add(AccountRow(id="boss", username="boss", password_hash=HASH, type="analyst", created=now))
                    session.flush()
                session.add(ContestRoleRow(contest_id="c", account_id=account_id, role=role, granted=now))
        yield api


def address(path: str, contest_id: str = "c") -> str:
    return path.format(**VALUES | {"contest_id": contest_id})


def pages(method: str) -> dict[str, str]:
    """The operations of pages by their addresses."""
    return {place[1].replace(":path}", "}"): place[3] for place in PLACES if place[0] == method}


def test_every_page_names_an_operation_whose_rights_are_known() -> None:
    assert {place[3] for place in PLACES} <= set(OPERATIONS)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_refuses_whom_its_operation_refuses(api: Api, method: str) -> None:
    for path, operation in pages(method).items():
        for user in set(USERS) - OPENS[who_may(operation)]:
            reply = api.request(method, address(path), user=user)
            if user is None:
                assert (reply.status_code, reply.headers["Location"][:7]) == (303, "/login?"), path
            else:
                assert reply.status_code == 403, (path, user)


def test_a_judge_of_one_contest_opens_no_page_of_another(api: Api) -> None:
    for path, operation in pages("GET").items():
        if "{contest_id}" in path and who_may(operation) is not Who.EVERYBODY:
            assert api.get(address(path, "elsewhere"), user="staff").status_code == 403, path


def test_a_page_opens_for_those_who_may_and_holds_nothing_inline(api: Api) -> None:
    for path, operation in pages("GET").items():
        for user in OPENS[who_may(operation)]:
            reply = api.get(address(path), user=user)
            is_there = not any(f"{{{name}}}" in path for name in ("rejudging_id", "job_id", "path"))
            assert reply.status_code == (200 if is_there else 404), (path, user, reply.text)
            references = References(reply.text)
            assert references.inline == []
            assert all(each.startswith(("/", "?", "#")) for each in references.addresses), path


def test_no_page_of_another_origin_changes_anything(api: Api) -> None:
    for path in pages("POST"):
        for origin in ("https://evil.test", "null"):
            reply = api.post(address(path), user="admin", headers={"Origin": origin})
            assert (reply.status_code, "another origin" in reply.text) == (403, True), path

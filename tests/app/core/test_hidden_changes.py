"""What no one but judges may know of changes no byte of any reply to others: no body, length, ETag or status."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from app.core.clock import utc_now
from app.tables import AccountRow, JudgementRow, TeamRow
from tests.builders.contests import FINAL, HOUR, add_contest, add_problem, add_submission, judgement_id, with_checkers
from tests.builders.described import document
from tests.builders.scoring import raw
from tests.builders.service import Api

OTHERS = (None, "other")
VARYING = {"x-request-id", "jurado-time", "date"}
PASSING = re.compile(r'"(contest_time|token)":"[^"]*"(?=[,}])')
"""Where a team stands in its time; and the places in a feed, which tell that something was told to someone."""
IDS = {
    "contest_id": "c",
    "problem_id": "echo",
    "team_id": "team",
    "account_id": "other",
    "name": "02",
    "case_name": "02",
    "type_id": "AC",
    "language_id": "answers",
    "group_id": "hidden-group",
}
EXTRA = (
    "scoreboard?cases=true", "event-feed?stream=false", "scores/history?steps=10",
    "submissions?team_id=team", "submissions?team_id=shadow", "judgements?judgement_type_id=AC", "runs?judgement_id=x",
    "teams?group_id=hidden-group", "scoreboard?group_id=hidden-group", "clarifications?problem_id=echo",
    "commentary", "submissions/4", "submissions/5", "submissions/99", "submissions/4/report",
    "problems/echo/testcases/last/input", "problems/echo/quota?team_id=shadow",
)  # fmt: skip


@pytest.fixture
def frozen(quick_api: Api) -> Api:
    """A contest in its freeze, with final cases that no one has yet and a hidden team that has sent something."""
    api = with_checkers(quick_api)
    add_problem(api.service, FINAL)
    with api.service.database.write() as session:
        session.add(TeamRow(id="shadow", name="Shadow", label="shadow", hidden=True))
        session.flush()
        session.add(AccountRow(id="shadow", username="shadow", type="team", team_id="shadow", created=utc_now()))
    add_contest(api.service, started=4.5 * HOUR, freeze=HOUR, rule={"kind": "relative"})
    add_submission(api.service, {"02": raw(2)}, minute=10)
    add_submission(api.service, {"02": raw(3)}, minute=20, team="other")
    add_submission(api.service, None, minute=250, files={"02": b"2\n"})
    return api


def addresses(api: Api) -> list[str]:
    """Every address that can be read, filled with what there is; those of streams end at once."""
    paths = {f"/api/contests/c/{each}" for each in EXTRA}
    for path, operations in document()["paths"].items():
        if "get" in operations and "stream" not in path and "event-feed" not in path:
            for submission in ("1", "3"):
                ids = {**IDS, "submission_id": submission, "judgement_id": judgement_id(api.service, submission)}
                paths.add(re.sub(r"\{(\w+)\}", lambda name, ids=ids: ids.get(name[1], "1"), path))
    return sorted(paths - {"/metrics", "/health/ready", "/health/live"})


def told(api: Api) -> dict[tuple[str | None, str], tuple[Any, ...]]:
    """What others are told: each reply with its headers."""
    return {(user, path): shown(path, api.get(path, user=user)) for user in OTHERS for path in addresses(api)}


def shown(path: str, reply: httpx.Response) -> tuple[Any, ...]:
    headers = sorted((name, value) for name, value in reply.headers.items() if name not in VARYING)
    passes = path.endswith("/participation") or "event-feed" in path
    return reply.status_code, headers, PASSING.sub("", reply.text) if passes else reply.text


def silent_rejudging(api: Api) -> None:
    made = api.post("contests/c/rejudgings", user="admin", json={"reason": "quietly", "submissions": ["1"]})
    assert made.status_code in {201, 202}, made.text


def cancelled_rejudging(api: Api) -> None:
    made = api.post("contests/c/rejudgings", user="admin", json={"reason": "quietly", "submissions": ["2"]})
    assert api.post(f"contests/c/rejudgings/{made.json()['id']}/cancel", user="admin").is_success


def hidden_team_submits(api: Api) -> None:
    add_submission(api.service, {"02": raw(9)}, minute=30, team="shadow")


def hidden_team_is_renamed(api: Api) -> None:
    assert api.patch("teams/shadow", user="admin", json={"name": "Another"}).is_success


def hidden_group(api: Api) -> None:
    assert api.post("contests/c/groups", user="admin", json={"id": "hidden-group", "name": "Secret"}).is_success
    assert api.patch("teams/shadow", user="admin", json={"group_ids": ["hidden-group"]}).is_success


def best_behind_the_freeze(api: Api) -> None:
    add_submission(api.service, {"02": raw(7)}, minute=256, team="shadow")


def verdict_behind_the_freeze(api: Api) -> None:
    """Whether it was accepted, and whether it has been judged at all."""
    with api.service.database.write() as session:
        row = session.scalars(select(JudgementRow).where(JudgementRow.submission_id == 3)).one()
        row.state, row.type, row.end_time = "done", "AC", utc_now()


def jury_asks_a_team(api: Api) -> None:
    body = {"text": "A word with you", "to_team_ids": ["team"], "problem_id": "echo"}
    assert api.post("contests/c/clarifications", user="judge", json=body).is_success


def team_asks_the_jury(api: Api) -> None:
    made = api.post("contests/c/clarifications", user="team", json={"text": "Is 2 even?"})
    assert made.is_success, made.text


def account_of_a_judge(api: Api) -> None:
    body = {"username": "judge2", "password": "a long enough one", "type": "judge"}
    assert api.post("accounts", user="admin", json=body).is_success


HIDDEN: tuple[Callable[[Api], None], ...] = (
    silent_rejudging,
    cancelled_rejudging,
    hidden_team_submits,
    hidden_team_is_renamed,
    hidden_group,
    best_behind_the_freeze,
    verdict_behind_the_freeze,
    jury_asks_a_team,
    team_asks_the_jury,
    account_of_a_judge,
)


def test_hidden_changes_change_no_byte_of_what_others_are_told(frozen: Api) -> None:
    """All of them one after the other: what differs in the end names its address."""
    told(frozen)  # whoever asks first may be told that something is not written yet
    before = told(frozen)
    for change in HIDDEN:
        change(frozen)
    frozen.service.boards.all_changed()
    after = told(frozen)
    differing = {place: (before[place], after[place]) for place in before if before[place] != after[place]}
    assert differing == {}

"""A contest decides how much of a rejection teams are told; judges are told all of it, at every door."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders.contests import add_contest, add_problem, add_submission, with_checkers
from tests.builders.examples import sqlite_first
from tests.builders.judging import judge
from tests.builders.service import Api
from tests.builders.streams import fold, read_feed, shown

FULL = 'line 1: expected another line, found "5"'
TOLD = {"verdict": "rejected", "position": "line 1: rejected", "full": FULL}
USERS = (None, "team", "other", "judge", "admin")


@pytest.fixture
def contest(api: Api) -> Api:
    """A contest that shows answers to everyone, with a rejected one of `team`."""
    add_problem(api.service)
    add_contest(api.service, settings={"show_others_answers": True})
    add_submission(api.service, None, files={"02": b"5\n", "03": b"3\n"})
    with_checkers(api)
    assert judge(api.service) == 1
    return api


def messages(api: Api, user: str | None) -> set[str]:
    """What a user is told of the rejected answer: in the report, the list of runs, one run, and the feed."""
    case = next(
        each
        for each in api.get("contests/c/submissions/1/report", user=user).json()["cases"]
        if each["raw"] is None and each["file"]
    )
    runs = [each for each in api.get("contests/c/runs", user=user).json() if each["judgement_type_id"] == "WA"]
    one = api.get(f"contests/c/runs/{runs[0]['id']}", user=user).json()
    fed = fold(read_feed(api, user=user))["runs"][runs[0]["id"]]
    found: list[dict[str, Any]] = [case["message"], runs[0]["message"], one["message"], fed["message"]]
    return {each["text"] for each in found}


def test_everybody_is_told_all_of_it_where_nothing_was_set(contest: Api) -> None:
    assert contest.get("contests/c").json()["settings"]["rejections"] == "full"
    assert {user: messages(contest, user) for user in USERS} == {user: {FULL} for user in USERS}


@pytest.mark.parametrize("rejections", ["verdict", "position"])
def test_only_judges_are_told_more_than_the_contest_says(contest: Api, rejections: str) -> None:
    changed = contest.patch("contests/c", user="admin", json={"settings": {"rejections": rejections}})
    assert changed.json()["settings"]["rejections"] == rejections
    expected = {user: {FULL if user in {"judge", "admin"} else TOLD[rejections]} for user in USERS}
    assert {user: messages(contest, user) for user in USERS} == expected


@sqlite_first
def test_who_follows_a_contest_is_told_anew_when_it_tells_more(contest: Api) -> None:
    events = {user: read_feed(contest, user=user) for user in USERS}
    for rejections in ("verdict", "full", "position"):
        contest.patch("contests/c", user="admin", json={"settings": {"rejections": rejections}})
        for user in USERS:
            news = read_feed(contest, user=user, token=events[user][-1]["token"])
            told = [each["data"]["message"]["text"] for each in news if each["type"] == "runs" and each["data"]]
            assert (TOLD[rejections] in told) == (user not in {"judge", "admin"}), user
            events[user] += news
            assert fold(events[user]) == shown(contest, "c", user), user


def test_what_is_no_such_word_is_refused(quick_api: Api) -> None:
    add_contest(quick_api.service, problem_id=None)
    refused = quick_api.patch("contests/c", user="admin", json={"settings": {"rejections": "little"}})
    assert refused.status_code == 400
    assert "'verdict', 'position' or 'full'" in refused.json()["message"]


def test_an_accepted_answer_keeps_its_message(contest: Api) -> None:
    contest.patch("contests/c", user="admin", json={"settings": {"rejections": "verdict"}})
    cases = {each["name"]: each for each in contest.get("contests/c/submissions/1/report", user="team").json()["cases"]}
    assert cases["03"]["message"]["key"] == "accepted"

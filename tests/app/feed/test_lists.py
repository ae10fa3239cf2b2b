"""Lists say at every moment what a slow look at all rows says, whole or filtered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.accounts.service.viewer import PUBLIC, Viewer
from app.submissions.queries import submission_queries
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.scoring import REJECTED, raw
from tests.builders.service import Api, open_api
from tests.builders.streams import open_stream
from tests.builders.verdicts import judge

VIEWERS = {
    None: PUBLIC,
    "judge": Viewer("judge"),
    "team": Viewer("team", "team", "team"),
    "other": Viewer("team", "other", "other"),
}


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A service that reads lists three submissions at a time."""
    with open_api(database_url, tmp_path / "home", list_slice=3) as opened:
        yield opened


def test_a_list_has_an_etag_that_changes_with_what_is_seen(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    for path in ("teams", "problems", "groups"):
        reply = api.get(f"contests/c/{path}")
        again = api.get(f"contests/c/{path}", headers={"If-None-Match": reply.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    tag = api.get("contests/c/teams").headers["etag"]
    team = {"id": "other", "name": "Another name"}
    assert api.put("teams/other", user="admin", json=team).is_success
    assert api.get("contests/c/teams", headers={"If-None-Match": tag}).status_code == 200


def test_whole_lists_of_submissions_have_no_etag_which_would_tell_of_hidden_changes(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    for path in ("submissions", "judgements", "runs"):
        assert "etag" not in api.get(f"contests/c/{path}").headers


@pytest.mark.parametrize("count", [0, 1, 7])
def test_a_zipped_list_is_one_gzip_member_of_the_plain_one(api: Api, count: int) -> None:
    add_problem(api.service)
    add_contest(api.service)
    for minute in range(count):
        add_submission(api.service, {"02": raw(5)}, minute=minute + 1)
    plain = api.get("contests/c/judgements", headers={"Accept-Encoding": "identity"})
    zipped = api.get("contests/c/judgements", headers={"Accept-Encoding": "gzip"})
    assert (plain.headers.get("content-encoding"), zipped.headers["content-encoding"]) == (None, "gzip")
    assert zipped.content == plain.content
    assert len(plain.json()) == count


def test_lists_that_are_filtered_are_part_of_the_whole(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    for minute in range(6):
        add_submission(api.service, {"02": raw(5)}, minute=minute + 1, team=("team", "other")[minute % 2])
    whole = api.get("contests/c/submissions").json()
    of_team = api.get("contests/c/submissions?team_id=team").json()
    assert of_team == [each for each in whole if each["team_id"] == "team"]
    judgements = api.get("contests/c/judgements").json()
    assert api.get(f"contests/c/judgements?submission_id={whole[3]['id']}").json() == [judgements[3]]
    assert api.get("contests/c/judgements?submission_id=none").json() == []
    runs = api.get("contests/c/runs", user="judge").json()
    first = judgements[0]["id"]
    of_first = [each for each in runs if each["judgement_id"] == first]
    assert api.get(f"contests/c/runs?judgement_id={first}", user="judge").json() == of_first


PARTS = (
    "submissions?team_id=team",
    "submissions?problem_id=p",
    "submissions?team_id=other&language_id=answers",
    "submissions?account_id=",
    "judgements?judgement_type_id=AC",
    "judgements?judgement_type_id=",
    "judgements?submission_id=",
    "runs?judgement_type_id=WA",
    "runs?judgement_type_id=AC",
    "teams?organization_id=",
    "clarifications?problem_id=",
)


def test_filters_follow_every_change_for_every_viewer(api: Api) -> None:
    """A filtered list is what the whole one has of these values, before and after verdicts, with a tag of its own."""
    add_problem(api.service)
    add_contest(api.service)
    waiting = []
    for minute in range(1, 12):
        scores = [None, {"02": raw(5)}, {"02": raw(5), "03": REJECTED}][minute % 3]
        waiting.append(add_submission(api.service, scores, minute=minute, team=("team", "other")[minute % 2]))
    for step in range(3):
        for user in VIEWERS:
            for part in PARTS:
                name, _, query = part.partition("?")
                whole = api.get(f"contests/c/{name}", user=user).json()
                wanted = {key: value or None for key, _, value in (each.partition("=") for each in query.split("&"))}
                expected = [each for each in whole if all(each.get(key) == wanted[key] for key in wanted)]
                reply = api.get(f"contests/c/{part}", user=user)
                assert reply.json() == expected, (part, user, step)
        judge(api.service, waiting[[2, 5, 8][step]], {"02": raw(3)})


def test_a_long_list_is_sent_part_by_part_until_its_client_has_gone(api: Api, monkeypatch: Any) -> None:
    add_problem(api.service)
    add_contest(api.service)
    for minute in range(1, 20):
        add_submission(api.service, {"02": raw(5)}, minute=minute)
    read: list[int] = []
    next_ids = submission_queries.next_ids

    def slow_ids(*args: Any, **options: Any) -> list[int]:
        time.sleep(0.1)
        ids = next_ids(*args, **options)
        read.extend(ids)
        return ids

    monkeypatch.setattr(submission_queries, "next_ids", slow_ids)
    with open_stream(api, "contests/c/submissions") as stream:
        stream.wait(lambda: len(read) >= 3)
    assert len(read) < 19
    assert len(api.get("contests/c/submissions").json()) == 19

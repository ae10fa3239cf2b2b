"""What a team sends is within its bytes, and what is refused leaves nothing on the disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, RootTransaction

from app.archive.queries.scrub import Scrub
from app.core.db.commits import CommitInDoubt
from app.submissions.queries import submissions
from app.submissions.queries.submissions import INLINE_LIMIT, Accepted, LimitReached
from tests.builders.contests import add_contest, add_problem, pass_time, with_checkers
from tests.builders.examples import sqlite_first
from tests.builders.judging import judge
from tests.builders.lively import answers
from tests.builders.service import Api, collect_orphans, open_api

pytestmark = sqlite_first

LARGE = INLINE_LIMIT + 1


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


def send(api: Api, data: bytes, user: str = "team", **form: Any) -> httpx.Response:
    files = [("files", ("02.out", data)), ("sources", ("a.py", data))]
    return api.post("contests/c/submissions", user=user, data={"problem_id": "echo", **form}, files=files)


def stored(api: Api) -> set[str]:
    return {each.sha256 for each in api.service.files.stored()}


def change(api: Api, **settings: Any) -> None:
    reply = api.patch("contests/c", user="admin", json={"settings": settings})
    assert reply.status_code in {200, 204}, reply.text


def test_a_submission_that_limits_refuse_leaves_no_file(api: Api) -> None:
    change(api, limits={"max_submissions": 0})
    before = stored(api)
    reply = send(api, os.urandom(LARGE))
    assert (reply.status_code, "expected at most 0 submissions" in reply.json()["message"]) == (429, True)
    assert stored(api) == before


def test_of_two_at_once_the_refused_one_leaves_orphans_alone(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the limit is reached only between the first look and the insert; a file both brought stays."""
    change(api, limits={"max_submissions": 1})
    monkeypatch.setattr("app.submissions.service.submit._check_limits", lambda *_: None)
    before = stored(api)
    first = os.urandom(LARGE)
    assert send(api, first).status_code == 201
    assert send(api, os.urandom(LARGE)).status_code == 429
    assert send(api, first).status_code == 429
    assert len(collect_orphans(api.service) - before) == 1
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda _: send(api, os.urandom(LARGE), user="other").status_code, range(4)))
    assert sorted(replies) == [201, 429, 429, 429]
    assert len(collect_orphans(api.service) - before) == 2


def test_a_team_has_so_many_bytes_in_a_contest(api: Api) -> None:
    """The message, and the quota, say how many are used of how many; an admin's submissions are not refused."""
    change(api, team_bytes=5 * LARGE)
    before = stored(api)
    assert [send(api, os.urandom(LARGE)).status_code for _ in range(2)] == [201, 201]
    kept = stored(api)
    assert len(kept - before) == 4 - 2  # the answer and the source of a submission are the same file
    refused = send(api, os.urandom(LARGE))
    assert refused.status_code == 413
    assert f"at most {5 * LARGE} bytes" in refused.json()["message"]
    assert f"found {4 * LARGE} already and {2 * LARGE}" in refused.json()["message"]
    assert stored(api) == kept
    quota = api.get("contests/c/problems/echo/quota", user="team").json()
    assert (quota["bytes_used"], quota["bytes_limit"]) == (4 * LARGE, 5 * LARGE)
    assert send(api, os.urandom(LARGE), user="other").status_code == 201
    assert send(api, os.urandom(LARGE), user="admin", team_id="team").status_code == 201
    change(api, team_bytes=None)
    assert send(api, os.urandom(LARGE)).status_code == 201


def used(api: Api) -> dict[str, Any]:
    reply = api.get("contests/c/limits", user="judge")
    assert reply.status_code == 200, reply.text
    limits: dict[str, Any] = reply.json()
    return limits


def test_all_teams_together_have_so_many_bytes_in_a_contest(api: Api) -> None:
    """A refusal keeps nothing and does not tell what others sent; judges see it, and admins submit beyond it."""
    change(api, contest_bytes=5 * LARGE)
    assert [send(api, os.urandom(LARGE), user=user).status_code for user in ("team", "other")] == [201, 201]
    files = stored(api)
    refused = send(api, os.urandom(LARGE), user="other")
    assert refused.status_code == 413
    words = f"at most {5 * LARGE} bytes of all teams together in contest c, found more with the {2 * LARGE} of this"
    assert words in refused.json()["message"]
    assert stored(api) == files
    assert (used(api)["bytes_used"], used(api)["bytes_limit"]) == (4 * LARGE, 5 * LARGE)
    quota = api.get("contests/c/problems/echo/quota", user="other").json()
    assert quota["bytes_used"] == 2 * LARGE, "what was refused is given back to the team"
    assert send(api, os.urandom(LARGE), user="admin", team_id="team").status_code == 201
    assert used(api)["bytes_used"] == 6 * LARGE
    change(api, contest_bytes=8 * LARGE)
    assert [send(api, os.urandom(LARGE)).status_code for _ in range(2)] == [201, 413]
    change(api, contest_bytes=None)
    assert send(api, os.urandom(LARGE)).status_code == 201


def test_of_many_at_once_only_so_many_fit_into_a_contest(api: Api) -> None:
    change(api, contest_bytes=7 * LARGE)
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda at: send(api, os.urandom(LARGE), user=("team", "other")[at % 2]), range(8)))
    assert sorted(reply.status_code for reply in replies) == [201] * 3 + [413] * 5
    assert used(api)["bytes_used"] == 6 * LARGE


def test_a_contest_counts_a_submission_once_and_gives_back_what_was_not_taken(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Repeated keys, submissions of other systems that are here already, limits reached, and full disks."""
    change(api, contest_bytes=5 * LARGE, limits={"max_submissions": 2})

    def full(*_: object) -> list[Accepted | LimitReached]:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(submissions, "accept", full)
        assert [send(api, b"x" * LARGE).status_code for _ in range(3)] == [507] * 3
    brought = {"problem_id": "echo", "team_id": "other", "language_id": "answers", "id": "from-afar"}
    brought["time"] = api.get("contests/c").json()["start_time"]
    for content, expected in ((b"z", 201), (b"z", 200), (b"z", 200), (b"y", 409)):
        body = {**brought, "files": answers({"02.out": content * LARGE})}
        reply = api.put("contests/c/submissions/from-afar", user="admin", json=body)
        assert reply.status_code == expected, reply.text
    headers = {"Idempotency-Key": "k"}
    for _ in range(3):
        files = [("files", ("02.out", b"w" * LARGE))]
        data = {"problem_id": "echo"}
        reply = api.post("contests/c/submissions", user="team", data=data, files=files, headers=headers)
        assert reply.status_code == 201
    assert used(api)["bytes_used"] == 2 * LARGE
    assert [send(api, b"v" * LARGE).status_code for _ in range(2)] == [201, 429]
    assert used(api)["bytes_used"] == 4 * LARGE
    change(api, limits={"max_submissions": None})
    files = [("files", ("02.out", os.urandom(LARGE)))]
    assert [
        api.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=files).status_code
        for _ in range(2)
    ] == [201, 413]


def test_practice_counts_and_judging_again_does_not(api: Api) -> None:
    change(api, contest_bytes=3 * LARGE, practice=True)
    pass_time(api.service, timedelta(hours=5))
    assert [send(api, os.urandom(LARGE)).status_code for _ in range(2)] == [201, 413]
    judge(api.service)
    opened = api.post("contests/c/rejudgings", user="admin", json={"reason": "again"})
    assert opened.status_code in {201, 202}, opened.text
    assert used(api)["bytes_used"] == 2 * LARGE
    assert send(api, os.urandom(LARGE)).status_code == 413


def test_bytes_of_what_was_not_taken_do_not_count(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    change(api, team_bytes=3 * LARGE)
    before = stored(api)

    def full(*_: object) -> list[Accepted | LimitReached]:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(submissions, "accept", full)
        assert [send(api, b"x" * LARGE).status_code for _ in range(3)] == [507] * 3
    with monkeypatch.context() as patched:
        patched.setattr(api.service.files.__class__, "keep", full)
        refused = send(api, b"y" * LARGE)
        assert (refused.status_code, "Retry-After" in refused.headers) == (507, True)
    assert send(api, b"x" * LARGE).status_code == 201
    assert len(stored(api) - before) == 1


def test_files_of_a_submission_whose_commit_is_in_doubt_are_collected_a_day_later(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No one knows at once whether a row needs them; what was stored and is needed stays."""
    before = stored(api)
    assert send(api, b"x" * LARGE).status_code == 201

    def lost(*_: object) -> list[Accepted | LimitReached]:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(submissions, "accept", lost)
        assert send(api, b"y" * LARGE).status_code == 507
    assert len(stored(api) - before) == 2
    scrub = Scrub(api.service.database, api.service.files, hours=0, rate=1e12)
    assert scrub.scrub().removed == 0
    for each in stored(api):
        os.utime(api.service.files.path(each), (0, 0))
    assert scrub.scrub().removed == 1
    assert len(stored(api) - before) == 1


def test_bytes_of_a_submission_whose_commit_is_in_doubt_count(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are here: without them a contest would take more than it may."""
    change(api, contest_bytes=3 * LARGE)

    def answer_lost(connection: Connection, _transaction: RootTransaction, *_: object) -> None:
        connection.connection.commit()
        raise CommitInDoubt("whether transaction 7 was committed is not known")

    with monkeypatch.context() as patched:
        patched.setattr("app.core.db.database.commit", answer_lost)
        assert send(api, os.urandom(LARGE)).status_code == 503
    assert used(api)["bytes_used"] == 2 * LARGE
    assert send(api, os.urandom(LARGE)).status_code == 413


def bring_in(api: Api, package: bytes) -> httpx.Response:
    """Bring a contest in as `again`."""
    query = "id=again&replace=true"
    headers = {"Content-Type": "application/zip"}
    return api.post(f"contests/import?{query}", user="admin", content=package, headers=headers)


def test_submissions_of_a_contest_package_count(api: Api) -> None:
    with_checkers(api)
    assert send(api, b"x" * LARGE).status_code == 201
    made = bring_in(api, api.get("contests/c/package.zip", user="admin").content)
    assert made.status_code == 201, made.text
    here = api.get("contests/again/limits", user="judge").json()["bytes_used"]
    assert here >= LARGE
    api.patch("contests/again", user="admin", json={"settings": {"contest_bytes": here}})
    files = [("files", ("02.out", b"2\n"))]
    reply = api.post("contests/again/submissions", user="team", data={"problem_id": "echo"}, files=files)
    assert (reply.status_code, f"at most {here} bytes of all teams" in reply.json()["message"]) == (413, True)


def test_limits_and_bytes_come_along_with_a_contest(api: Api) -> None:
    """They are changed one by one, exported, and brought in under another id."""
    change(api, team_bytes=5 * LARGE, contest_bytes=3 * LARGE, limits={"per_window": {"count": 9, "seconds": 60}})
    change(api, limits={"max_submissions": 7})
    changed = api.patch("contests/c/problems/echo", user="admin", json={"limits": {"interval_seconds": 3}})
    assert changed.status_code == 200, changed.text
    package = api.get("contests/c/package.zip", user="admin").content
    made = bring_in(api, package)
    assert made.status_code == 201, made.text
    (one, other) = (api.get(f"contests/{name}").json()["settings"] for name in ("c", "again"))
    assert one == other
    assert one["team_bytes"] == 5 * LARGE
    quotas = [api.get(f"contests/{name}/problems/echo/quota?team_id=team", user="admin") for name in ("c", "again")]
    assert quotas[0].json() == quotas[1].json()
    assert quotas[0].json()["limits"]["interval_seconds"] == 3

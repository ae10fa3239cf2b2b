"""Submissions whose files go to S3: while it fails, is slow or full, large answers are refused, and nothing is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from app.core.files import s3
from app.core.files.s3_files import S3Files
from app.submissions.queries.submissions import INLINE_LIMIT
from app.tables import SubmissionRow
from tests.builders.contests import add_contest, add_problem
from tests.builders.s3 import CUT_AFTER, HALF, S3Proxy, s3_proxy
from tests.builders.service import Api, open_api

LARGE = INLINE_LIMIT + 1


@pytest.fixture
def proxy(s3_port: int) -> Iterator[S3Proxy]:
    with s3_proxy(s3_port) as proxy:
        yield proxy


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path, s3_url: str, s3_port: int, proxy: S3Proxy) -> Iterator[Api]:
    url = s3_url.replace(str(s3_port), str(proxy.port))
    with open_api(sqlite_url, tmp_path / "home", files_url=url, files_seconds=60) as api:
        add_problem(api.service)
        add_contest(api.service)
        assert isinstance(api.service.files, S3Files)
        api.service.files.bucket._seconds_away = 0.0
        yield api


@contextmanager
def impatient(api: Api) -> Iterator[None]:
    """Give requests to S3 little time, where they are to fail: the setup may be slow on a busy machine."""
    files = api.service.files
    assert isinstance(files, S3Files)
    bucket, patient = files.bucket, files.bucket._store
    bucket._seconds, bucket._store = 0.2, s3._opened(bucket.address, 0.2)
    try:
        yield
    finally:
        bucket._seconds, bucket._store = 60, patient


def send(api: Api, data: bytes, key: str = "") -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    files = [("files", ("02.out", data))]
    return api.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=files, headers=headers)


def count(api: Api) -> int:
    with api.service.database.read() as session:
        return session.scalar(select(func.count()).select_from(SubmissionRow)) or 0


def used(api: Api) -> int:
    number: int = api.get("contests/c/problems/echo/quota", user="team").json()["bytes_used"]
    return number


def test_a_large_answer_goes_to_s3_and_comes_back(api: Api) -> None:
    answer = os.urandom(LARGE)
    number = send(api, answer).json()["id"]
    assert api.get(f"contests/c/submissions/{number}/answers/02", user="team").content == answer
    assert not (api.service.settings.home / "files").exists()


@pytest.mark.parametrize(("fate", "status"), [(500, 503), (CUT_AFTER, 503), (403, 507)])
def test_a_failing_s3_acknowledges_nothing_and_small_answers_go_on(
    api: Api, proxy: S3Proxy, fate: str | int, status: int
) -> None:
    """The same submission sent again under its key is taken once S3 answers; bytes of the refused one do not count."""
    proxy.always(fate)
    answer = os.urandom(LARGE)
    with impatient(api):
        refused = send(api, answer, "k")
    assert (refused.status_code, refused.headers.get("Retry-After")) == (status, "5"), refused.text
    assert "nothing was kept" in refused.json()["message"]
    assert "secret" not in refused.text
    assert (count(api), used(api)) == (0, 0)
    assert send(api, b"2\n").status_code == 201
    proxy.heal()
    assert send(api, answer, "k").status_code == 201
    assert (count(api), used(api)) == (2, LARGE + 2)


def test_a_silent_s3_keeps_nobody_waiting_for_long(api: Api, proxy: S3Proxy) -> None:
    """Submissions that need no file are taken in the meantime."""
    proxy.go_on.clear()
    with impatient(api), ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(send, api, os.urandom(LARGE)) for _ in range(4)]
        assert send(api, b"2\n").status_code == 201
        assert {each.result().status_code for each in waiting} == {503}
    proxy.heal()
    assert count(api) == 1
    assert send(api, os.urandom(LARGE)).status_code == 201


def test_reads_of_files_that_s3_does_not_give_are_told_to_come_back(api: Api, proxy: S3Proxy) -> None:
    answer = os.urandom(LARGE)
    number = send(api, answer).json()["id"]
    path = f"contests/c/submissions/{number}/answers/02"
    proxy.always(HALF)
    assert api.get(path, user="team").content == answer, "the server has a copy"
    for copy in (api.service.settings.home / "cache").rglob("*.zst"):
        copy.unlink()
    with impatient(api):
        reply = api.get(path, user="team")
    assert (reply.status_code, "Retry-After" in reply.headers) == (503, True)
    assert api.get("stored-files", user="admin").json()["faults"] == [], "no file is damaged"
    proxy.heal()
    assert api.get(path, user="team").content == answer

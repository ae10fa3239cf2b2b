"""The pass over stored files names damage and collects orphans; SQLite's log does not stay as long as it was."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.archive.queries.scrub import Scrub
from app.tables import ProblemRow
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api, open_api
from tests.builders.zips import unzipped


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


def test_a_pass_names_damage_to_admins_and_removes_orphans(api: Api) -> None:
    service = api.service
    orphan, needed = service.files.keep(b"orphan"), next(service.files.stored()).sha256
    os.utime(service.files.path(orphan), (0, 0))
    service.files.path(needed).write_bytes(b"")
    service.scrub.scrub()
    shown = api.get("stored-files", user="admin").json()
    assert [fault["sha256"] for fault in shown["faults"]] == [needed]
    assert (shown["orphans_removed"], shown["ended"] is not None) == (1, True)
    assert not service.files.path(orphan).exists()
    assert service.files.path(needed).exists()
    for user, status in ((None, 401), ("team", 403), ("judge", 403)):
        assert api.get("stored-files", user=user).status_code == status


def damage(api: Api, data: bytes) -> Path:
    """Flip a bit of a stored file, as a dying disk does."""
    path = api.service.files.path(hashlib.sha256(data).hexdigest())
    packed = bytearray(path.read_bytes())
    packed[-1] ^= 1
    path.write_bytes(packed)
    return path


def test_a_pass_over_all_files_names_those_that_rows_need_and_nobody_has(api: Api) -> None:
    files = api.service.files
    lost = next(files.stored()).sha256
    files.path(lost).unlink()
    assert set(api.service.scrub.scrub().damaged) == {lost}
    shown = api.get("stored-files", user="admin").json()
    assert [fault["sha256"] for fault in shown["faults"]] == [lost]


def test_one_damaged_file_breaks_no_export_and_is_named_in_it(api: Api) -> None:
    files = [("files", ("02.out", b"2\n" * 70_000))]
    for content in (files, [("files", ("02.out", b"2\n"))]):
        assert api.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=content).is_success
    whole = unzipped(api.get("contests/c/package.zip", user="admin").content)
    damage(api, files[0][1][1])
    lacking = unzipped(api.get("contests/c/package.zip", user="admin").content)
    first = json.loads(whole["submissions.json"])[0]["id"]
    path = f"submissions/{first}/{first}.zip"
    assert whole.keys() - lacking.keys() == {path}
    assert lacking.keys() - whole.keys() == {"unreadable.json"}
    (fault,) = json.loads(lacking["unreadable.json"])
    assert (fault["path"], hashlib.sha256(files[0][1][1]).hexdigest() in fault["error"]) == (path, True)


def test_a_damaged_file_is_a_503_that_names_it_until_its_bytes_come_again(api: Api) -> None:
    whole = api.get("problems/echo/package.zip", user="admin").content
    stored = next(case for case in api.get("contests/c/problems/echo/testcases", user="admin").json())
    data = api.get(f"contests/c/problems/echo/testcases/{stored['name']}/input", user="admin").content
    path = damage(api, data)
    reply = api.get("contests/c/problems/echo/inputs.zip", user="admin")
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "5")
    assert hashlib.sha256(data).hexdigest() in reply.json()["message"]
    assert [each["sha256"] for each in api.get("stored-files", user="admin").json()["faults"]] == [stored["sha256"]]
    assert api.get("/health/ready").json()["damaged_files"] == 1
    assert "jurado_damaged_files 1.0" in api.get("/metrics", user="admin").text
    assert api.get("problems/echo/package.zip", user="admin").status_code == 503
    path.unlink()
    assert api.get("contests/c/problems/echo/inputs.zip", user="admin").status_code == 503, "missing"
    api.service.files.keep(data)
    assert api.get("contests/c/problems/echo/inputs.zip", user="admin").status_code == 200
    assert api.get("problems/echo/package.zip", user="admin").content == whole
    assert api.get("stored-files", user="admin").json()["faults"] == []
    assert "jurado_damaged_files 0.0" in api.get("/metrics", user="admin").text


def test_a_problem_whose_imported_package_is_damaged_is_not_packed(api: Api) -> None:
    with api.service.database.read() as session:
        package = session.scalars(select(ProblemRow.package_sha256)).one()
    damage(api, api.service.files.load(package))
    reply = api.get("problems/echo/package.zip", user="admin")
    assert (reply.status_code, reply.headers["Retry-After"], package in reply.json()["message"]) == (503, "5", True)


def test_a_pass_that_is_stopped_ends_at_once(api: Api) -> None:
    """However slowly it reads."""
    scrub = Scrub(api.service.database, api.service.files, 1, rate=1e-9)
    scrub.start()
    scrub.close()
    assert scrub.scrub().ended is None

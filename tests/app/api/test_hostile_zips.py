"""Zips that attack, at every door that takes an archive: each is refused, and nothing of it is left anywhere."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import httpx
import pytest

from app.core.faults import PackageErrors
from app.packages.files import archive_files
from tests.builders.contests import add_contest, add_problem, with_checkers
from tests.builders.hostile_zips import ATTACKS, Files, in_two_cases
from tests.builders.packages import package_files
from tests.builders.service import Api

ZIP = {"Content-Type": "application/zip"}
OWN = {f"fresh/{name}": data for name, data in package_files().items()}
OMEGAUP = {"cases/1.in": b"1\n", "cases/1.out": b"1\n", "statements/es.markdown": b"Hola\n"}
CONTEST = {"contest.json": b'{"id": "made", "name": "Made", "duration": "5:00:00"}'}
ANSWERS = {"02.out": b"2\n", "03.out": b"3\n"}
LARGE = "a million entries"
"""Its archive has 50 MB, so that it is tried at the door of packages and at that of answers alone."""


@cache
def attack(name: str, door: str) -> bytes:
    """The zip of an attack for a door."""
    bases: dict[str, Files] = {"problem": OWN, "omegaup": OMEGAUP, "contest": CONTEST, "submission": ANSWERS}
    return ATTACKS[name](bases[door])


DOORS: dict[str, Callable[[Api, bytes], httpx.Response]] = {
    "problem": lambda api, data: api.post("problems", user="admin", content=data, headers=ZIP),
    "omegaup": lambda api, data: api.post("problems?id=fresh", user="admin", files={"package": ("fresh.zip", data)}),
    "contest": lambda api, data: api.post("contests/import", user="admin", content=data, headers=ZIP),
    "submission": lambda api, data: api.post(
        "contests/c/submissions", user="team", data={"problem_id": "echo"}, files=[("files", ("a.zip", data))]
    ),
}


@pytest.fixture
def attacked(quick_api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A server with a problem and a contest, whose temporary files lie in a folder of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    yield with_checkers(quick_api)
    assert [path.name for path in (tmp_path / "temporary").iterdir()] == []


def state(api: Api) -> tuple[object, ...]:
    """Everything that an upload could leave."""
    lists = [api.get(path, user="admin").json() for path in ("problems", "contests", "contests/c/submissions")]
    return (*lists, sorted(each.sha256 for each in api.service.files.stored()))


@pytest.mark.parametrize("door", DOORS)
def test_a_zip_that_attacks_is_refused_at_every_door_and_leaves_nothing(attacked: Api, door: str) -> None:
    before = state(attacked)
    for name in ATTACKS:
        if name == LARGE and door in {"omegaup", "contest"}:
            continue
        reply = DOORS[door](attacked, attack(name, door))
        assert 400 <= reply.status_code < 500, (name, reply.status_code, reply.text[:300])
        assert reply.json()["message"], name
        assert len(reply.content) < 20_000, name
    assert state(attacked) == before


def test_of_two_answers_whose_names_differ_in_case_only_one_is_taken_or_none(attacked: Api) -> None:
    reply = DOORS["submission"](attacked, in_two_cases(ANSWERS))
    if reply.status_code == 400:
        return
    report = attacked.get(f"contests/c/submissions/{reply.json()['id']}/report", user="team").json()
    assert [(each["name"], each["case"]) for each in report["files"] if each["case"] == "03"] == [("03.out", "03")]


@pytest.mark.parametrize("name", ["overlapping files", "sizes of zip64 that lie", "an end of zip64 that lies"])
def test_archives_that_lie_are_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(PackageErrors) as refused:
        archive_files(attack(name, "problem"))
    assert "not a readable zip archive" in str(refused.value)
    if name == "overlapping files":
        assert "overlap" in str(refused.value)

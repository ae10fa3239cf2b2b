"""A contest goes into a contest package and comes back as it was; a package that is wrong leaves nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, event, insert, select

from app.accounts.service.viewer import Viewer
from app.archive.service import package_files, views
from app.archive.service.export import export
from app.archive.service.package_files import MOST_VALUES
from app.archive.service.rows import MOST_PAUSES, Importer
from app.core import passwords
from app.core.service import Service
from app.packages.files import LIMITS
from app.packages.zips import zip_bytes
from app.submissions.service.submissions import BATCH
from app.tables import (
    AccountRow,
    AnswerRow,
    ChosenSubmissionRow,
    ContestTeamRow,
    InputRequestRow,
    JudgementRow,
    ParticipationRow,
    RawScoreRow,
    SubmissionRow,
    TeamRow,
)
from tests.app.feed.test_clics_whole import BASE, SINGLE, fill
from tests.builders import lively
from tests.builders.contests import FINAL, HOUR, add_contest, add_problem, add_submission, change_contest, with_checkers
from tests.builders.judging import judge
from tests.builders.packages import zip_package
from tests.builders.schemas import faults
from tests.builders.scoring import raw
from tests.builders.service import PASSWORD, Api, open_api, open_service
from tests.builders.zips import unzipped
from tests.conftest import migrated_sqlite

ZIP = {"Content-Type": "application/zip"}
KEPT = tuple(name for name in SINGLE if name not in {"judgements", "runs", "awards", "accounts"})
CONTEST: dict[str, Any] = {"id": "made", "name": "Made", "duration": "5:00:00", "scoreboard_type": "score"}
WHEN = {"time": "2026-06-25T10:00:00.000Z", "contest_time": "1:00:00.000"}


def twice(one: dict[str, Any]) -> bytes:
    """A document that holds an object two times."""
    return json.dumps([one | WHEN] * 2).encode()


def asked_at(**when: str) -> dict[str, bytes]:
    """A question of the contest `made`, which has no start yet, at a time."""
    asked = {"id": "7", "text": "?", **WHEN, "contest_time": "0:00:00.000", **when}
    return {"clarifications.json": json.dumps([asked]).encode()}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, Any]]:
    """A package of the lively contest, and what the server it is from says of it, its event feed too."""
    home = tmp_path_factory.mktemp("exported")
    url = migrated_sqlite(home / "jurado.sqlite")
    with open_api(url, home) as api:
        fill(api)
        reply = api.get(f"{BASE}/package.zip", user="admin")
        assert reply.status_code == 200, reply.text
        feed = api.get(f"{BASE}/event-feed?stream=false", user="admin").text
        return reply.content, {**seen(api), "event-feed": [json.loads(line) for line in feed.splitlines() if line]}


@pytest.fixture
def empty(api: Api) -> Api:
    """A server that can check problem packages, and has nothing but a few people."""
    return with_checkers(api)


def seen(api: Api, base: str = BASE) -> dict[str, Any]:
    """All that judges see."""
    return {name: api.get(f"{base}/{name}".rstrip("/"), user="judge").json() for name in ("", *SINGLE)}


def bring_in(api: Api, archive: bytes, query: str = "") -> httpx.Response:
    """Import it as an admin."""
    return api.post(f"contests/import{query}", user="admin", content=archive, headers=ZIP)


def test_a_package_has_a_file_for_every_endpoint_and_every_file_beside_it(exported: tuple[bytes, Any]) -> None:
    files = unzipped(exported[0])
    names = {f"{name}.json" for name in (*SINGLE, "api", "contest", "state", "scoreboard")}
    assert names <= set(files)
    assert json.loads(files["contest.json"]) == exported[1][""]
    for name in SINGLE:
        assert json.loads(files[f"{name}.json"]) == exported[1][name], name
        for each in exported[1][name]:
            for value in each.values():
                for file in value if isinstance(value, list) else ():
                    if isinstance(file, dict) and not file["href"].startswith("https:"):
                        data = files[f"{name}/{each['id']}/{file['filename']}"]
                        assert file.get("hash") in {None, hashlib.md5(data, usedforsecurity=False).hexdigest()}
    assert set(unzipped(files["submissions/s-0/s-0.zip"])) == {"02.out"}


def test_a_package_has_the_event_feed_as_an_admin_reads_it(exported: tuple[bytes, Any]) -> None:
    """But for the tokens, which name places in the feed of one server."""
    told = [json.loads(line) for line in unzipped(exported[0])["event-feed.ndjson"].splitlines()]
    live = [{name: value for name, value in each.items() if name != "token"} for each in exported[1]["event-feed"]]
    assert faults("event-feed-array", told) == []
    assert [each["type"] for each in told] == [each["type"] for each in live]
    assert {str(each) for each in told} == {str(each) for each in live}


def test_a_contest_comes_back_as_it_was(empty: Api, exported: tuple[bytes, dict[str, Any]]) -> None:
    made = bring_in(empty, exported[0])
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == f"/api/{BASE}"
    found = seen(empty)
    reply = made.json()
    imported = reply.pop("imported")
    assert reply == found[""] == exported[1][""]
    assert [(each["id"], each["how"], each["test_cases"]) for each in imported["problems"]] == [("echo", "new", 3)]
    judge(empty.service)
    found = seen(empty)
    for name in KEPT:
        assert found[name] == exported[1][name], name
    assert {a["id"] for a in found["accounts"]} >= set(lively.PEOPLE) - {"jury"}
    assert {a["id"]: a["citation"] for a in found["awards"]} == {a["id"]: a["citation"] for a in exported[1]["awards"]}
    assert all(each["end_time"] is not None for each in found["judgements"]), "all of it has been judged here"
    again = unzipped(empty.get(f"{BASE}/package.zip", user="admin").content)
    files = unzipped(exported[0])
    for name, data in files.items():
        if name.startswith(("organizations/", "teams/", "persons/", "contest/", "submissions/")):
            assert again[name] == data, name


NEW = ("ghost", "out", "late")


def play(api: Api) -> None:
    """An ended contest whose board hangs on all that CLICS has no words for; everything in it is judged."""
    service = with_checkers(api).service
    add_problem(service, FINAL)
    settings = {"choose": True, "virtual": True, "practice": True, "final_minutes": 30, "final_phase": "all"}
    start = add_contest(service, started=9 * HOUR, rule={"counting": "last", "carry": "none"}, settings=settings)
    stopped = [{"start": (start + HOUR).isoformat(), "end": (start + 1.5 * HOUR).isoformat()}]
    change_contest(service, open_to_all=False, pauses=stopped)
    with service.database.write() as session:
        session.add_all(TeamRow(id=id_, name=id_, label=id_, hidden=id_ == "ghost") for id_ in NEW)
        session.flush()
        session.add_all(AccountRow(id=id_, username=id_, type="team", team_id=id_, created=start) for id_ in NEW)
        teams = ("team", "other", *NEW)
        session.add_all(ContestTeamRow(contest_id="c", team_id=id_, disqualified=id_ == "out") for id_ in teams)
        place = {"contest_id": "c", "team_id": "team", "problem_id": "echo"}
        session.add(InputRequestRow(**place, time=start + HOUR / 2))
        session.add(ParticipationRow(contest_id="c", team_id="late", kind="virtual", start_time=start + 6 * HOUR))
    limits = {"limits": {"max_submissions": 7, "interval_seconds": 30}}
    assert api.patch("contests/c/problems/echo", user="admin", json=limits).status_code == 200
    right, wrong = b"2\n", b"0\n"
    sent = [("team", 10, right), ("team", 20, wrong), ("other", 15, wrong), ("other", 290, right)]
    sent += [("ghost", 5, right), ("out", 6, right), ("late", 390, right), ("other", 400, wrong)]
    ids = []
    for team, minute, answer in sent:
        files = {"02": answer, "03": b"3\n"} if team == "team" else {"02": answer}
        ids.append(add_submission(service, None, team=team, minute=minute, files=files))
    with service.database.write() as session:
        for row in session.scalars(select(SubmissionRow)):
            row.contest_time_ms -= 360 * 60_000 if row.team_id == "late" else 0
        session.add(ChosenSubmissionRow(**place, submission_id=ids[0], time=start + HOUR))
    judge(service)


def boards(api: Api) -> dict[str, Any]:
    """What everyone and the judges see of the contest `c`, whenever it was computed."""
    paths = ["scoreboard", "scoreboard?public=true", "scoreboard?phase=provisional", "state"]
    paths += ["teams", "submissions", "awards"]
    found = {path: api.get(f"contests/c/{path}", user="admin").json() for path in paths}
    return {path: each["rows"] if path.startswith("scoreboard") else each for path, each in found.items()}


@pytest.mark.parametrize("open_to_all", [False, True])
def test_the_board_of_an_imported_contest_is_that_of_the_old_one(tmp_path: Path, empty: Api, open_to_all: bool) -> None:
    """With hidden and disqualified teams, a pause, limits, final cases, chosen submissions and virtual teams."""
    url = migrated_sqlite(tmp_path / "old.sqlite")
    with open_api(url, tmp_path / "old") as old:
        play(old)
        change_contest(old.service, open_to_all=open_to_all)
        before = boards(old)
        package = old.get("contests/c/package.zip", user="admin").content
    points = {row["team_id"]: row["score"]["score"] for row in before["scoreboard"]}
    assert points == {"team": 100, "other": 40}
    made = bring_in(empty, package, "?replace=true")
    assert made.status_code == 201, made.text
    judge(empty.service)
    assert boards(empty) == before
    again = unzipped(empty.get("contests/c/package.zip", user="admin").content)
    assert again["jurado.json"] == unzipped(package)["jurado.json"]
    assert all(
        json.loads(again["jurado.json"])[name] for name in ("limits", "participations", "input_requests", "chosen")
    )


def test_what_is_opened_of_a_frozen_board_is_open_after_an_import(tmp_path: Path, quick_api: Api) -> None:
    url = migrated_sqlite(tmp_path / "old.sqlite")
    with open_api(url, tmp_path / "old") as old:
        service = with_checkers(old).service
        add_problem(service)
        add_contest(service, started=6 * HOUR, freeze=HOUR)
        for team in ("team", "other"):
            add_submission(service, None, team=team, minute=270, files={"02": b"2\n"})
        judge(service)
        change_contest(service, revealed=[["team", "echo"]])
        before = boards(old)
        package = old.get("contests/c/package.zip", user="admin").content
    points = {row["team_id"]: row["score"]["score"] for row in before["scoreboard?public=true"]}
    assert points == {"team": 50, "other": 0}
    assert bring_in(with_checkers(quick_api), package, "?replace=true").status_code == 201
    judge(quick_api.service)
    assert boards(quick_api) == before


def test_statements_come_back_with_their_images(tmp_path: Path, empty: Api) -> None:
    url = migrated_sqlite(tmp_path / "old.sqlite")
    shown = {"statement/problem.en.md": "![a cat](img/cat.png)\n", "statement/img/cat.png": b"\x89PNG\r\n\x1a\n0"}
    with open_api(url, tmp_path / "old") as api:
        add_problem(api.service, shown)
        add_contest(api.service)
        archive = api.get("contests/c/package.zip", user="admin").content
    brought = bring_in(empty, archive, "?replace=true")
    assert brought.status_code == 201, brought.text
    image = "contests/c/problems/echo/statement/img/cat.png"
    assert empty.get(image).content == shown["statement/img/cat.png"]
    assert f'src="{image.rpartition("echo/")[2]}"' in empty.get("contests/c/problems/echo/statement?lang=en").text


def test_what_teams_did_is_left_out_with_their_submissions(tmp_path: Path, quick_api: Api) -> None:
    url = migrated_sqlite(tmp_path / "old.sqlite")
    with open_api(url, tmp_path / "old") as old:
        play(old)
        package = old.get("contests/c/package.zip", user="admin").content
    api = with_checkers(quick_api)
    assert bring_in(api, package, "?replace=true&submissions=false").status_code == 201
    own = json.loads(unzipped(api.get("contests/c/package.zip", user="admin").content)["jurado.json"])
    assert [name for name, each in own.items() if each] == ["limits"]


OWN: dict[str, Any] = {
    "participations": {"team_id": "t", "kind": "virtual", "start_time": WHEN["time"]},
    "revealed": {"team_id": "t", "problem_id": "none"},
    "chosen": {"team_id": "t", "problem_id": "none", "submission_id": "none", "time": WHEN["time"]},
}


def own(name: str, **changes: Any) -> dict[str, bytes | None]:
    """A package with a team `t`, and one object of jurado.json."""
    document = {name: [OWN[name] | changes]}
    return {"teams.json": b'[{"id": "t", "name": "T"}]', "jurado.json": json.dumps(document).encode()}


def paused(*intervals: Any) -> dict[str, bytes | None]:
    """A package of a contest that was paused."""
    contest = json.dumps(CONTEST | {"start_time": "2025-06-25T08:00:00Z"}).encode()
    return {"contest.json": contest, "state.json": json.dumps({"removed_intervals": intervals}).encode()}


def interval(start: str, end: str | None) -> dict[str, str | None]:
    """A pause on the day of the contest."""
    return {"start": f"2025-06-25T{start}Z", "end": None if end is None else f"2025-06-25T{end}Z"}


def test_a_contest_comes_back_under_another_id(empty: Api, exported: tuple[bytes, dict[str, Any]]) -> None:
    assert bring_in(empty, exported[0], "?submissions=false").status_code == 201
    again = bring_in(empty, exported[0], "?id=again&submissions=false")
    assert again.status_code == 400
    assert "a new group" in again.text
    made = bring_in(empty, exported[0], "?id=again&submissions=false&replace=true")
    assert made.status_code == 201, made.text
    assert len(empty.get("contests/again/clarifications", user="judge").json()) == 4
    assert empty.get("contests/again/submissions", user="judge").json() == []


def test_after_an_import_new_submissions_get_numbers_of_their_own(
    empty: Api, exported: tuple[bytes, dict[str, Any]]
) -> None:
    assert bring_in(empty, exported[0]).status_code == 201
    start = exported[1][""]["start_time"]
    body = {"language_id": "answers", "problem_id": "echo", "team_id": "red", "time": start}
    made = empty.post(f"{BASE}/submissions", user="admin", json=body | {"files": lively.answers({"02.out": b"2\n"})})
    assert made.status_code == 201, made.text
    assert made.json()["id"] not in {each["id"] for each in exported[1]["submissions"]}


def test_numbers_and_other_ids_of_submissions_are_not_in_each_others_way(empty: Api) -> None:
    """They come in the order of the package, which is that of their server."""
    one = {"problem_id": "echo", "team_id": "t", "files": [{"filename": "s.zip"}]} | WHEN
    documents = {
        "contest": CONTEST | {"start_time": WHEN["time"]},
        "problems": [{"id": "echo", "label": "A"}],
        "teams": [{"id": "t", "name": "T"}],
        "submissions": [{"id": id_} | one for id_ in ("a", "2", "1", "b", "c", "4")],
    }
    files = {f"{name}.json": json.dumps(value).encode() for name, value in documents.items()}
    files |= {f"submissions/{id_}/s.zip": zip_bytes({"02.out": b"2\n"}) for id_ in "a21bc4"}
    made = bring_in(empty, zip_bytes({**files, "problems/echo/echo.zip": zip_package()}))
    assert made.status_code == 201, made.text
    found = [each["id"] for each in empty.get("contests/made/submissions", user="judge").json()]
    assert found == ["a", "2", "1", "b", "c", "4"]


@pytest.mark.parametrize(
    ("changes", "said"), [({"files": 7}, "one file next to it"), ({"comment": ["?"]}, "text or null")]
)
def test_a_submission_of_a_package_with_a_value_of_another_type_is_a_fault(
    empty: Api, changes: dict[str, Any], said: str
) -> None:
    sent = {"id": "a", "problem_id": "echo", "team_id": "t", "files": [{"filename": "s.zip"}], **WHEN, **changes}
    documents = {
        "contest": CONTEST | {"start_time": WHEN["time"]},
        "problems": [{"id": "echo", "label": "A"}],
        "teams": [{"id": "t", "name": "T"}],
        "submissions": [sent],
    }
    files = {f"{name}.json": json.dumps(value).encode() for name, value in documents.items()}
    files |= {"submissions/a/s.zip": zip_bytes({"02.out": b"2\n"}), "problems/echo/echo.zip": zip_package()}
    refused = bring_in(empty, zip_bytes(files))
    assert refused.status_code == 400, refused.text
    assert said in json.dumps(refused.json()["errors"])


def test_a_package_may_be_written_by_hand(empty: Api) -> None:
    logo = lively.png(56, 56)
    contest = CONTEST | {"start_time": "2026-06-25T10:00:00+01"}
    problem = {"id": "echo", "label": "A", "ordinal": 1, "color": "blue", "rgb": "#00f", "time_limit": 2}
    account = {"id": "stephan", "username": "stephan", "password": "a long secret", "type": "staff"}
    organization = {"id": "uni", "name": "Uni", "logo": [{"filename": "dark.png", "tag": ["dark"]}]}
    documents = {"contest": contest, "problems": [problem], "accounts": [account], "organizations": [organization]}
    archive = zip_bytes(
        {
            **{f"made/{name}.json": json.dumps(value).encode() for name, value in documents.items()},
            "made/organizations/uni/dark.png": logo,
            "made/problems/echo/echo.zip": zip_package(),
        }
    )
    made = bring_in(empty, archive)
    assert made.status_code == 201, made.text
    assert made.json()["start_time"] == "2026-06-25T09:00:00.000Z"
    assert made.json()["duration"] == "5:00:00.000"
    assert [each["label"] for each in empty.get("contests/made/problems", user="judge").json()] == ["A"]
    (shown,) = empty.get("contests/made/organizations").json()
    assert shown["logo"][0]["tag"] == ["dark"]
    assert empty.get(shown["logo"][0]["href"]).content == logo


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"contest.json": None}, "contest.json"),
        ({"contest.json": b"{"}, "JSON"),
        ({"contest.json": b"[]"}, "an object"),
        ({"contest.json": json.dumps(CONTEST | {"duration": "soon"}).encode()}, "duration"),
        ({"contest.json": json.dumps(CONTEST | {"colour": 1}).encode()}, "colour"),
        ({"contest.json": json.dumps(CONTEST | {"main_scoreboard_group_id": "x"}).encode()}, "a group"),
        ({"contest.json": json.dumps(CONTEST | {"main_scoreboard_group_id": [1]}).encode()}, "a group"),
        ({"contest.json": json.dumps(CONTEST | {"name": "\ud800"}).encode()}, "JSON"),
        ({"groups.json": b'[{"id": "\\ud800", "name": "G"}]'}, "JSON"),
        ({"commentary.json": b'[{"id": "a\\u0000", "message": "m"}]'}, "an id"),
        ({"commentary.json": b'[{"id": "c", "message": "m", "team_ids": [["a"]]}]'}, "what is in the contest"),
        ({"commentary.json": b'[{"id": "c", "message": "m", "source_id": {}}]'}, "what is in the contest"),
        ({"awards.json": b'[{"id": "w", "citation": "W", "team_ids": [{}]}]'}, "what is in the contest"),
        ({"problems.json": b'[{"id": "none", "label": "A"}]'}, "neither"),
        ({"problems.json": b'[{"label": "A"}]'}, "an object with an id"),
        ({"problems.json": b'[{"id": "echo"}]', "problems/echo/echo.zip": b"PK"}, "not a readable zip"),
        ({"groups.json": b"{}"}, "an array"),
        ({"groups.json": b'[{"id": "g"}]'}, "a value"),
        ({"groups.json": b'[{"id": "g", "name": "G"}, {"id": "g", "name": "G"}]'}, "another id than that of [0]"),
        ({"organizations.json": b'[{"id": "o", "name": "O", "logo": [{"filename": "l.png"}]}]'}, "the file"),
        ({"teams.json": b'[{"id": "t", "name": "T", "organization_id": "x"}]'}, "an organization"),
        ({"teams.json": b'[{"id": "team", "name": "T"}]'}, "a new team"),
        ({"persons.json": b'[{"id": "p", "name": "P", "role": "coach", "team_ids": ["x"]}]'}, "teams that exist"),
        ({"accounts.json": b'[{"id": "a", "username": "a", "type": "team"}]'}, "the team of an account"),
        ({"accounts.json": b'[{"id": "a", "username": "judge", "type": "staff"}]'}, "a username that is free"),
        ({"clarifications.json": b'[{"id": "1", "text": "?"}]'}, "time and contest_time"),
        (asked_at(time="2999-01-01T00:00:00.000Z"), "a moment up to now"),
        (asked_at(contest_time="0:00:00.001"), "a contest time up to now, 0:00:00.000"),
        ({"awards.json": b'[{"id": "w", "citation": "W", "team_ids": ["x"]}]'}, "what is in the contest"),
        ({"submissions.json": b'[{"id": "1", "problem_id": "x", "team_id": "x"}]'}, "a problem and a team"),
        ({"../up.json": b"[]"}, "inside the package"),
        ({"a": b"", "a/b/c": b""}, "that a is a file"),
        ({"state.json": b"[]"}, "an object"),
        (paused(7), "removed_intervals[0]"),
        (paused({"start": 1, "end": 2}), "removed_intervals[0].start"),
        (paused(interval("07:59:59", "09:00:00")), "removed_intervals[0]"),
        (paused(interval("09:00:00", "08:59:59")), "removed_intervals[0]"),
        (paused(interval("09:00:00", "09:30:00"), interval("09:29:59", "10:00:00")), "removed_intervals[1]"),
        (paused(interval("09:00:00", None), interval("09:30:00", "10:00:00")), "removed_intervals[1]"),
        (paused(interval("13:00:00", "14:00:00")), "removed_intervals[0]"),
        (paused(*[interval("09:00:00", "09:00:00")] * (MOST_PAUSES + 1)), f"removed_intervals[{MOST_PAUSES}]"),
        ({"teams.json": b'[{"id": "t", "name": "T", "disqualified": "yes"}]'}, "valid boolean"),
        ({"jurado.json": b"[]"}, "an object"),
        ({"jurado.json": b'{"colours": []}'}, "no such property"),
        ({"jurado.json": b'{"limits": {}}'}, "an array"),
        ({"jurado.json": b'{"limits": [7]}'}, "limits[0]"),
        ({"jurado.json": b'{"limits": [{"problem_id": "none", "limits": {}}]}'}, "what is in the contest"),
        (own("participations", team_id="nobody"), "what is in the contest"),
        (own("participations", start_time="soon"), "participations[0].start_time"),
        (own("participations", colour="red"), "no such property"),
        (own("revealed"), "what is in the contest"),
        (own("chosen"), "one of the team's to the problem"),
        ({"contest.json": json.dumps(CONTEST | {"duration": "9999999:00:00"}).encode()}, "a hundred years"),
        ({"clarifications.json": twice({"id": "7", "text": "?"})}, "'7'"),
        ({"awards.json": twice({"id": "w", "citation": "W", "team_ids": []})}, "'w'"),
        ({"commentary.json": twice({"id": "c", "message": "m"})}, "'c'"),
        ({"teams.json": b"[" + b"{}," * MOST_VALUES + b"{}]"}, f"at most {MOST_VALUES} values"),
    ],
)
def test_a_package_that_is_wrong_leaves_nothing(quick_api: Api, changes: dict[str, bytes | None], said: str) -> None:
    api = with_checkers(quick_api)
    files = {"contest.json": json.dumps(CONTEST).encode(), **changes}
    before = everything(api)
    refused = bring_in(api, zip_bytes({name: data for name, data in files.items() if data is not None}))
    assert refused.status_code == 400
    assert refused.json()["code"] == 400
    assert said in json.dumps(refused.json()["errors"]), refused.text
    assert everything(api) == before


def everything(api: Api) -> list[Any]:
    """All there is of what a package could bring."""
    return [api.get(path, user="admin").json() for path in ("contests", "problems", "teams", "accounts")]


def test_all_faults_of_a_package_are_listed_at_once(quick_api: Api) -> None:
    files = {
        "contest.json": json.dumps(CONTEST | {"duration": "soon"}).encode(),
        "groups.json": b'[{"id": "g"}]',
        "teams.json": b'[{"id": "a b", "name": "T"}]',
        "accounts.json": b'[{"id": "x", "username": "x", "type": "king"}]',
        "problems.json": b'[{"id": "none"}]',
    }
    refused = bring_in(quick_api, zip_bytes(files)).json()
    assert {each["file"] for each in refused["errors"]} == {
        "contest.json",
        "groups.json",
        "teams.json",
        "accounts.json",
        "problems",
    }


def test_a_document_is_bounded_in_bytes_and_in_objects(sqlite_url: str, tmp_path: Path) -> None:
    contest = json.dumps(CONTEST).encode()
    with open_api(sqlite_url, tmp_path / "home", max_import_objects=3, max_import_document=1000) as api:
        for at, (document, said) in enumerate(
            [
                (json.dumps([{"id": f"g{n}", "name": "G"} for n in range(3)]).encode(), None),
                (json.dumps([{"id": f"g{n}", "name": "G"} for n in range(4)]).encode(), "at most 3 objects, found 4"),
                (b"[" + b" " * 999 + b"]", "at most 1000 bytes, found 1001"),
            ]
        ):
            reply = bring_in(api, zip_bytes({"contest.json": contest, "groups.json": document}), f"?id=made-{at}")
            assert reply.status_code == (201 if said is None else 400), reply.text
            assert said is None or f"groups.json: expected {said}" in reply.json()["message"]


def test_of_many_faults_the_first_hundred_are_told_and_how_many_there_are(quick_api: Api) -> None:
    files = {"contest.json": json.dumps(CONTEST).encode(), "groups.json": b"[" + b"0," * 9_999 + b"0]"}
    refused = bring_in(quick_api, zip_bytes(files)).json()
    assert len(refused["errors"]) == 100
    assert "10000 faults: groups.json, [0]: expected an object with an id" in refused["message"]


def test_a_file_is_read_once_however_often_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[int] = []
    encode = base64.b64encode

    def counting(data: bytes) -> bytes:
        encoded.append(len(data))
        return encode(data)

    monkeypatch.setattr(base64, "b64encode", counting)
    named = [{"filename": "x.png"}]
    team = {"id": "a", "name": "A", "photo": named, "desktop": named, "webcam": named}
    files = {"contest.json": json.dumps(CONTEST).encode(), "teams.json": json.dumps([team]).encode()}
    found = package_files.read_contents(package_files.Contents({**files, "teams/a/x.png": b"x" * 1000}))
    assert encoded == [1000]
    assert not found.faults
    often = json.dumps([team | {"photo": named * 300}]).encode()
    faults = package_files.read_contents(
        package_files.Contents({**files, "teams.json": often, "teams/a/x.png": b"x"})
    ).faults
    assert [each["expected"] for each in faults.first] == ["different file names in photo"]


def test_what_is_made_anew_is_not_even_inflated(quick_api: Api) -> None:
    """Runs of a large contest are more than all the rest, and more than a package may weigh."""
    huge = b" " * (LIMITS.single + 1)
    files = {"made/contest.json": json.dumps(CONTEST).encode(), "made/runs.json": huge, "made/event-feed.ndjson": b"{"}
    assert bring_in(quick_api, zip_bytes(files)).status_code == 201


def test_an_import_asks_the_database_as_often_for_many_teams_as_for_few(empty: Api) -> None:
    """But for the submissions themselves, and a flush of some hundred rows at a time."""

    def asked(count: int) -> int:
        ids = [f"t{count}-{n}" for n in range(count)]
        one = zip_bytes({"02.out": b"2\n"})
        documents = {
            "contest": CONTEST | {"id": f"made-{count}", "start_time": WHEN["time"]},
            "problems": [{"id": "echo", "label": "A"}],
            "teams": [{"id": id_, "name": id_} for id_ in ids],
            "persons": [{"id": id_, "name": id_, "role": "coach", "team_ids": [id_]} for id_ in ids],
            "accounts": [{"id": id_, "username": id_, "type": "team", "team_id": id_} for id_ in ids],
            "submissions": [
                {"id": "s-0", "problem_id": "echo", "team_id": ids[0], "files": [{"filename": "s.zip"}]} | WHEN
            ],
        }
        files = {f"{name}.json": json.dumps(value).encode() for name, value in documents.items()}
        files |= {"submissions/s-0/s.zip": one, "problems/echo/echo.zip": zip_package()}
        statements: list[str] = []

        def note(*given: Any) -> None:
            statements.append(given[2])

        event.listen(Engine, "before_cursor_execute", note)
        try:
            made = bring_in(empty, zip_bytes(files))
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        assert made.status_code == 201, made.text
        return sum("INSERT" not in each for each in statements)

    asked(2)  # which brings the problem
    few = asked(3)
    assert asked(60) <= few + 10


def test_passwords_are_hashed_before_anybody_waits_for_the_import(
    monkeypatch: pytest.MonkeyPatch, quick_api: Api
) -> None:
    done: list[str] = []
    hash_all, importer = passwords.hash_all, Importer

    def hashing(given: Mapping[str, str]) -> Mapping[str, str]:
        done.append("hashed")
        return hash_all(given)

    def beginning(*given: Any, **more: Any) -> Importer:
        done.append("begun")
        return importer(*given, **more)

    monkeypatch.setattr(passwords, "hash_all", hashing)
    monkeypatch.setattr(views, "Importer", beginning)
    people = [{"id": id_, "username": id_, "type": "staff"} for id_ in ("zoe", "y")]
    people[0]["password"] = PASSWORD
    files = {"contest.json": json.dumps(CONTEST).encode(), "accounts.json": json.dumps(people).encode()}
    assert bring_in(quick_api, zip_bytes(files)).status_code == 201
    assert done == ["hashed", "begun"]
    assert quick_api.get("account", user="zoe").json()["id"] == "zoe"
    assert quick_api.get("account", user="y").status_code == 401


def test_what_is_no_zip_is_refused(quick_api: Api) -> None:
    assert bring_in(quick_api, b"not a zip").status_code == 400
    assert quick_api.post("contests/import", user="admin", json={}).status_code == 415


def test_only_admins_export_and_import(quick_api: Api) -> None:
    for user, code in ((None, 401), ("team", 403), ("judge", 403)):
        assert quick_api.get("contests/c/package.zip", user=user).status_code == code
        assert quick_api.post("contests/import", user=user, content=b"", headers=ZIP).status_code == code


def test_a_final_contest_open_to_all_comes_back_with_its_own_teams_alone(quick_api: Api) -> None:
    ended = {"start_time": "2026-06-25T10:00:00.000Z", "open_to_all": True}
    files = {
        "contest.json": json.dumps(CONTEST | ended).encode(),
        "state.json": json.dumps({"finalized": "2026-06-25T16:00:00.000Z"}).encode(),
        "teams.json": json.dumps([{"id": "theirs", "name": "Theirs"}]).encode(),
    }
    made = bring_in(quick_api, zip_bytes(files))
    assert made.status_code == 201, made.text
    rows = quick_api.get("contests/made/scoreboard").json()["rows"]
    assert [row["team_id"] for row in rows] == ["theirs"], "the teams of this server took no part"


PACKAGED = {"id": "mole", "username": "mole", "password": "a long secret", "type": "admin"}


@pytest.mark.parametrize("type_", ["admin", "judge"])
def test_a_package_brings_no_admin_and_no_judge(quick_api: Api, type_: str) -> None:
    people = [{**PACKAGED, "type": type_}, {"id": "helper", "username": "helper", "type": "staff"}]
    files = {"contest.json": json.dumps(CONTEST).encode(), "accounts.json": json.dumps(people).encode()}
    assert bring_in(quick_api, zip_bytes(files)).status_code == 201
    assert quick_api.get("accounts/mole", user="admin").status_code == 404
    assert quick_api.get("accounts/helper", user="admin").json()["type"] == "staff"


def test_a_package_replaces_no_admin_and_no_judge(quick_api: Api) -> None:
    """Neither their password nor their role: as staff they would be an admin no more."""
    for at, more in enumerate(({"type": "admin", "password": "a long secret"}, {"type": "staff"})):
        people = [{"id": "judge", "username": "judge", **more}]
        files = {"contest.json": json.dumps(CONTEST).encode(), "accounts.json": json.dumps(people).encode()}
        assert bring_in(quick_api, zip_bytes(files), f"?replace=true&id=made{at}").status_code == 201
        assert quick_api.get("account", user="judge").json()["type"] == "judge"


def copy_submission(service: Service, first: int, steps: range) -> None:
    """Add submissions like the first one, whose number its judgement has too, with numbers so many higher."""
    keys = {SubmissionRow: "id", AnswerRow: "submission_id", JudgementRow: "submission_id", RawScoreRow: "judgement_id"}
    with service.database.write() as session:
        for kind, key in keys.items():
            table = kind.__table__
            for row in session.execute(select(table).where(table.c[key] == first)).mappings().all():
                numbers = {name: row[name] for name in {key, "id"} & row.keys()}
                copies = [{**row, **{name: id_ + at for name, id_ in numbers.items()}} for at in steps]
                session.execute(insert(kind), copies)


def test_an_export_takes_no_more_memory_for_many_submissions(sqlite_url: str, tmp_path: Path) -> None:
    """A server that keeps a board has all attempts in memory; an export adds a batch of rows at a time."""
    few, many, bytes_of_one = BATCH + 50, 2 * BATCH, 1000
    peaks = []
    with open_service(sqlite_url, tmp_path / "home") as service:
        add_problem(service)
        add_contest(service)
        first = add_submission(service, {"02": raw(5, 1), "03": raw(7, 3)})
        for before, count in ((1, few), (few, many)):
            copy_submission(service, first, range(before, count))
            service.boards.all_changed()
            service.boards.snapshot("c", public=False)
            tracemalloc.start()
            file = export(Viewer("admin", "admin", None, "admin"), service, "c")
            size = sum(map(len, file))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            file.close()
            assert size > count * 300
    assert peaks[1] - peaks[0] < (many - few) * bytes_of_one

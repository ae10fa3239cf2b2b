"""Submissions brought in with a contest keep their ids, also on a server that has given these to others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.packages.zips import zip_bytes
from tests.app.archive.test_contest_moves import RIGHT, another_server, bring_in, exported, play, ranks
from tests.builders import lively
from tests.builders.contests import add_contest, add_problem, add_submission, with_checkers
from tests.builders.judging import judge
from tests.builders.service import Api
from tests.builders.zips import unzipped

HIGH = 400_000


@pytest.fixture
def busy(api: Api) -> Api:
    """A server on which a contest with three submissions is under way."""
    add_problem(with_checkers(api).service)
    add_contest(api.service, "busy")
    for minute in (1, 2, 3):
        add_submission(api.service, None, contest_id="busy", minute=minute, files={"02": RIGHT})
    judge(api.service)
    return api


def ids(api: Api, contest_id: str) -> list[str]:
    """The ids of a contest's submissions, each of which is found under it."""
    listed = [each["id"] for each in api.get(f"contests/{contest_id}/submissions", user="admin").json()]
    for id_ in listed:
        assert api.get(f"contests/{contest_id}/submissions/{id_}", user="admin").json()["id"] == id_
        judged = api.get(f"contests/{contest_id}/judgements?submission_id={id_}", user="admin").json()
        assert [each["submission_id"] for each in judged] == [id_]
    return listed


def test_a_contest_fits_onto_a_busy_server_with_all_that_refers_to_its_submissions(busy: Api, tmp_path: Path) -> None:
    with another_server(tmp_path) as there:
        play(there, settings={"choose": True})
        choice = there.put("contests/c/problems/echo/chosen", user="team", json={"submission_id": "1"})
        assert choice.status_code in {200, 201}, choice.text
        comment = {"message": "Hear, hear", "submission_ids": ["2"]}
        assert there.post("contests/c/commentary", user="admin", json=comment).status_code in {200, 201}
        before, package = ranks(there), exported(there)
    made = bring_in(busy, package, "?replace=true")
    assert made.status_code == 201, made.text
    judge(busy.service)
    assert (ids(busy, "busy"), ids(busy, "c")) == (["1", "2", "3"], ["1", "2"])
    assert ranks(busy) == before
    sent, back = unzipped(package), unzipped(exported(busy))
    for name in ("jurado.json", "commentary.json"):
        assert json.loads(back[name].replace(b"echo2", b"echo")) == json.loads(sent[name])
    assert json.loads(sent["jurado.json"])["chosen"][0]["submission_id"] == "1"
    assert json.loads(sent["commentary.json"])[0]["submission_ids"] == ["2"]
    assert back["submissions/2/2.zip"] == sent["submissions/2/2.zip"]
    assert busy.get("contests/busy/submissions/2", user="admin").json()["problem_id"] == "echo"
    assert busy.get("contests/c/submissions/3", user="admin").status_code == 404, "it is another contest's"
    again = bring_in(busy, package, "?replace=true&id=again")
    assert again.status_code == 201, again.text
    judge(busy.service)
    assert ids(busy, "again") == ["1", "2"]
    third = bring_in(busy, package, "?replace=true")
    assert third.status_code == 400
    assert third.json()["errors"][0]["where"] == "id", "the contest is here already"


def test_what_is_sent_later_never_gets_an_id_that_was_brought_in(busy: Api, tmp_path: Path) -> None:
    with another_server(tmp_path) as there:
        add_contest(there.service)
        add_submission(there.service, None, minute=5, files={"02": RIGHT})
        judge(there.service)
        files = {name.replace("/1/1", f"/{HIGH}/1"): data for name, data in unzipped(exported(there)).items()}
    rows = json.loads(files["submissions.json"])
    rows[0]["id"] = str(HIGH)
    files["submissions.json"] = json.dumps(rows).encode()
    made = bring_in(busy, zip_bytes(files), "?replace=true")
    assert made.status_code == 201, made.text
    body = {"problem_id": "echo", "language_id": "answers", "files": lively.answers({"02.out": RIGHT})}
    newer = busy.post("contests/c/submissions", user="team", json=body)
    assert newer.status_code == 201, newer.text
    assert int(newer.json()["id"]) > HIGH
    judge(busy.service)
    assert ids(busy, "c") == [str(HIGH), newer.json()["id"]]


@pytest.mark.parametrize(("id_", "status"), [("9" * 15, 201), ("9" * 16, 400), ("007", 201)])
def test_a_number_leaves_room_for_those_to_come(quick_api: Api, tmp_path: Path, id_: str, status: int) -> None:
    """Beyond 18 digits no number would be one of a row any longer."""
    add_problem(with_checkers(quick_api).service)
    with another_server(tmp_path) as there:
        add_contest(there.service)
        add_submission(there.service, None, minute=5, files={"02": RIGHT})
        judge(there.service)
        files = {name.replace("/1/1", f"/{id_}/1"): data for name, data in unzipped(exported(there)).items()}
    rows = json.loads(files["submissions.json"])
    rows[0]["id"] = id_
    files["submissions.json"] = json.dumps(rows).encode()
    made = bring_in(quick_api, zip_bytes(files), "?replace=true")
    assert made.status_code == status, made.text
    if status == 201:
        body = {"problem_id": "echo", "language_id": "answers", "files": lively.answers({"02.out": RIGHT})}
        newer = quick_api.post("contests/c/submissions", user="team", json=body)
        judge(quick_api.service)
        assert ids(quick_api, "c") == [id_, newer.json()["id"]]

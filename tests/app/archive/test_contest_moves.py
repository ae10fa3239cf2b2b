"""A contest that moves to another server keeps its problems as they were judged with, and its board."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from app.core.clock import utc_now
from app.packages.zips import zip_bytes
from app.problems.service.problems import samples
from app.submissions.queries.submissions import INLINE_LIMIT
from app.submissions.tables import REJUDGED
from app.tables import AnswerRow, JudgementRow, TestCaseRow
from tests.app.archive.test_contest_packages import bring_in, everything
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, change_contest, with_checkers
from tests.builders.judging import judge
from tests.builders.packages import zip_package
from tests.builders.service import Api, collect_orphans, open_api
from tests.builders.zips import unzipped
from tests.conftest import migrated_sqlite

RIGHT, WRONG = b"2\n", b"0\n"


@pytest.fixture
def here(api: Api) -> Api:
    """The server that the contest moves to: it has the problem as it is bundled."""
    add_problem(with_checkers(api).service)
    return api


@pytest.fixture
def quick_here(quick_api: Api) -> Api:
    """The same on SQLite alone."""
    add_problem(with_checkers(quick_api).service)
    return quick_api


@contextmanager
def another_server(folder: Path) -> Iterator[Api]:
    """The server that the contest comes from."""
    url = migrated_sqlite(folder / "there.sqlite")
    with open_api(url, folder / "there") as there:
        add_problem(with_checkers(there).service)
        yield there


def change_the_problem(api: Api, replies: tuple[httpx.Response, ...] | None = None) -> None:
    """Rejudge the contest by another answer for case 02, a new case 04, and without case 03."""
    files = {"input": ("in", b"2\n"), "answer": ("ans", b"22\n")}
    opened = api.put("problems/echo/testcases/secret/02", user="admin", files=files)
    assert opened.status_code == 202, opened.text
    more = {"input": ("in", b"4\n"), "answer": ("ans", b"4\n")}
    assert api.put("problems/echo/testcases/secret/04", user="admin", files=more).status_code == 202
    assert api.delete("problems/echo/testcases/secret/03", user="admin").status_code == 202
    judge(api.service)
    assert api.post(f"{opened.json()['href']}/apply", user="admin").status_code == 200


def play(api: Api, **contest: Any) -> None:
    """A contest in which two teams answer otherwise, judged, and rejudged by another version of its problem."""
    add_contest(api.service, started=2 * HOUR, **contest)
    add_submission(api.service, None, team="team", minute=5, files={"02": RIGHT, "03": b"3\n"})
    add_submission(api.service, None, team="other", minute=7, files={"02": b"22\n"})
    judge(api.service)
    change_the_problem(api)


def exported(api: Api) -> bytes:
    """The package of the contest."""
    reply = api.get("contests/c/package.zip", user="admin")
    assert reply.status_code == 200, reply.text
    return reply.content


def stored_files(api: Api) -> set[Path]:
    """The files of the content-addressed store."""
    return {path for path in api.service.files.folder.rglob("*") if path.is_file()}


def ranks(api: Api) -> list[tuple[int, str, float]]:
    """The board as an admin sees it."""
    rows = api.get("contests/c/scoreboard", user="admin").json()["rows"]
    return [(row["rank"], row["team_id"], row["score"]["score"]) for row in rows]


def test_a_problem_that_is_another_one_here_comes_as_a_version_of_the_contests_own(here: Api, tmp_path: Path) -> None:
    with another_server(tmp_path) as there:
        play(there)
        before, package = ranks(there), exported(there)
    assert before == [(1, "other", 50.0), (2, "team", 0.0)]
    problem = here.get("problems/echo", user="admin").json()
    made = bring_in(here, package, "?replace=true")
    assert made.status_code == 201, made.text
    judge(here.service)
    assert ranks(here) == before
    (brought,) = made.json()["imported"]["problems"]
    assert (brought["package_id"], brought["id"], brought["how"], brought["test_cases"]) == (
        "echo",
        "echo2",
        "version",
        3,
    )
    places = [each["where"] for each in brought["differences"]]
    assert places == ["test case 02: expected answer", "test case 03", "test case 04"]
    assert here.get("problems/echo", user="admin").json() == problem, "other contests are judged by it"
    assert [each["id"] for each in here.get("contests/c/problems", user="admin").json()] == ["echo2"]
    again = bring_in(here, package, "?replace=true&id=again&submissions=false")
    assert again.json()["imported"]["problems"][0]["id"] == "echo2", "that very version is here by now"


def test_files_of_a_refused_version_are_orphans_and_no_file_that_was_there_is(quick_here: Api, tmp_path: Path) -> None:
    """Its problem, and a large answer have been stored by the time in which questions are read."""
    with another_server(tmp_path) as there:
        add_contest(there.service, started=2 * HOUR)
        add_submission(there.service, None, team="team", minute=5, files={"02": RIGHT.rjust(INLINE_LIMIT + 2)})
        judge(there.service)
        change_the_problem(there)
        files = unzipped(exported(there))
    clarifications = [{"id": "1", "text": "?"}]  # without a time
    wrong = zip_bytes({**files, "clarifications.json": json.dumps(clarifications).encode()})
    collect_orphans(quick_here.service)
    before = stored_files(quick_here)
    assert bring_in(quick_here, wrong, "?replace=true").status_code == 400
    collect_orphans(quick_here.service)
    assert stored_files(quick_here) == before
    assert bring_in(quick_here, zip_bytes(files), "?replace=true").status_code == 201
    assert stored_files(quick_here) > before
    assert quick_here.get("contests/c/submissions/1/files", user="admin").status_code == 200


def test_a_sample_with_another_input_shows_nothing_of_the_old_one_and_is_equal_here(quick_api: Api) -> None:
    """Also where it gets its old input back."""
    add_problem(with_checkers(quick_api).service, {"data/sample/01.out": "1 \n"})
    for at, given in enumerate((b"7\n", b"1\n")):
        files = {"input": ("in", given), "answer": ("ans", given)}
        put = quick_api.put("problems/echo/testcases/sample/01", user="admin", files=files)
        assert put.status_code == 200, put.text
        with quick_api.service.database.read() as session:
            (sample,) = samples(session, quick_api.service, "c", "echo")
        assert (sample.input, sample.answer) == (given.decode(), given.decode())
        if not at:
            add_contest(quick_api.service)
        made = bring_in(quick_api, exported(quick_api), f"?replace=true&id=again{at}")
        assert made.status_code == 201, made.text
        assert [each["how"] for each in made.json()["imported"]["problems"]] == ["equal"]


def test_a_personal_clock_and_a_team_changed_here_meanwhile_make_no_other_board(
    quick_here: Api, tmp_path: Path
) -> None:
    with another_server(tmp_path) as there:
        add_contest(there.service, started=2 * HOUR, settings={"personal_duration": "1:00:00"})
        begun = there.post("contests/c/participation", user="team", json={"kind": "personal"})
        assert begun.status_code in {200, 201}, begun.text
        start = datetime.fromisoformat(there.get("contests/c", user="team").json()["start_time"])
        minute = (utc_now() - start) / timedelta(minutes=1)  # after the clock has begun, and not in the future
        add_submission(there.service, None, team="team", minute=minute, files={"02": RIGHT})
        judge(there.service)
        before, package = ranks(there), exported(there)
    renamed = quick_here.patch("teams/team", user="admin", json={"id": "team", "name": "Renamed"})
    assert renamed.status_code == 200, renamed.text
    made = bring_in(quick_here, package, "?replace=true")
    assert made.status_code == 201, made.text
    judge(quick_here.service)
    assert ranks(quick_here) == before
    assert quick_here.get("teams/team", user="admin").json()["name"] != "Renamed"
    again = unzipped(exported(quick_here))["jurado.json"]
    clocks = [json.loads(each)["participations"] for each in (unzipped(package)["jurado.json"], again)]
    assert clocks[0] == clocks[1] != []


def test_a_package_without_its_problems_uses_those_that_are_here(quick_here: Api, tmp_path: Path) -> None:
    with another_server(tmp_path) as there:
        add_contest(there.service, started=2 * HOUR)
        add_submission(there.service, None, team="team", minute=5, files={"02": RIGHT})
        judge(there.service)
        before, files = ranks(there), unzipped(exported(there))
    del files["jurado.json"], files["problems/echo/echo.zip"]
    made = bring_in(quick_here, zip_bytes(files), "?replace=true")
    assert made.status_code == 201, made.text
    assert made.json()["imported"]["problems"][0]["how"] == "here"
    judge(quick_here.service)
    assert ranks(quick_here) == before


RULES: list[dict[str, Any]] = [
    {"kind": kind, "counting": counting, "carry": carry, "reference_counts": kind == "relative"}
    for kind, counting, carry in (
        ("absolute", "best-case", "best"),
        ("absolute", "best", "none"),
        ("relative", "last", "latest"),
        ("relative", "best", "best"),
        ("rank", "last", "none"),
    )
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: "-".join(map(str, rule.values())))
def test_the_board_is_the_same_by_every_rule(quick_here: Api, tmp_path: Path, rule: Mapping[str, Any]) -> None:
    """Also frozen, with a team that is hidden, and one of this server that takes no part there."""
    with another_server(tmp_path) as there:
        add_contest(there.service, started=4.5 * HOUR, freeze=HOUR, rule=rule)
        for team, minute, files in (
            ("team", 5, {"02": RIGHT, "03": b"3\n"}),
            ("team", 250, {"02": WRONG}),
            ("other", 10, {"02": WRONG}),
            ("other", 255, {"02": RIGHT}),
        ):
            add_submission(there.service, None, team=team, minute=minute, files=files)
        judge(there.service)
        before, package = ranks(there), exported(there)
    assert quick_here.post("teams", user="admin", json={"id": "third", "name": "Third"}).status_code == 201
    made = bring_in(quick_here, package, "?replace=true")
    assert made.status_code == 201, made.text
    assert [each["how"] for each in made.json()["imported"]["problems"]] == ["equal"]
    judge(quick_here.service)
    assert [row[1] for row in ranks(quick_here)][:2] == [row[1] for row in before]


def test_answers_keep_their_cases_whatever_their_files_are_called(quick_here: Api, tmp_path: Path) -> None:
    """Also where the pattern has changed since, where one was too large, and where all its cases are gone."""
    with another_server(tmp_path) as there:
        add_contest(there.service, started=2 * HOUR, rule={"counting": "last", "carry": "best"})
        add_submission(there.service, None, team="team", minute=5, files={"02": RIGHT, "03": b"3\n"})
        large = add_submission(there.service, None, team="team", minute=6, files={"02": RIGHT})
        add_submission(there.service, None, team="other", minute=7, files={"03": b"3\n"})
        with there.service.database.write() as session:
            row = session.scalars(select(AnswerRow).where(AnswerRow.submission_id == large)).one()
            row.data = row.sha256 = None
            row.refused = {"key": "too-large", "text": "larger than it may be", "args": {}}
        judge(there.service)
        deleted = there.delete("problems/echo/testcases/secret/03", user="admin")
        judge(there.service)
        assert there.post(f"{deleted.json()['href']}/apply", user="admin").status_code == 200
        change_contest(there.service, settings={"answer_pattern": "answer-{case}.dat"})
        before, package = ranks(there), exported(there)
    assert [each["case"] for each in json.loads(unzipped(package)["jurado.json"])["refused"]] == ["02"]
    made = bring_in(quick_here, package, "?replace=true")
    assert made.status_code == 201, made.text
    judge(quick_here.service)
    assert ranks(quick_here) == before == [(1, "other", 0.0), (1, "team", 0.0)]


def test_submissions_are_judged_here_and_after_those_that_teams_wait_for(quick_here: Api, tmp_path: Path) -> None:
    with another_server(tmp_path) as there:
        add_contest(there.service, started=2 * HOUR)
        add_submission(there.service, None, team="other", minute=7, files={"02": RIGHT})
        package = exported(there)
    made = bring_in(quick_here, package, "?replace=true")
    assert made.status_code == 201, made.text
    assert made.json()["imported"]["submissions"] == 1
    with quick_here.service.database.read() as session:
        (queued,) = session.scalars(select(JudgementRow)).all()
        assert (queued.state, queued.lane, queued.rejudging_id) == ("queued", REJUDGED, None)
    assert sorted(row[2] for row in ranks(quick_here)) == [0.0, 0.0]
    judge(quick_here.service)
    assert sorted(row[2] for row in ranks(quick_here)) == [0.0, 50.0]


def test_a_case_with_checker_arguments_of_its_own_has_them_in_the_package(quick_here: Api, tmp_path: Path) -> None:
    """A case keeps its checker's arguments, which its group's file may not give it."""
    with another_server(tmp_path) as there:
        with there.service.database.write() as session:
            case = session.scalars(select(TestCaseRow).where(TestCaseRow.name == "02")).one()
            case.checker_args = ["ignore", "case"]
        add_contest(there.service)
        inner = unzipped(unzipped(exported(there))["problems/echo/echo.zip"])
    assert inner["echo/data/secret/02.yaml"] == b"output_validator_args:\n- ignore\n- case\n"
    assert "echo/data/secret/03.yaml" not in inner


def test_packages_of_problems_are_bounded_together(sqlite_url: str, tmp_path: Path) -> None:
    """Each by itself is small, and all of them are more than one package may inflate to."""
    bomb = zip_package({"attachments/zeros": b"\0" * 2**19})
    ids = ["a", "b", "d", "e"]
    contest = {"id": "made", "name": "Made", "duration": "5:00:00", "scoreboard_type": "score"}
    files = {"contest.json": contest, "problems.json": [{"id": id_} for id_ in ids]}
    documents = {name: json.dumps(value).encode() for name, value in files.items()}
    with open_api(sqlite_url, tmp_path / "home", max_package_inflated=2**21) as api:
        before = everything(api)
        refused = bring_in(with_checkers(api), zip_bytes({**documents, **{f"problems/{i}/{i}.zip": bomb for i in ids}}))
        assert refused.status_code == 400
        assert "problems/e/e.zip" in refused.json()["message"]
        assert "bytes in a file and" in refused.json()["message"]
        assert everything(api) == before


@pytest.mark.parametrize(
    ("file", "document", "said"),
    [
        ("jurado.json", [], "jurado.json"),
        ("jurado.json", {"refused": "none"}, "refused"),
        ("jurado.json", {"refused": [{"case": 1}]}, "refused"),
    ],
)
def test_a_document_of_another_form_is_refused(quick_here: Api, file: str, document: Any, said: str) -> None:
    contest = {"id": "made", "name": "Made", "duration": "5:00:00", "scoreboard_type": "score"}
    files = {"contest.json": contest, "teams.json": [{"id": "t", "name": "T"}], file: document}
    before = everything(quick_here)
    refused = bring_in(quick_here, zip_bytes({name: json.dumps(value).encode() for name, value in files.items()}))
    assert refused.status_code == 400
    assert said in refused.text
    assert everything(quick_here) == before

"""A service begins with an admin, the bundled problems and two contests, and keeps what was changed since."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from app.accounts import queries as accounts_queries
from app.contests import queries as contests_queries
from app.contests.queries import clock
from app.contests.schemas import CONTEST_BYTES, TEAM_BYTES, ContestSettings, Limits, PerWindow
from app.core.passwords import make_password, password_fits
from app.core.settings import Settings
from app.operations.service.bootstrap import initialise
from app.packages.catalog import VARIABLE
from app.problems.queries import problems
from app.problems.queries.scoring_input import scored_contest
from app.tables import ContestProblemRow, ContestRow
from app.teams import queries as teams_queries
from tests.builders.games import PACKAGE
from tests.builders.packages import write_package, write_problems


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A home of its own, and two small bundled problems."""
    monkeypatch.setenv(VARIABLE, str(write_problems(tmp_path / "problems")))
    return Settings(home=tmp_path / "home")


def test_a_first_start_makes_an_admin_and_says_its_password_once(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        database, _files = initialise(settings)
        database.close()
    (password,) = re.findall(r"account admin with the password (\S+) ", capsys.readouterr().err)
    database, _files = initialise(settings)
    with database.read() as session:
        admin = accounts_queries.by_username(session, "admin")
    database.close()
    assert admin is not None
    assert admin.type == "admin"
    assert password_fits(password, str(admin.password_hash))


def test_a_password_that_is_set_is_not_said(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    known = settings.model_copy(update={"admin_password": "a phrase of hers"})
    database, _files = initialise(known)
    with database.read() as session:
        admin = accounts_queries.by_username(session, "admin")
    database.close()
    assert admin is not None
    assert password_fits("a phrase of hers", str(admin.password_hash))
    assert "the password" not in capsys.readouterr().err


def test_the_reference_takes_part_in_best_of_relative_problems_of_the_practice_contest(
    settings: Settings, tmp_path: Path
) -> None:
    shutil.copytree(Path(__file__).parents[2] / "problems" / "rollingballs", tmp_path / "problems" / "rollingballs")
    database, _files = initialise(settings)
    with database.read() as session:
        practice = scored_contest(session, "practice")
    database.close()
    assert practice is not None
    counts = {each.id: each.rule.reference_counts for each in practice.problems}
    assert counts == {"comesolo": False, "echo": False, "rollingballs": True}


def test_every_bundled_problem_can_be_practised_by_every_team(settings: Settings) -> None:
    database, files = initialise(settings)
    with database.read() as session:
        practice = scored_contest(session, "practice")
        row = session.get_one(ContestRow, "practice")
        assert practice is not None
        assert [(problem.id, practice.labels[problem.id]) for problem in practice.problems] == [
            ("comesolo", "A"),
            ("echo", "B"),
        ]
        assert row.open_to_all
        assert str(clock(row).end) > "2125"
        assert [entry.problem_id for entry in contests_queries.entries(session, "demo")] == ["comesolo"]
        case = problems.test_case(session, "echo", "02")
        assert case is not None
        assert files.load(case.input_sha256) == b"2\n"
        assert list(teams_queries.teams(session)) == []
    database.close()


def test_contests_that_are_there_from_the_start_hold_scripts_back_and_no_person(settings: Settings) -> None:
    """A hundred submissions to a problem in ten minutes, and a quarter of the bytes of other contests."""
    database, _files = initialise(settings)
    with database.read() as session:
        rows = [session.get_one(ContestRow, name).settings for name in ("practice", "demo")]
    database.close()
    assert [(each.limits, each.team_bytes, each.contest_bytes) for each in rows] == [
        (Limits(per_window=PerWindow(count=100, seconds=600)), TEAM_BYTES // 4, CONTEST_BYTES // 4)
    ] * 2


def test_what_an_admin_has_changed_of_their_limits_stays(settings: Settings) -> None:
    database, _files = initialise(settings)
    with database.write() as session:
        session.get_one(ContestRow, "practice").settings = ContestSettings(team_bytes=None)
    database.close()
    database, _files = initialise(settings)
    with database.read() as session:
        assert session.get_one(ContestRow, "practice").settings == ContestSettings(team_bytes=None)
    database.close()


def test_a_problem_that_is_bundled_later_joins_the_practice(settings: Settings, tmp_path: Path) -> None:
    initialise(settings)[0].close()
    write_package(tmp_path / "problems", slug="another")
    database, _files = initialise(settings)
    with database.read() as session:
        there = [(entry.problem_id, entry.label) for entry in contests_queries.entries(session, "practice")]
    database.close()
    assert there == [("comesolo", "A"), ("echo", "B"), ("another", "C")]


def test_what_an_admin_has_deleted_does_not_come_back(settings: Settings) -> None:
    database, _files = initialise(settings)
    with database.write() as session:
        session.delete(session.get_one(ContestRow, "demo"))
        session.delete(session.get_one(ContestRow, "practice"))
    database.close()
    database, _files = initialise(settings)
    with database.read() as session:
        assert list(contests_queries.contests(session)) == []
    database.close()


def test_a_faulty_package_does_not_stop_the_start(settings: Settings, tmp_path: Path) -> None:
    write_package(tmp_path / "problems", {"problem.yaml": "name: 7"}, slug="faulty")
    database, _files = initialise(settings)
    with database.read() as session:
        assert [row.id for row in problems.problems(session)] == ["comesolo", "echo"]
    database.close()


def test_a_problem_taken_out_of_the_practice_contest_does_not_come_back(settings: Settings) -> None:
    """It may be a real contest's by now, with test cases no one may read before that begins."""
    database, _files = initialise(settings)
    with database.write() as session:
        session.delete(session.get_one(ContestProblemRow, ("practice", "echo")))
    database.close()
    database, _files = initialise(settings)
    with database.read() as session:
        assert [entry.problem_id for entry in contests_queries.entries(session, "practice")] == ["comesolo"]
    database.close()


def test_a_made_password_can_be_copied_by_hand_and_given_as_an_option() -> None:
    for _ in range(1000):
        assert re.fullmatch("[2-9a-hjkmnp-z]{5}(-[2-9a-hjkmnp-z]{5}){2}", make_password())


def put_game(folder: Path, slug: str) -> None:
    """A small package that is played, where bundled ones lie."""
    write_package(folder / "problems/games", PACKAGE, slug=slug)


def games_contest(settings: Settings) -> list[str]:
    """The problems of the contest `games` after a start."""
    database, _files = initialise(settings)
    with database.read() as session:
        problem_ids = [entry.problem_id for entry in contests_queries.entries(session, "games")]
    database.close()
    return problem_ids


def test_games_have_a_contest_of_their_own_beside_practice_and_demo(settings: Settings, tmp_path: Path) -> None:
    put_game(tmp_path, "treat")
    assert games_contest(settings) == ["treat"]
    database, _files = initialise(settings)
    with database.read() as session:
        assert session.get_one(ContestRow, "games").open_to_all
        assert [entry.problem_id for entry in contests_queries.entries(session, "practice")] == ["comesolo", "echo"]
        assert [entry.problem_id for entry in contests_queries.entries(session, "demo")] == ["comesolo"]
    database.close()


def test_games_that_come_with_a_newer_version_get_their_contest_and_take_nobody_elses(
    settings: Settings, tmp_path: Path
) -> None:
    assert games_contest(settings) == []
    put_game(tmp_path, "treat")
    assert games_contest(settings) == ["treat"]
    put_game(tmp_path, "another")
    assert games_contest(settings) == ["treat"], "a contest that is there may be somebody's own by now"

"""The contestant's commands against a real service."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from app.commands.fresh_service import Running
from app.core.commands.config import config_path, stored_login
from app.packages.catalog import problems_folder
from tests.app.conftest import Jurado

ACCEPTED = problems_folder() / "comesolo/submissions/accepted/reference"


def test_login_keeps_a_token_that_only_its_owner_may_read(team: Jurado, service: Running) -> None:
    login = stored_login()
    assert login is not None
    assert login.url == service.url
    assert login.token
    assert stat.S_IMODE(config_path().stat().st_mode) == 0o600


def test_a_wrong_password_is_one_clear_line_and_keeps_nothing(jurado: Jurado, service: Running) -> None:
    done = jurado("login", service.url, "admin", "--password-stdin", stdin="wrong\n")
    assert done.exit_code == 1
    assert done.stderr.startswith("jurado: wrong username or password")
    assert not config_path().exists()


def test_logout_takes_the_token_back_from_the_server(team: Jurado, monkeypatch: pytest.MonkeyPatch) -> None:
    login = stored_login()
    assert login is not None
    assert team("logout").exit_code == 0
    assert not config_path().exists()
    monkeypatch.setenv("JURADO_TOKEN", login.token)
    assert team("problems", "practice").exit_code == 1


def test_the_token_is_not_shown_to_another_server(team: Jurado, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.core.commands.config import current_login

    monkeypatch.setenv("JURADO_URL", "http://127.0.0.1:1")
    assert current_login().token == ""


def test_problems_are_listed_for_people_and_programs(team: Jurado) -> None:
    assert "comesolo" in team("problems", "practice").stdout
    listed = json.loads(team("problems", "practice", "--json").stdout)
    assert {"id", "label", "name", "test_data_count"} <= set(listed[0])


def test_a_folder_is_submitted_as_a_zip_and_its_report_shows_every_case(team: Jurado) -> None:
    done = team("submit", "practice", "comesolo", ACCEPTED, "--wait", "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["judgement"]["judgement_type_id"] == "AC"
    assert report["points"] == 100.0


def test_a_single_file_is_judged_and_watched_without_naming_its_contest(team: Jurado) -> None:
    sent = team("submit", "practice", "comesolo", ACCEPTED / "101-n05-p70.out", "--json")
    made = json.loads(sent.stdout)
    done = team("watch", made["id"])
    assert done.exit_code == 0
    assert f"submission {made['id']}: " in done.stdout
    case = next(line for line in done.stdout.splitlines() if line.startswith("│ 101-n05-p70"))
    assert [cell.strip() for cell in case.split("│")[2:6]] == ["accepted", "16", "5.00", "5.00"]
    assert "no answer yet for 21 of 22: 01-sample, 02-sample, 102-n06-p50" in done.stdout


def test_past_submissions_are_listed_with_their_verdicts_and_downloaded(team: Jurado, tmp_path: Path) -> None:
    file = ACCEPTED / "101-n05-p70.out"
    made = json.loads(team("submit", "practice", "comesolo", file, "--comment", "first try", "--json").stdout)
    assert team("watch", made["id"]).exit_code == 0
    listed = json.loads(team("submissions", "practice", "--json").stdout)
    (own,) = (each for each in listed if each["id"] == made["id"])
    assert (own["problem_id"], own["comment"], own["judgement"]["judgement_type_id"]) == ("comesolo", "first try", "PC")
    done = team("submissions", "practice", "--problem", "comesolo", "--download", tmp_path / "mine")
    assert done.exit_code == 0
    assert "first try" in done.stdout
    assert (tmp_path / "mine" / made["id"] / file.name).read_bytes() == file.read_bytes()
    assert json.loads(team("submissions", "practice", "--problem", "netgame", "--json").stdout) == []
    assert team("submissions", "practice", "--problem", "nothing").exit_code == 2


def test_inputs_are_fetched_into_a_folder_for_each_problem(team: Jurado, tmp_path: Path) -> None:
    assert team("problems", "practice", "--inputs", tmp_path / "in").exit_code == 0
    name = "comesolo/101-n05-p70.in"
    original = problems_folder() / "comesolo/data/secret/101-n05-p70.in"
    assert (tmp_path / "in" / name).read_bytes() == original.read_bytes()
    assert {folder.name for folder in (tmp_path / "in").iterdir()} >= {"comesolo", "rollingballs"}


def test_inputs_that_cannot_be_written_are_one_clear_line(team: Jurado, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"")
    done = team("problems", "practice", "--inputs", tmp_path / "in")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"jurado: {tmp_path / 'in'}")


def test_a_submission_with_nothing_accepted_is_exit_code_1(team: Jurado, tmp_path: Path) -> None:
    (tmp_path / "101-n05-p70.out").write_text("no number\n")
    done = team("submit", "practice", "comesolo", tmp_path / "101-n05-p70.out", "--wait")
    assert done.exit_code == 1
    assert "rejected" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ("practice", "comesola", ACCEPTED),
            2,
            "no problem of the contest practice 'comesola'; did you mean comesolo?",
        ),
        (("nowhere", "comesolo", ACCEPTED), 1, "no contest 'nowhere'"),
        (("practice", "comesolo", "nowhere.out"), 2, "file nowhere.out: No such file or directory"),
        (("practice", "comesolo", ACCEPTED, ACCEPTED), 2, "expected one file of each name"),
    ],
)
def test_what_cannot_be_submitted_is_one_clear_line(
    team: Jurado, words: tuple[object, ...], code: int, said: str
) -> None:
    done = team("submit", *words)
    assert done.exit_code == code
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unknown_submission_is_one_clear_line(team: Jurado) -> None:
    done = team("watch", "999999")
    assert (done.exit_code, done.stderr) == (1, "jurado: no submission '999999' that you may see\n")


def test_the_scoreboard_has_raw_scores_where_they_are_asked_for(team: Jurado) -> None:
    team("submit", "practice", "comesolo", ACCEPTED / "101-n05-p70.out", "--wait")
    board = json.loads(team("scoreboard", "practice", "--json").stdout)
    assert all(row["rank"] for row in board["rows"])
    assert "comesolo: raw scores" in team("scoreboard", "practice", "--cases").stdout


def test_a_server_that_cannot_be_reached_is_one_clear_line(jurado: Jurado, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURADO_URL", "http://127.0.0.1:1")
    done = jurado("problems", "practice")
    assert done.exit_code == 1
    assert done.stderr.startswith("jurado: http://127.0.0.1:1 cannot be reached: ")


def test_status_is_exit_code_0_for_a_server_that_judges(jurado: Jurado, service: Running) -> None:
    done = jurado("status", "--url", service.url, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["ready"] is True

"""What a team decides beside submitting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from app.packages.zips import zip_bytes
from tests.app.conftest import Jurado
from tests.builders.scripted import Scripted, problem

CLOCK = {
    "team_id": "ants",
    "kind": "virtual",
    "start_time": "s",
    "end_time": "e",
    "contest_time": "0:01:00.000",
    "running": True,
}
ASKED = {
    "problem_id": "comesolo",
    "time": "t",
    "deadline": "d",
    "open": True,
    "href": "contests/c/problems/comesolo/inputs.zip",
}


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    chosen = {"problem_id": "comesolo", "submission_id": "17", "time": "t"}
    answers: dict[str, Any] = {
        "GET contests/c/problems": [problem("comesolo", "A")],
        "GET contests/c/teams": [{"id": "ants", "name": "The Ants"}],
        "GET contests/c/participation": {**CLOCK, "kind": "official", "running": False, "end_time": None},
        "POST contests/c/participation": CLOCK,
        "GET contests/c/problems/comesolo/inputs": {**ASKED, "time": None, "href": None},
        "POST contests/c/problems/comesolo/inputs": ASKED,
        "GET contests/c/problems/comesolo/inputs.zip": httpx.Response(200, content=zip_bytes({"9.in": b"9\n"})),
        "GET contests/c/problems/comesolo/chosen": chosen,
        "PUT contests/c/problems/comesolo/chosen": chosen,
        "DELETE contests/c/problems/comesolo/chosen": {**chosen, "submission_id": None},
        "GET contests/c": {"duration": None},
        "GET contests/c/scoreboard.csv": httpx.Response(200, content=b"rank,team\r\n1,ants\r\n"),
    }
    return Scripted(answers).install(monkeypatch)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("begin", "c", "--virtual"), "virtual clock, 0:01:00 on the clock; it ends e\n"),
        (("begin", "c"), "official clock, not running; it ends at a time not set yet\n"),
        (("final-inputs", "c", "A"), "answers to the final inputs of comesolo are accepted until d\n"),
        (("final-inputs", "c", "A", "--show"), "the final inputs of comesolo have not been requested\n"),
        (("choose", "c", "comesolo"), "submission 17 counts for comesolo\n"),
        (("choose", "c", "comesolo", "17"), "submission 17 counts for comesolo\n"),
        (("choose", "c", "comesolo", "--none"), "none is chosen for comesolo\n"),
    ],
)
def test_a_command_says_what_holds_now(jurado: Jurado, there: Scripted, words: tuple[str, ...], said: str) -> None:
    done = jurado(*words)
    assert (done.exit_code, done.stdout) == (0, said)


def test_showing_changes_nothing(jurado: Jurado, there: Scripted) -> None:
    for words in (("begin", "c"), ("final-inputs", "c", "A", "--show"), ("choose", "c", "A")):
        jurado(*words)
    assert {name.partition(" ")[0] for name, _ in there.asked} == {"GET"}


def test_final_inputs_are_fetched_once_they_may_be(jurado: Jurado, there: Scripted, tmp_path: Path) -> None:
    assert jurado("final-inputs", "c", "A", "--inputs", tmp_path).exit_code == 0
    assert (tmp_path / "comesolo/9.in").read_bytes() == b"9\n"


@pytest.mark.parametrize("words", [("begin", "c", "--virtual", "--personal"), ("choose", "c", "A", "17", "--none")])
def test_two_wishes_at_once_are_refused(jurado: Jurado, there: Scripted, words: tuple[str, ...]) -> None:
    assert jurado(*words).exit_code == 2
    assert there.asked == []


def test_the_board_is_written_for_spreadsheets(jurado: Jurado, there: Scripted, tmp_path: Path) -> None:
    done = jurado("scoreboard", "c", "--csv", tmp_path / "board.csv")
    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / "board.csv").read_bytes() == b"rank,team\r\n1,ants\r\n"
    assert jurado("scoreboard", "c", "--csv", "-").stdout_bytes == b"rank,team\r\n1,ants\r\n"
    assert jurado("scoreboard", "c", "--csv", tmp_path / "none/board.csv").exit_code == 2

"""The life of a contest from the command line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app.conftest import Jurado
from tests.builders.scripted import Scripted, contest, problem

LIMITED: dict[str, Any] = {
    "team_bytes": 2**29,
    "contest_bytes": None,
    "limits": {"max_submissions": None, "interval_seconds": 60, "per_window": None},
}


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    answers: dict[str, Any] = {
        "POST contests/c/pause": {},
        "POST contests/c/resume": {},
        "PATCH contests/c": {"settings": LIMITED},
        "GET contests/c": {"settings": LIMITED},
        "GET contests/c/limits": {
            "bytes_used": 7,
            "bytes_limit": None,
            "problems": [{"problem_id": "comesolo", "limits": {**LIMITED["limits"], "open_games": 5}}],
        },
        "POST contests": contest("c"),
        "PATCH contests/c/teams/ants": {},
        "PATCH contests/c/problems/comesolo": {
            "limits": {"max_submissions": 3, "per_window": {"count": 5, "seconds": 600}}
        },
        "GET contests/c/teams": [{"id": "ants", "name": "The Ants"}],
        "GET contests/c/problems": [problem("comesolo", "A")],
    }
    return Scripted(answers).install(monkeypatch)


@pytest.mark.parametrize(
    ("words", "said", "sent"),
    [
        (("pause", "c"), "contest c is paused\n", ("POST contests/c/pause", None)),
        (("resume", "c"), "contest c has resumed\n", ("POST contests/c/resume", None)),
        (
            ("finalize", "c"),
            "the results of contest c are final\n",
            ("PATCH contests/c", {"id": "c", "finalized": True}),
        ),
        (
            ("finalize", "c", "--undo"),
            "the results of contest c are open again\n",
            ("PATCH contests/c", {"id": "c", "finalized": False}),
        ),
        (
            ("disqualify", "c", "ants"),
            "team ants is disqualified in c\n",
            ("PATCH contests/c/teams/ants", {"disqualified": True}),
        ),
        (
            ("disqualify", "c", "ants", "--undo"),
            "team ants is taking part again in c\n",
            ("PATCH contests/c/teams/ants", {"disqualified": False}),
        ),
        (
            ("create", "c", "C", "--freeze", "1:00:00"),
            "contest c has been created; it starts when you say so\n",
            (
                "POST contests",
                {
                    "id": "c",
                    "name": "C",
                    "duration": "5:00:00",
                    "scoreboard_freeze_duration": "1:00:00",
                    "open_to_all": False,
                },
            ),
        ),
    ],
)
def test_a_command_says_what_it_did(
    jurado: Jurado, there: Scripted, words: tuple[str, ...], said: str, sent: tuple[str, Any]
) -> None:
    done = jurado("admin", "contest", *words)
    assert (done.exit_code, done.stdout) == (0, said), done.stderr
    assert sent in there.asked


def test_settings_are_read_as_json_or_text_and_shown_as_they_may_be_given(
    jurado: Jurado, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"virtual": True, "personal_duration": "3:00:00.000", "final_minutes": None}
    there = Scripted({"PATCH contests/c": {"settings": settings}, "GET contests/c": {"settings": settings}})
    there.install(monkeypatch)
    words = ("virtual=true", "personal_duration=3:00:00", "final_minutes=null", 'limits={"max_submissions": 5}')
    done = jurado("admin", "contest", "set", "c", *words)
    assert done.stdout == "virtual=true\npersonal_duration=3:00:00.000\nfinal_minutes=null\n"
    given = {"virtual": True, "personal_duration": "3:00:00", "final_minutes": None, "limits": {"max_submissions": 5}}
    assert there.sent("PATCH contests/c") == [{"settings": given}]
    assert jurado("admin", "contest", "set", "c").stdout == done.stdout
    refused = jurado("admin", "contest", "set", "c", "virtual")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "jurado: expected NAME=VALUE such as virtual=true, found 'virtual'\n",
    )

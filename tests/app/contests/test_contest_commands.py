"""The life of a contest from the command line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app.conftest import Jurado
from tests.builders.scripted import Scripted, contest, problem

OPENED = {
    "opened": [{"team_id": "ants", "problem_id": "comesolo"}],
    "next": {"team_id": "bees", "rank": 2, "problem_ids": ["comesolo", "rollingballs"]},
    "left": 2,
    "thawed": None,
}

LIMITED: dict[str, Any] = {
    "team_bytes": 2**29,
    "contest_bytes": None,
    "limits": {"max_submissions": None, "interval_seconds": 60, "per_window": None},
}
SHOWN = "c: a team sends 512 MiB, all teams any number of bytes; to each problem: 60 s between two\n"
NONE = {"max_submissions": None, "interval_seconds": None, "per_window": None}


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    answers: dict[str, Any] = {
        "POST contests/c/pause": {},
        "POST contests/c/resume": {},
        "POST contests/c/reveal": OPENED,
        "GET contests/c/reveal": {**OPENED, "opened": []},
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
            ("thaw", "c", "--at", "2026-11-21T12:00:00Z"),
            "the board of contest c is thawed at 2026-11-21T12:00:00Z\n",
            ("PATCH contests/c", {"id": "c", "scoreboard_thaw_time": "2026-11-21T12:00:00Z"}),
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
            ("reveal", "c", "--step", "row"),
            "opened: ants, comesolo\nnext: bees, rank 2 by now: comesolo, rollingballs (2 places left)\n",
            ("POST contests/c/reveal", {"step": "row"}),
        ),
        (
            ("reveal", "c", "--next"),
            "next: bees, rank 2 by now: comesolo, rollingballs (2 places left)\n",
            ("GET contests/c/reveal", None),
        ),
        (
            ("quota", "c", "A", "--max", "3", "--per", "5/600"),
            "comesolo in c: at most 3 submissions, 5 in any 600 s\n",
            (
                "PATCH contests/c/problems/comesolo",
                {"limits": {"open_games": 5, "max_submissions": 3, "per_window": {"count": 5, "seconds": 600}}},
            ),
        ),
        (("quota", "c"), SHOWN, ("GET contests/c", None)),
        (
            ("quota", "c", "--interval", "60", "--team-bytes", "512M"),
            SHOWN,
            (
                "PATCH contests/c",
                {"settings": {"team_bytes": 2**29, "limits": {**NONE, "interval_seconds": 60}}},
            ),
        ),
        (("quota", "c", "--none"), SHOWN, ("PATCH contests/c", {"settings": {"limits": NONE}})),
        (
            ("quota", "c", "--team-bytes", "none", "--contest-bytes", "20G"),
            SHOWN,
            ("PATCH contests/c", {"settings": {"team_bytes": None, "contest_bytes": 20 * 2**30}}),
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


def test_a_board_without_anything_hidden_says_so(jurado: Jurado, there: Scripted) -> None:
    there.answers = {**there.answers, "POST contests/c/reveal": {**OPENED, "next": None, "left": 0, "thawed": "now"}}
    done = jurado("admin", "contest", "reveal", "c", "--step", "all")
    assert done.stdout.splitlines()[-1] == "everything is open: the board is thawed"
    there.answers = {**there.answers, "GET contests/c/reveal": {"opened": [], "next": None, "left": 0, "thawed": None}}
    assert jurado("admin", "contest", "reveal", "c", "--next").stdout == "nothing is hidden\n"


def test_limits_are_taken_away(jurado: Jurado, there: Scripted) -> None:
    there.answers = {**there.answers, "PATCH contests/c/problems/comesolo": {"limits": {}}}
    done = jurado("admin", "contest", "quota", "c", "comesolo", "--none")
    assert done.stdout == "comesolo in c: as often as one likes\n"
    nothing = {"max_submissions": None, "interval_seconds": None, "per_window": None}
    assert there.sent("PATCH contests/c/problems/comesolo") == [{"limits": {"open_games": 5, **nothing}}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "expected --max, --interval or --per, --none, or a limit of games, found nothing"),
        (("--max", "1", "--none"), "expected --max, --interval or --per, or --none, found both"),
        (("--team-bytes", "1G"), "--team-bytes: expected no problem beside it, as bytes are a contest's, found one"),
        (("--per", "5"), "--per: expected a number of submissions and of seconds such as 5/600, found '5'"),
    ],
)
def test_limits_that_are_none_are_refused(jurado: Jurado, there: Scripted, words: tuple[str, ...], said: str) -> None:
    done = jurado("admin", "contest", "quota", "c", "comesolo", *words)
    assert (done.exit_code, done.stderr) == (2, f"jurado: {said}\n")
    assert there.asked == []


@pytest.mark.parametrize("text", ["many", "1.5G", "-1", "5X", "\u0663", "9" * 5000])
def test_sizes_that_are_none_are_refused(jurado: Jurado, there: Scripted, text: str) -> None:
    done = jurado("admin", "contest", "quota", "c", "--team-bytes", text)
    assert done.exit_code == 2
    assert "--team-bytes: expected a size such as 500M or 2G, or none, found" in done.stderr
    assert there.asked == []


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

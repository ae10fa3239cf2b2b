"""Counted games where they meet clocks of teams' own, final cases, versions, roles, rejudgings, moves and the feed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.archive.queries.backup import backup, restore
from app.archive.queries.database_copy import copy_rows
from app.core.db.database import Database
from app.core.files.open_files import LocalFiles
from tests.app.games.test_games_judged import points
from tests.app.judging.test_rejudgings import difference, do
from tests.builders.clocks import WallClock, wall_clock
from tests.builders.contests import HOUR, with_checkers
from tests.builders.examples import sqlite_first
from tests.builders.games import (
    GAME,
    add_games,
    case,
    document,
    forced,
    limit,
    look_at_clocks,
    move,
    start,
    win,
)
from tests.builders.judging import judge
from tests.builders.service import Api, open_api
from tests.builders.streams import fold, read_feed

FINAL = {
    **{f"data/secret/{name}.{kind}": None for name in ("02", "03") for kind in ("in", "ans")},
    "data/secret/test_group.yaml": "max_score: 100\n",
    "data/secret/a/test_group.yaml": "max_score: 40\nscore_aggregation: sum\n",
    "data/secret/a/02.in": case("3 0 1"),
    "data/secret/a/02.ans": forced(case("3 0 1")),
    "data/secret/z/test_group.yaml": "max_score: 60\nscore_aggregation: sum\n",
    "data/secret/z/03.in": case("5 0 1"),
    "data/secret/z/03.ans": forced(case("5 0 1")),
    "jurado.yaml": "checker: game\ngame: {name: lasttreat}\nscoring: {kind: absolute, direction: maximise}\n"
    "final: [secret/z]\n",
}
"""Changes that make case 02 the only provisional one, and 03 the only final one."""


@pytest.fixture
def wall() -> Iterator[WallClock]:
    """A clock that the test sets forth."""
    with wall_clock() as wall:
        yield wall


def sent(api: Api, user: str = "team") -> list[dict[str, Any]]:
    """The submissions that a user sees."""
    return list(api.get("contests/c/submissions", user=user).json())


def ended(api: Api, game: dict[str, Any], user: str = "team") -> dict[str, Any]:
    """A game as it is after a look at the clocks."""
    look_at_clocks(api)
    return document(api.get(f"games/{game['id']}", user=user))


def begin(api: Api, kind: str, user: str = "team") -> None:
    """Start a clock of one's own."""
    reply = api.post("contests/c/participation", user=user, json={"kind": kind})
    assert reply.status_code == 201, reply.text


@sqlite_first
def test_a_game_goes_by_the_teams_own_clock_and_is_cut_where_that_ends(api: Api, wall: WallClock) -> None:
    add_games(api.service, settings={"personal_duration": "2:00:00"})
    assert start(api).status_code == 404, "a team that has not begun knows of no problem"
    begin(api, "personal")
    game = document(start(api, testcase="03"))
    assert document(move(api, game["id"], 1))["clock"]["deadline"] is not None
    wall.step(3 * HOUR)
    cut = ended(api, game)
    assert (cut["winner"], cut["ending"]) == ("opponent", "contest")
    (of_team,) = sent(api)
    assert (of_team["contest_time"], of_team["practice"]) == ("1:59:59.999", False)
    assert start(api).status_code == 403


@sqlite_first
def test_a_virtual_team_plays_in_a_contest_that_is_final_and_its_games_count_for_it_alone(
    api: Api, wall: WallClock
) -> None:
    add_games(api.service, started=9 * HOUR, settings={"virtual": True})
    assert api.patch("contests/c", user="admin", json={"finalized": True}).is_success
    begin(api, "virtual")
    game = win(api)
    assert game["submission_id"] is not None
    judge(api.service)
    assert "team" not in {row["team_id"] for row in api.get("contests/c/scoreboard").json()["rows"]}
    open_ = document(start(api, testcase="03"))
    wall.step(6 * HOUR)
    assert ended(api, open_)["ending"] == "contest"
    assert len(sent(api)) == 2


@sqlite_first
def test_a_game_after_the_end_is_practice_of_the_contest_and_on_no_board(api: Api) -> None:
    add_games(api.service, started=9 * HOUR, settings={"practice": True})
    win(api)
    judge(api.service)
    (of_team,) = sent(api)
    assert of_team["practice"] is True
    assert points(api) == 0


@sqlite_first
def test_a_final_case_is_played_once_its_position_is_released_and_decides_after_the_end(
    api: Api, wall: WallClock
) -> None:
    add_games(api.service, changes=FINAL, settings={"final_minutes": 30})
    assert start(api, testcase="03").status_code == 404, "nobody may guess its name"
    assert api.post(f"contests/c/problems/{GAME}/inputs", user="team").is_success
    assert win(api, testcase="03")["winner"] == "you"
    judge(api.service)
    assert points(api) == 0, "final points are hidden until they decide"
    open_ = document(start(api, testcase="03"))
    wall.step(timedelta(minutes=31))
    late = start(api, testcase="03")
    assert (late.status_code, "final" in late.json()["message"]) == (403, True)
    wall.step(6 * HOUR)
    assert ended(api, open_)["ending"] == "contest"
    judge(api.service)
    assert points(api) == 100, "final cases decide, and the game that was cut takes nothing from the one that was won"


@pytest.mark.parametrize(("counting", "after"), [("best-case", 50), ("last", 0)])
def test_a_lost_game_takes_a_won_case_back_only_where_the_last_answer_counts(
    quick_api: Api, counting: str, after: float
) -> None:
    add_games(quick_api.service, rule={"counting": counting, "carry": "best" if after else "latest"})
    win(quick_api)
    judge(quick_api.service)
    assert points(quick_api) == 50
    lost = document(start(quick_api))
    quick_api.post(f"games/{lost['id']}/resign", user="team")
    judge(quick_api.service)
    assert points(quick_api) == after


def test_relative_scoring_gives_all_points_to_whoever_wins_a_case(quick_api: Api) -> None:
    add_games(quick_api.service, rule={"kind": "relative"})
    win(quick_api)
    lost = document(start(quick_api, "other"))
    quick_api.post(f"games/{lost['id']}/resign", user="other")
    judge(quick_api.service)
    assert (points(quick_api), points(quick_api, team="other")) == (50, 0)


@sqlite_first
def test_games_of_hidden_and_disqualified_teams_are_seen_by_judges_alone(api: Api) -> None:
    add_games(api.service)
    game = win(api, "other")
    judge(api.service)
    for changes in ({"hidden": True}, {"hidden": False}):
        assert api.patch("teams/other", user="admin", json=changes).is_success
        rows = api.get("contests/c/scoreboard").json()["rows"]
        assert ("other" in {row["team_id"] for row in rows}) is not changes["hidden"]
        for user, code in (("team", 404), (None, 404), ("other", 200), ("judge", 200)):
            assert api.get(f"games/{game['id']}", user=user).status_code == code
    assert api.patch("contests/c/teams/other", user="admin", json={"disqualified": True}).is_success
    assert "other" not in {row["team_id"] for row in api.get("contests/c/scoreboard").json()["rows"]}
    assert document(start(api, "other", testcase="03"))["counted"] is True, "it may go on, as with answer files"


@sqlite_first
def test_a_changed_opponent_is_previewed_applied_and_undone(api: Api) -> None:
    """A transcript is of one opponent: against another the games are to be played again, and undo gives them back."""
    add_games(with_checkers(api).service)
    win(api)
    win(api, testcase="03")
    judge(api.service)
    assert points(api) == 100
    place = f"problems/{GAME}/testcases/secret/02"
    now_greedy = {
        "input": ("02.in", case("3 0 1", "greedy").encode()),
        "answer": ("02.ans", forced(case("3 0 1", "greedy")).encode()),
    }
    preview = api.put(f"{place}?preview=true", user="admin", files=now_greedy)
    assert preview.is_success, preview.text
    assert points(api) == 100
    opened = api.put(place, user="admin", files=now_greedy)
    assert opened.status_code == 202, opened.text
    judge(api.service)
    (rejudging,) = api.get("contests/c/rejudgings", user="admin").json()
    assert [each["after"]["points"] for each in difference(api, rejudging)["teams"]] == [50]
    do(api, "apply", rejudging)
    assert points(api) == 50
    do(api, "undo", rejudging)
    assert points(api) == 100


def test_a_game_in_play_is_of_the_position_it_began_with_when_its_case_changes(quick_api: Api) -> None:
    """It continues; what it becomes is judged by the case as it is then, and says what is wrong."""
    api = with_checkers(quick_api)
    add_games(api.service)
    game = document(start(api))
    files = {"input": ("02.in", case("5 0 1").encode()), "answer": ("02.ans", forced(case("5 0 1")).encode())}
    assert api.put(f"problems/{GAME}/testcases/secret/02", user="admin", files=files).is_success
    after = document(move(api, game["id"], 1))
    won = document(move(api, game["id"], after["next_move"]))
    assert (won["winner"], won["ending"]) == ("you", "played")
    judge(api.service)
    report = api.get(f"contests/c/submissions/{won['submission_id']}/report", user="team").text
    assert "position" in report
    assert points(api) == 0


@sqlite_first
def test_a_contest_that_is_pinned_is_played_by_its_version(api: Api) -> None:
    add_games(with_checkers(api).service)
    win(api, testcase="03")
    judge(api.service)
    files = {"input": ("02.in", case("7 0 1").encode()), "answer": ("02.ans", forced(case("7 0 1")).encode())}
    assert api.put(f"problems/{GAME}/testcases/secret/02?contests=keep", user="admin", files=files).is_success
    game = document(start(api))
    assert game["position"] == {"a": 3, "b": 0, "k": 1}
    while not game["over"]:
        game = document(move(api, game["id"], game["next_move"]))
    judge(api.service)
    assert points(api) == 100


@sqlite_first
def test_a_judge_and_an_owner_of_the_contest_watch_and_those_of_another_contest_do_not(api: Api) -> None:
    add_games(api.service)
    game = document(start(api))
    assert api.get(f"games/{game['id']}", user="staff").status_code == 404
    for role in ("judge", "owner"):
        assert api.put("contests/c/roles/staff", user="admin", json={"role": role}).is_success
        assert document(api.get(f"games/{game['id']}", user="staff"))["seed"] is None
        assert [each["id"] for each in api.get("contests/c/games", user="staff").json()] == [game["id"]]
        assert move(api, game["id"], 1, user="staff").status_code == 403
    assert api.delete("contests/c/roles/staff", user="admin").is_success
    assert api.get(f"games/{game['id']}", user="staff").status_code == 404


@sqlite_first
def test_the_audit_log_has_no_moves_of_teams_nor_of_judges_who_practise(api: Api) -> None:
    add_games(api.service)
    win(api)
    practice = document(start(api, "judge", parameters={"a": 3, "b": 0, "k": 1}))
    document(move(api, practice["id"], 1, user="judge"))
    document(api.post(f"games/{practice['id']}/resign", user="judge"))
    assert api.get("audit", user="admin").json() == []


@sqlite_first
def test_the_event_feed_tells_of_a_game_when_it_has_become_a_submission(api: Api) -> None:
    add_games(api.service)
    document(start(api, testcase="03"))
    game = win(api)
    judge(api.service)
    known = fold(read_feed(api, user="team"))
    assert list(known["submissions"]) == [game["submission_id"]]
    (judgement,) = known["judgements"].values()
    assert judgement["submission_id"] == game["submission_id"]


@sqlite_first
def test_a_game_goes_on_after_a_backup_is_restored(api: Api, tmp_path: Path) -> None:
    add_games(api.service)
    game = document(start(api, testcase="03"))
    document(move(api, game["id"], 1))
    backup(api.service.database, api.service.files, tmp_path / "backup")
    other = tmp_path / "other"
    other.mkdir()
    url = f"sqlite:///{other / 'jurado.db'}"
    restore(tmp_path / "backup", url, LocalFiles(other / "files"))
    with open_api(url, other, again=True) as there:
        assert document(move(there, game["id"], 3))["next_move"] == 5
        assert document(move(there, game["id"], 5))["winner"] == "you"


@pytest.mark.parametrize("ways", [("sqlite", "postgresql"), ("postgresql", "sqlite")])
def test_games_in_play_move_with_their_database(
    request: pytest.FixtureRequest, tmp_path: Path, ways: tuple[str, str]
) -> None:
    before, after = (str(request.getfixturevalue(f"{way}_url")) for way in ways)
    with open_api(before, tmp_path / "home") as api:
        add_games(api.service)
        counted = document(start(api, testcase="03"))
        document(move(api, counted["id"], 1))
    source, target = Database(before), Database(after)
    copy_rows(source, target)
    source.close()
    target.close()
    with open_api(after, tmp_path / "home", again=True) as there:
        assert document(move(there, counted["id"], 3))["next_move"] == 5


def test_a_team_that_is_moved_away_or_a_problem_that_is_taken_out_ends_no_game_with_a_fault(quick_api: Api) -> None:
    add_games(quick_api.service)
    game = document(start(quick_api))
    assert quick_api.delete(f"contests/c/problems/{GAME}", user="admin").status_code in {204, 409}
    reply = move(quick_api, game["id"], 1)
    assert reply.status_code in {200, 404, 409}
    look_at_clocks(quick_api)


def test_limits_of_a_problem_hold_for_games_of_every_case_together(quick_api: Api, wall: WallClock) -> None:
    add_games(quick_api.service)
    limit(quick_api.service, interval_seconds=600)
    document(start(quick_api))
    refused = start(quick_api, testcase="03")
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    wall.step(timedelta(seconds=601))
    assert start(quick_api, testcase="03").status_code == 201

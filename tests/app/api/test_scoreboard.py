"""The board over HTTP: CLICS rows, cached, frozen for the public, with changes since a version."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from app.domain.contests import OPEN, Curtain
from app.grading.boards import Boards
from app.storage.tables import TeamRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.scoring import raw, share
from tests.builders.service import Api

RELATIVE = {"kind": "relative"}


@pytest.fixture(autouse=True)
def _problem(api: Api) -> None:
    add_problem(api.service)


def board(api: Api, query: str = "", **more: Any) -> Any:
    """The board of contest `c`."""
    reply = api.get(f"contests/c/scoreboard{query}", **more)
    assert reply.status_code == 200, reply.text
    return reply.json()


def points(found: Any) -> dict[str, float]:
    """Points by team."""
    return {row["team_id"]: row["score"]["score"] for row in found["rows"]}


def test_rows_have_rank_points_the_time_of_the_last_improvement_and_every_problem(api: Api) -> None:
    add_contest(api.service)
    add_submission(api.service, {"02": share(1), "03": share(Fraction(1, 2))}, minute=2)
    add_submission(api.service, None, team="other", minute=3)
    assert board(api)["rows"] == [
        {
            "rank": 1,
            "team_id": "team",
            "score": {"score": 75.0, "time": "0:02:00.000"},
            "problems": [
                {"problem_id": "echo", "num_judged": 1, "num_pending": 0, "score": 75.0, "time": "0:02:00.000"}
            ],
        },
        {
            "rank": 2,
            "team_id": "other",
            "score": {"score": 0.0, "time": None},
            "problems": [{"problem_id": "echo", "num_judged": 0, "num_pending": 1, "score": 0.0}],
        },
    ]


def test_a_new_best_lowers_the_relative_points_of_the_others(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    add_submission(api.service, {"02": raw(8)})
    assert points(board(api)) == {"team": 50.0, "other": 0.0}
    add_submission(api.service, {"02": raw(16)}, team="other", minute=2)
    assert points(board(api)) == {"team": 25.0, "other": 50.0}


def test_the_public_board_stands_still_from_the_freeze_also_in_relative_points(api: Api) -> None:
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, rule=RELATIVE)
    add_submission(api.service, {"02": raw(8)}, minute=10)
    before = board(api)
    add_submission(api.service, {"02": raw(16)}, team="other", minute=200)
    after = board(api)
    assert points(after) == points(before) == {"team": 50.0, "other": 0.0}
    assert after["rows"][1]["problems"][0]["num_pending"] == 1
    assert after["state"]["frozen"] is not None
    assert points(board(api, user="judge")) == {"team": 25.0, "other": 50.0}
    assert points(board(api, "?public=true", user="admin")) == {"team": 50.0, "other": 0.0}
    assert points(board(api, user="team")) == {"team": 50.0, "other": 0.0}


def test_only_judges_see_the_board_behind_the_freeze(api: Api) -> None:
    add_contest(api.service)
    assert api.get("contests/c/scoreboard?public=false", user="team").status_code == 403
    assert api.get("contests/c/scoreboard?public=false").status_code == 403
    assert api.get("contests/c/scoreboard?public=false", user="judge").status_code == 200


def test_before_the_start_there_are_teams_but_no_problems(api: Api) -> None:
    add_contest(api.service, started=-HOUR)
    assert [row["problems"] for row in board(api)["rows"]] == [[], []]
    assert [len(row["problems"]) for row in board(api, user="admin")["rows"]] == [1, 1]


def test_hidden_teams_are_not_on_the_board(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    with api.service.database.write() as session:
        session.get_one(TeamRow, "other").hidden = True
    add_submission(api.service, {"02": raw(16)}, team="other")
    add_submission(api.service, {"02": raw(8)})
    assert points(board(api)) == {"team": 50.0}


def test_raw_scores_come_with_the_cases_where_they_are_asked_for(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    add_submission(api.service, {"02": raw(Fraction(7, 2))})
    row = board(api, "?cases=true")["rows"][0]
    assert row["problems"][0]["raw"] == {"02": {"raw": 3.5, "verdict": "accepted", "points": 50.0}}
    assert "raw" not in board(api)["rows"][0]["problems"][0]


def test_a_contest_may_keep_raw_scores_to_its_judges(api: Api) -> None:
    add_contest(api.service, settings={"show_best": False})
    add_submission(api.service, {"02": raw(7, 1)})
    assert "raw" not in board(api, "?cases=true", user="team")["rows"][0]["problems"][0]
    assert "raw" in board(api, "?cases=true", user="judge")["rows"][0]["problems"][0]


def test_an_unchanged_board_is_not_sent_again(api: Api) -> None:
    add_contest(api.service)
    first = api.get("contests/c/scoreboard")
    tag = first.headers["etag"]
    again = api.get("contests/c/scoreboard", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    add_submission(api.service, {"02": share(1)})
    changed = api.get("contests/c/scoreboard", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


def test_the_zipped_board_is_the_same_board(api: Api) -> None:
    add_contest(api.service)
    plain = api.get("contests/c/scoreboard", headers={"Accept-Encoding": "identity"})
    zipped = api.get("contests/c/scoreboard", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert zipped.headers["content-encoding"] == "gzip"
    assert zipped.json() == plain.json()
    assert json.loads(plain.content)["version"] in plain.headers["etag"]
    assert gzip.decompress(gzip.compress(plain.content)) == plain.content


def test_since_a_version_only_changed_rows_are_sent(api: Api) -> None:
    add_contest(api.service)
    version = board(api)["version"]
    add_submission(api.service, {"02": share(1)}, team="other")
    changes = board(api, f"?since={version}")
    assert changes["since"] == version
    assert sorted(row["team_id"] for row in changes["rows"]) == ["other", "team"]  # the rank of `team` fell
    add_submission(api.service, {"03": share(1)}, team="other", minute=2)
    later = board(api, f"?since={changes['version']}")
    assert [row["team_id"] for row in later["rows"]] == ["other"]
    assert later["version"] == board(api)["version"]


def test_since_an_unknown_version_every_row_is_sent(api: Api) -> None:
    add_contest(api.service)
    found = board(api, "?since=long-ago")
    assert "since" not in found
    assert len(found["rows"]) == 2


@pytest.mark.parametrize("query", ["?group_id=none", "?group_id="])
def test_a_group_nobody_knows_is_refused(api: Api, query: str) -> None:
    add_contest(api.service)
    assert api.get(f"contests/c/scoreboard{query}").status_code == 400


def test_there_is_no_board_without_a_contest(api: Api) -> None:
    reply = api.get("contests/none/scoreboard")
    assert (reply.status_code, reply.json()["code"]) == (404, 404)


def test_a_board_is_computed_once_however_many_ask(api: Api) -> None:
    add_contest(api.service)
    boards = Boards(api.service.database)
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda _: boards.standing("c", public=True), range(64)))
    assert boards.computed == 1
    assert len({id(each) for each in found}) == 1
    boards.changed("c")
    assert boards.ready("c", public=True) is None
    boards.standing("c", public=False)
    assert boards.computed == 2


def test_what_changes_while_a_board_is_read_is_on_the_next_one(api: Api) -> None:
    """A change during the reading must not be lost: the version is taken before the reading begins."""
    add_contest(api.service)
    boards = Boards(api.service.database)
    read = boards._compute

    def compute_and_change(*asked: Any) -> Any:
        found = read(*asked)
        boards.changed("c")
        return found

    boards._compute = compute_and_change  # type: ignore[method-assign]
    boards.standing("c", public=True)
    assert boards.ready("c", public=True) is None


def test_the_clock_alone_makes_a_new_board(api: Api) -> None:
    start = add_contest(api.service, started=2 * HOUR, freeze=HOUR, rule=RELATIVE)
    add_submission(api.service, {"02": raw(8)})
    add_submission(api.service, {"02": raw(16)}, team="other", minute=245)
    moment = [start + 4 * HOUR - timedelta(seconds=1)]
    boards = Boards(api.service.database, lambda: moment[0])
    open_ = boards.standing("c", public=True)
    assert open_ is not None
    assert open_.curtain == OPEN
    moment[0] += timedelta(seconds=2)
    assert boards.ready("c", public=True) is None
    frozen = boards.standing("c", public=True)
    assert frozen is not None
    assert frozen.curtain == Curtain(4 * HOUR)
    judges = boards.standing("c", public=False)
    assert judges is not None
    assert [row.points for row in judges.board.rows] == [50.0, 25.0]

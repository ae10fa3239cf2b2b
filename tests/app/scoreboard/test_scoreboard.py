"""The board over HTTP: CLICS rows, cached, frozen for the public, with changes since a version."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from fractions import Fraction
from time import monotonic
from typing import Any

import pytest
from sqlalchemy import event

from app.domain.contests import OPEN, Freeze
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.scoreboard.service.history import compute_history
from app.scoreboard.service.pages import row_document
from app.tables import GroupRow, TeamRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, change_contest
from tests.builders.scoring import raw, share
from tests.builders.service import Api
from tests.builders.verdicts import judge

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
    boards = ScoreboardCache(api.service.database)
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda _: boards.snapshot("c", public=True), range(64)))
    assert boards.computed == 1
    assert len({id(each) for each in found}) == 1
    boards.changed("c")
    assert boards.ready("c", public=True) is None
    boards.snapshot("c", public=False)
    assert boards.computed == 2


def test_what_changes_while_a_board_is_read_is_on_the_next_one(api: Api) -> None:
    """A change during the reading must not be lost: the version is taken before the reading begins."""
    add_contest(api.service)
    boards = ScoreboardCache(api.service.database)
    read = boards._compute

    def compute_and_change(*asked: Any) -> Any:
        found = read(*asked)
        boards.changed("c")
        return found

    boards._compute = compute_and_change  # type: ignore[method-assign]
    boards.snapshot("c", public=True)
    assert boards.ready("c", public=True) is None


def test_the_clock_alone_makes_a_new_board(api: Api) -> None:
    start = add_contest(api.service, started=2 * HOUR, freeze=HOUR, rule=RELATIVE)
    add_submission(api.service, {"02": raw(8)})
    add_submission(api.service, {"02": raw(16)}, team="other", minute=245)
    moment = [start + 4 * HOUR - timedelta(seconds=1)]
    boards = ScoreboardCache(api.service.database, lambda: moment[0])
    open_ = boards.snapshot("c", public=True)
    assert open_ is not None
    assert open_.freeze == OPEN
    moment[0] += timedelta(seconds=2)
    assert boards.ready("c", public=True) is None
    frozen = boards.snapshot("c", public=True)
    assert frozen is not None
    assert frozen.freeze == Freeze(4 * HOUR)
    judges = boards.snapshot("c", public=False)
    assert judges is not None
    assert [row.points for row in judges.board.rows] == [50.0, 25.0]


def content(api: Api, query: str = "", **more: Any) -> bytes:
    """The bytes of the board."""
    return api.get(f"contests/c/scoreboard{query}", **more).content


@pytest.mark.parametrize("kind", ["relative", "rank"])
def test_a_frozen_board_does_not_change_by_one_byte_while_new_bests_arrive(api: Api, kind: str) -> None:
    """Only a submission shows, as one more that is pending; its verdict does not, nor the BEST it sets."""
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, rule={"kind": kind})
    for team, best in (("team", 8), ("other", 4)):
        add_submission(api.service, {"02": raw(best), "03": raw(best)}, team=team, minute=10)
    frozen = content(api)
    for minute, best in ((190, 16), (200, 32)):
        waiting = add_submission(api.service, None, team="other", minute=minute)
        pending, cases = content(api), content(api, "?cases=true")
        assert pending != frozen
        assert without_pending(pending) == without_pending(frozen)
        judge(api.service, waiting, {"02": raw(best)})
        assert content(api) == pending
        assert content(api, "?cases=true") == cases
        frozen = pending
    assert points(board(api, user="judge"))["team"] < points(board(api))["team"]


def without_pending(page: bytes) -> Any:
    """A board without its version and without what waits."""
    found = json.loads(page)
    for row in found["rows"]:
        for cell in row["problems"]:
            del cell["num_pending"]
    return {**found, "version": None}


def test_a_verdict_has_only_its_own_submission_read_again(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    for minute in range(1, 6):
        add_submission(api.service, {"02": raw(minute)}, minute=minute)
    waiting = add_submission(api.service, None, team="other", minute=9)
    board(api)
    statements: list[tuple[str, Any]] = []
    event.listen(api.service.database.engine, "before_cursor_execute", lambda *args: statements.append(args[2:4]))
    judge(api.service, waiting, {"02": raw(10)})
    del statements[:]
    assert points(board(api)) == {"team": 25.0, "other": 50.0}
    read = [text for text, _ in statements if "FROM submissions" in text]
    assert len(read) == 1
    assert "submissions.id IN" in read[0]
    assert [text for text, _ in statements if "FROM contests" in text or "FROM teams" in text] == []


def test_a_group_has_a_board_of_its_own_ranks_with_the_points_of_everybody(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    with api.service.database.write() as session:
        session.get_one(TeamRow, "other").group_ids = ["guests", "girls"]
    add_submission(api.service, {"02": raw(8)})
    add_submission(api.service, {"02": raw(4)}, team="other")
    assert [(row["rank"], row["team_id"]) for row in board(api)["rows"]] == [(1, "team"), (2, "other")]
    group = board(api, "?group_id=girls")
    assert [(row["rank"], row["team_id"], row["score"]["score"]) for row in group["rows"]] == [(1, "other", 25.0)]
    assert group["rows"][0]["problems"] == board(api)["rows"][1]["problems"]
    assert group["version"] != board(api)["version"]
    assert api.get("contests/c/scoreboard?group_id=boys").status_code == 400


def test_where_a_contest_has_a_main_group_only_its_teams_are_on_the_board_and_in_every_form_of_it(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    with api.service.database.write() as session:
        session.add(GroupRow(id="guests", name="Guests"))
        session.get_one(TeamRow, "other").group_ids = ["guests"]
    change_contest(api.service, main_scoreboard_group_id="guests")
    add_submission(api.service, {"02": raw(8)})
    add_submission(api.service, {"02": raw(4)}, team="other")
    main = board(api)
    assert points(main) == {"other": 25.0}, "BEST is still everybody's"
    assert main["rows"] == board(api, "?group_id=guests")["rows"]
    assert [row["rank"] for row in main["rows"]] == [1]
    assert [(line["rank"], line["team_id"]) for line in table(api)] == [("1", "other")]
    told = api.get("contests/c/scores/history").json()["teams"]
    assert [(each["team_id"], each["points"][-1]["score"], each["points"][-1]["rank"]) for each in told] == [
        ("other", 25.0, 1)
    ]
    assert api.get("contests/c/scores/history?team_id=team").status_code == 400
    change_contest(api.service, main_scoreboard_group_id=None)
    assert points(board(api)) == {"team": 50.0, "other": 25.0}


def table(api: Api, query: str = "") -> list[dict[str, str]]:
    """The board as a spreadsheet reads it."""
    reply = api.get(f"contests/c/scoreboard.csv{query}")
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(reply.text)))


def test_board_report_export_and_the_end_of_history_have_the_same_figures(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    add_submission(api.service, {"02": raw(3), "03": raw(1)}, minute=2)
    last = add_submission(api.service, {"02": raw(7)}, team="other", minute=3)
    mine = add_submission(api.service, {"03": raw(3)}, minute=5)
    shown = board(api)
    history = api.get("contests/c/scores/history").json()
    for row, line in zip(shown["rows"], table(api), strict=True):
        score = row["score"]["score"]
        assert (int(line["rank"]), line["team_id"], float(line["points"])) == (row["rank"], row["team_id"], score)
        assert float(line["A"]) == row["problems"][0]["score"]
        assert line["time"] == (row["score"]["time"] or "")
        (past,) = [each for each in history["teams"] if each["team_id"] == row["team_id"]]
        assert (past["points"][-1]["score"], past["points"][-1]["rank"]) == (score, row["rank"])
    reports = {
        team: api.get(f"contests/c/submissions/{sent}/report", user="admin").json()["points"]
        for team, sent in (("team", mine), ("other", last))
    }
    assert reports == points(shown)


def test_history_tells_what_a_new_best_took_from_the_others_and_when(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    add_submission(api.service, {"02": raw(8)}, minute=2)
    add_submission(api.service, {"02": raw(16)}, team="other", minute=4)
    found = api.get("contests/c/scores/history?team_id=team").json()
    assert found["teams"] == [
        {
            "team_id": "team",
            "points": [
                {"contest_time": "0:02:00.000", "score": 50.0, "rank": 1},
                {"contest_time": "0:04:00.000", "score": 25.0, "rank": 2},
            ],
        }
    ]
    assert len(api.get("contests/c/scores/history?steps=1").json()["teams"][0]["points"]) == 1
    for wrong in ("team_id=nobody", "steps=0", "steps=many"):
        assert api.get(f"contests/c/scores/history?{wrong}").status_code in {400, 422}


def test_history_and_exports_end_at_the_freeze_for_the_public(api: Api) -> None:
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, rule=RELATIVE)
    add_submission(api.service, {"02": raw(8)}, minute=10)
    before = [api.get(f"contests/c/{each}").content for each in ("scores/history", "scoreboard.csv")]
    add_submission(api.service, {"02": raw(16)}, team="other", minute=200)
    assert [api.get(f"contests/c/{each}").content for each in ("scores/history", "scoreboard.csv")] == before
    assert api.get("contests/c/scores/history", user="judge").content != before[0]
    for each in ("scores/history", "scoreboard.csv"):
        assert api.get(f"contests/c/{each}?public=false", user="team").status_code == 403


def test_a_dear_history_stays_for_a_while_but_not_when_a_team_is_hidden(api: Api) -> None:
    add_contest(api.service, started=4 * HOUR, rule=RELATIVE)
    for team in ("team", "other"):
        add_submission(api.service, {"02": raw(8)}, team=team, minute=10)

    def snapshot() -> ContestSnapshot:
        now = api.service.boards.snapshot("c", public=True)
        assert now is not None
        return now

    dear = compute_history(snapshot(), 10, dear_seconds=-1.0, rest=1e9)
    cheap = compute_history(snapshot(), 10, dear_seconds=60.0)
    add_submission(api.service, {"02": raw(16)}, team="other", minute=20)
    assert dear.is_good_for(snapshot(), monotonic())
    assert not cheap.is_good_for(snapshot(), monotonic())
    assert api.patch("teams/other", user="admin", json={"hidden": True}).status_code == 200
    assert not dear.is_good_for(snapshot(), monotonic())
    after = api.get("contests/c/scores/history").json()["teams"]
    assert [each["team_id"] for each in after] == ["team"]


def test_a_team_named_like_a_formula_is_harmless_in_a_spreadsheet(api: Api) -> None:
    add_contest(api.service)
    with api.service.database.write() as session:
        session.get_one(TeamRow, "team").name = '=HYPERLINK("http://evil","x")'
        session.get_one(TeamRow, "other").name = "Ñandú, the 2nd"
    assert {row["team"] for row in table(api)} == {'\'=HYPERLINK("http://evil","x")', "Ñandú, the 2nd"}


def test_the_short_way_and_the_long_way_send_the_same(api: Api) -> None:
    """A written page is sent before any routing; with an Origin, or before it is written, the long way is taken."""
    add_contest(api.service, rule=RELATIVE)
    version = board(api)["version"]
    add_submission(api.service, {"02": raw(8)})
    for headers in ({"Accept-Encoding": "gzip"}, {"Accept-Encoding": "identity"}):
        for query in ("", f"?since={version}"):
            for user in (None, "team"):
                first = api.get(f"contests/c/scoreboard{query}", user=user, headers=headers)
                second = api.get(f"contests/c/scoreboard{query}", user=user, headers=headers)
                crossed = api.get(f"contests/c/scoreboard{query}", user=user, headers={**headers, "Origin": "http://x"})
                assert first.content == second.content == crossed.content
                same = {"etag", "content-type", "content-length", "cache-control", "jurado-time"}
                assert {k: v for k, v in first.headers.items() if k in same - {"jurado-time"}} == {
                    k: v for k, v in crossed.headers.items() if k in same - {"jurado-time"}
                }
                assert "jurado-time" in second.headers
                third = api.get(f"contests/c/scoreboard{query}", user=user, headers=headers)
                names = [name for name, _ in second.headers.raw]
                assert names == [name for name, _ in third.headers.raw], "what crossed left its headers on the page"
                assert len(names) == len(set(names))
    tag = api.get("contests/c/scoreboard").headers["etag"]
    assert api.get("contests/c/scoreboard", headers={"If-None-Match": tag}).status_code == 304
    wrong = api.get("contests/c/scoreboard", headers={"Authorization": "Bearer wrong"})
    assert wrong.status_code == 401


def test_written_rows_are_those_of_a_board_written_whole(api: Api) -> None:
    """The text put together from kept pieces is what the documents of the rows say."""
    add_contest(api.service, rule=RELATIVE)
    for minute in range(1, 5):
        team = "team" if minute % 2 else "other"
        add_submission(api.service, {"02": raw(minute), "03": raw(Fraction(minute, 3))}, team=team, minute=minute)
        snapshot = api.service.boards.snapshot("c", public=True)
        assert snapshot is not None
        assert board(api)["rows"] == [row_document(row) for row in snapshot.board.rows]


def test_a_change_just_after_a_reading_has_ended_does_not_keep_the_loop_busy_for_ever(api: Api) -> None:
    """Whoever comes between the end of a reading and the loop's next turn finds one that is done and too old."""
    add_contest(api.service)
    boards = ScoreboardCache(api.service.database)

    async def ask() -> None:
        done = asyncio.get_running_loop().create_future()
        done.set_result(boards._read("c"))
        boards._work._tasks["c"] = done
        boards.changed("c")
        await asyncio.wait_for(boards.snapshot_soon("c", public=True), timeout=20)

    api.portal.call(ask)
    assert boards.ready("c", public=True) is not None

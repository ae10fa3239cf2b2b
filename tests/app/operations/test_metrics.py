"""Metrics: every stage of a submission is counted, also across restarts and several servers."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.accounts.service.tokens import SESSION
from app.core.clock import utc_now
from app.submissions.tables import REJUDGED
from app.tables import JobRow, JudgementRow, TokenRow
from tests.builders.contests import PROBLEM, add_contest, add_problem, add_submission
from tests.builders.logged import lines_of, logged
from tests.builders.scoring import share
from tests.builders.service import Api

Sample = tuple[str, tuple[tuple[str, str], ...]]


def scraped(api: Api) -> dict[Sample, float]:
    """Every sample by its name and labels, as Prometheus reads it."""
    text = api.get("/metrics", user="admin").text
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_verdicts_are_counted_by_the_time_they_took_and_by_their_attempts(api: Api) -> None:
    """Twice the same, and again after another verdict: rows that are settled are added up once."""
    add_problem(api.service)
    add_contest(api.service)
    for count, seconds in ((1, 0.2), (2, 20.0)):
        add_submission(api.service, {"02": share(1), "03": share(1)})
        with api.service.database.write() as session:
            row = session.query(JudgementRow).order_by(JudgementRow.id.desc()).limit(1).one()
            row.end_time = row.start_time + timedelta(seconds=seconds)
            row.attempt, row.failures = 2, 1
        for _ in range(2):
            metrics = scraped(api)
            assert metrics["jurado_verdict_seconds_count", ()] == count
            assert metrics["jurado_verdict_seconds_bucket", (("le", "0.25"),)] == 1
            assert metrics["jurado_verdict_seconds_bucket", (("le", "30.0"),)] == count
            assert metrics["jurado_attempts_total", ()] == 2 * count
            assert metrics["jurado_failed_attempts_total", ()] == count
    assert metrics["jurado_verdict_seconds_sum", ()] == pytest.approx(20.2, abs=0.01)


def test_jobs_sessions_streams_boards_and_disks_have_gauges(api: Api) -> None:
    """What there is none of is 0, so that an alert can be written before it happens."""
    add_problem(api.service)
    add_contest(api.service)
    with api.service.database.write() as session:
        session.add(JobRow(id="j", kind="verification", state="running", params={}, created=utc_now()))
        for at, expires in enumerate((timedelta(hours=1), timedelta(hours=-1))):
            digest = f"{at:064d}"
            session.add(
                TokenRow(
                    digest=digest, account_id="team", label=SESSION, created=utc_now(), expires=utc_now() + expires
                )
            )
    metrics = scraped(api)
    assert metrics["jurado_jobs", (("state", "running"),)] == 1
    assert metrics["jurado_jobs", (("state", "failed"),)] == 0
    assert metrics["jurado_sessions", ()] == 1
    assert metrics["jurado_streams", ()] == 0
    assert metrics["jurado_waiting_again", ()] == 0
    assert metrics["jurado_disk_free_bytes", (("folder", "home"),)] > 0
    assert metrics["jurado_database_connections", (("pool", "readers"),)] == 0


def test_submissions_of_an_imported_contest_are_not_counted_as_those_that_teams_wait_for(api: Api) -> None:
    """They are queued as rejudgings are, without one."""
    add_problem(api.service)
    add_contest(api.service)
    add_submission(api.service, None)
    assert (scraped(api)["jurado_waiting", ()], scraped(api)["jurado_waiting_again", ()]) == (1, 0)
    with api.service.database.write() as session:
        session.query(JudgementRow).one().lane = REJUDGED
    assert (scraped(api)["jurado_waiting", ()], scraped(api)["jurado_waiting_again", ()]) == (0, 1)


def test_commits_and_boards_are_timed(api: Api) -> None:
    """A submission is a write, and a board that is asked for is read once."""
    add_problem(api.service)
    add_contest(api.service)
    before = scraped(api)
    form = {"data": {"problem_id": PROBLEM}, "files": {"files": ("02.out", b"7\n")}}
    assert api.post("contests/c/submissions", user="team", **form).status_code == 201
    assert api.get("contests/c/scoreboard").status_code == 200
    after = scraped(api)
    assert after["jurado_writes_total", ()] > before["jurado_writes_total", ()]
    assert after["jurado_commit_seconds_count", ()] > before["jurado_commit_seconds_count", ()]
    assert after["jurado_board_seconds_count", ()] == before["jurado_board_seconds_count", ()] + 1


def test_a_submission_can_be_followed_through_the_log_by_the_id_of_its_request(api: Api) -> None:
    """The id that a proxy sent comes back and stands in the line that names the submission."""
    add_problem(api.service)
    add_contest(api.service)
    form = {"data": {"problem_id": PROBLEM}, "files": {"files": ("02.out", b"7\n")}}
    with logged(io.StringIO(), "debug") as log:
        reply = api.post("contests/c/submissions", user="team", headers={"X-Request-Id": "from-a-proxy"}, **form)
    assert reply.headers["x-request-id"] == "from-a-proxy"
    taken = [line for line in lines_of(log) if line["event"] == "submission taken"]
    assert [(line["request_id"], str(line["submission_id"])) for line in taken] == [
        ("from-a-proxy", reply.json()["id"])
    ]
    assert api.get("contests").headers["x-request-id"] != api.get("contests").headers["x-request-id"]


def test_the_age_of_a_board_is_that_of_the_first_change_it_does_not_show(api: Api) -> None:
    """From the change to the next reading; one that no one has asked for has none."""
    add_problem(api.service)
    add_contest(api.service)
    boards, clock = api.service.boards, [100.0]
    boards._steady = lambda: clock[0]
    boards.changed("c")
    assert boards.age() == 0
    assert boards.snapshot("c", public=True) is not None
    for later in (0.0, 5.0):
        clock[0] += later
        boards.changed("c", 1)
    assert boards.age() == 5.0
    boards.snapshot("c", public=True)
    assert boards.age() == 0

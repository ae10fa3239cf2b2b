"""The lag of a real standby of PostgreSQL, as status and metrics tell it."""

from __future__ import annotations

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from app.core.db.migrate import upgrade
from tests import postgres
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api, open_api
from tests.builders.standby import primary_with_standby
from tests.builders.waiting import until

NAME = "walreceiver"


def behind(api: Api) -> tuple[float, float]:
    """The seconds and bytes that the metrics say the standby is behind."""
    lags = measured(api)
    return lags["jurado_replica_lag_seconds"], lags["jurado_replica_lag_bytes"]


def replica(api: Api) -> str:
    """What `jurado status` says of the standby."""
    document = api.get("status", user="admin").raise_for_status().json()
    return "".join(each["figure"] for each in document["parts"] if each["name"] == f"Replica {NAME}")


def measured(api: Api) -> dict[str, float]:
    """The lags of the standby in the metrics."""
    text = api.get("/metrics", user="admin").text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {each.name: each.value for each in samples if each.labels == {"name": NAME}}


def write(api: Api) -> None:
    """Change a row."""
    name = {"name": "Another"}
    assert api.patch("contests/c", user="admin", json=name).status_code == 200


def test_the_lag_of_a_standby_grows_while_it_replays_nothing_and_falls_after(tmp_path: Path) -> None:
    with primary_with_standby() as (primary, standby):
        url = postgres.url(primary, "postgres")
        upgrade(url)
        with open_api(url, tmp_path) as api:
            add_problem(api.service)
            add_contest(api.service)
            standby.catch_up()
            until(lambda: replica(api).startswith("streaming, behind by "))
            until(lambda: behind(api)[1] == 0)
            standby.pause()
            write(api)
            until(lambda: behind(api)[0] > 0 and behind(api)[1] > 0)
            first = behind(api)
            write(api)
            until(lambda: behind(api)[0] > first[0] + 1 and behind(api)[1] > first[1])
            most = behind(api)
            standby.go_on()
            until(lambda: behind(api)[1] == 0)
            until(lambda: behind(api)[0] < most[0])

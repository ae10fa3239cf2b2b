"""The compact form of the board: the whole form's figures, cut, in arrays; never more than the whole form shows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from app.scoreboard.service.pages import hundredths
from app.tables import TeamRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.examples import rule_cases, sqlite_first
from tests.builders.scoring import raw
from tests.builders.service import Api

RELATIVE = {"kind": "relative"}
COMPACT = "contests/c/scoreboard?form=compact"
SECONDS = 3600


@pytest.fixture(autouse=True)
def _problem(api: Api) -> None:
    add_problem(api.service)


def seconds_of(time: str | None) -> int | None:
    """A CLICS time in whole seconds."""
    if time is None:
        return None
    hours, minutes, rest = time.split(":")
    return int(hours) * SECONDS + int(minutes) * 60 + int(rest.partition(".")[0])


def compacted(whole: dict[str, Any]) -> dict[str, Any]:
    """The compact form of a whole board, from its JSON alone."""
    rows = whole.pop("rows")
    cells = list(zip(*(row["problems"] for row in rows), strict=True))
    return {
        **whole,
        "team_ids": [row["team_id"] for row in rows],
        "ranks": [row["rank"] for row in rows],
        "scores": hundredths(np.array([row["score"]["score"] for row in rows], dtype=float)),
        "times": [seconds_of(row["score"]["time"]) for row in rows],
        "problems": [
            {
                "problem_id": column[0]["problem_id"],
                "num_judged": [cell["num_judged"] for cell in column],
                "num_pending": [cell["num_pending"] for cell in column],
                "scores": hundredths(np.array([cell["score"] for cell in column])),
            }
            for column in cells
        ],
    }


@rule_cases("user", [None, "team", "judge", "admin"])
def test_the_compact_form_has_the_figures_of_the_whole_form_for_every_role(api: Api, user: str | None) -> None:
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, rule=RELATIVE)
    add_submission(api.service, {"02": raw(7), "03": raw(3)}, minute=10.5)
    add_submission(api.service, {"02": raw(9)}, team="other", minute=20)
    add_submission(api.service, {"02": raw(Fraction(31, 3))}, team="other", minute=200)
    for options in ("", "&public=true", "&virtual=true"):
        address = f"contests/c/scoreboard?form=whole{options}"
        whole, compact = (api.get(each, user=user) for each in (address, address.replace("whole", "compact")))
        assert compact.json() == compacted(whole.json())
        assert compact.headers["ETag"] == whole.headers["ETag"]
        assert compact.headers["Content-Type"] == "application/vnd.jurado.scoreboard+json"


@sqlite_first
def test_a_frozen_compact_board_changes_by_nothing_but_what_waits(api: Api) -> None:
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, rule=RELATIVE)
    add_submission(api.service, {"02": raw(8)}, minute=10)
    before = api.get(COMPACT).json()
    add_submission(api.service, {"02": raw(16)}, team="other", minute=200)
    after = api.get(COMPACT).json()
    assert before["problems"][0].pop("num_pending") != after["problems"][0].pop("num_pending")
    assert {**before, "version": ""} == {**after, "version": ""}
    assert api.get(COMPACT, user="judge").json()["scores"] != after["scores"]
    assert api.get(f"{COMPACT}&public=false", user="team").status_code == 403


@sqlite_first
def test_hidden_teams_and_those_of_other_groups_are_not_in_the_compact_form(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    with api.service.database.write() as session:
        session.get_one(TeamRow, "other").hidden = True
        session.get_one(TeamRow, "team").group_ids = ["guests"]
    add_submission(api.service, {"02": raw(16)}, team="other")
    for user in (None, "judge"):
        assert api.get(COMPACT, user=user).json()["team_ids"] == ["team"]
    assert api.get(f"{COMPACT}&group_id=guests").json()["team_ids"] == ["team"]
    assert api.get(f"{COMPACT}&group_id=none").status_code == 400


@sqlite_first
def test_before_the_start_the_compact_form_has_no_problems(api: Api) -> None:
    add_contest(api.service, started=-HOUR)
    assert api.get(COMPACT).json()["problems"] == []
    assert len(api.get(COMPACT, user="admin").json()["problems"]) == 1


@sqlite_first
def test_since_a_version_the_compact_form_has_the_changed_rows_only(api: Api) -> None:
    add_contest(api.service)
    version = api.get(COMPACT).json()["version"]
    add_submission(api.service, {"02": raw(1, 1)}, team="other")
    add_submission(api.service, {"03": raw(1, 1)}, team="other", minute=2)
    changes = api.get(f"{COMPACT}&since={version}").json()
    whole = api.get(f"contests/c/scoreboard?since={version}").json()
    assert changes == compacted(whole)
    assert (changes["since"], changes["removed_team_ids"]) == (version, [])
    later = api.get(f"{COMPACT}&since={changes['version']}").json()
    assert (later["team_ids"], later["problems"][0]["scores"]) == ([], [])


@sqlite_first
def test_an_unchanged_compact_board_is_not_sent_again_and_raw_scores_are_refused(api: Api) -> None:
    add_contest(api.service)
    first = api.get(COMPACT)
    again = api.get(COMPACT, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    refused = api.get(f"{COMPACT}&cases=true")
    assert (refused.status_code, "expected false" in refused.text) == (400, True)
    assert api.get("contests/c/scoreboard?form=small").status_code == 400


@sqlite_first
def test_the_short_way_and_the_long_way_send_the_same_compact_board(api: Api) -> None:
    add_contest(api.service, rule=RELATIVE)
    version = api.get(COMPACT).json()["version"]
    add_submission(api.service, {"02": raw(8)})
    for encoding in ("gzip", "identity"):
        for query in ("", f"&since={version}"):
            headers = {"Accept-Encoding": encoding}
            short = api.get(f"{COMPACT}{query}", headers=headers)
            long = api.get(f"{COMPACT}{query}", headers={**headers, "Origin": "http://x"})
            assert short.content == long.content
            names = ("etag", "content-type", "content-encoding", "cache-control", "vary")
            assert [short.headers.get(name) for name in names[:4]] == [long.headers.get(name) for name in names[:4]]

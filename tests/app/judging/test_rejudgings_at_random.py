"""Any contest, any change: the preview is what applying makes of it, and undoing leaves no trace."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, with_checkers
from tests.builders.examples import examples
from tests.builders.judging import judge
from tests.builders.scoring import raw
from tests.builders.service import Api, open_api

TEAMS = ("team", "other")
GOOD = {"02": b"2\n", "03": b"3\n"}
SEEN = ("scoreboard?cases=true", "judgements", "runs", "problems/echo/testcases", "problems", "teams", "submissions")

scores = st.builds(raw, st.integers(0, 5), st.sampled_from([0, 1]))
contents = st.sampled_from([b"2\n", b"3\n", b"22\n", b"no\n"])
submitted = st.fixed_dictionaries(
    {
        "team": st.sampled_from(TEAMS),
        "minute": st.integers(1, 280),
        "scores": st.dictionaries(st.sampled_from(["02", "03"]), scores, min_size=1),
        "files": st.fixed_dictionaries({"02": contents, "03": contents}),
    }
)
rules = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["absolute", "relative", "rank"]),
        "counting": st.sampled_from(["best-case", "best", "last"]),
        "carry": st.sampled_from(["best", "latest", "none"]),
    }
)
changes = st.one_of(
    st.just(("all", None)),
    st.tuples(st.just("team"), st.sampled_from(TEAMS)),
    st.tuples(st.just("put"), st.tuples(st.sampled_from(["02", "03", "04"]), contents)),
    st.tuples(st.just("delete"), st.sampled_from(["02", "03"])),
    st.tuples(st.just("rule"), rules),
)


def start(api: Api, change: tuple[str, Any]) -> dict[str, Any] | None:
    """Begin a rejudging of this kind; None where there is nothing that could change."""
    kind, value = change
    if kind == "put":
        name, data = value
        files = {"input": ("in", data), "answer": ("ans", data)}
        reply = api.put(f"problems/echo/testcases/secret/{name}", user="admin", files=files)
    elif kind == "delete":
        reply = api.delete(f"problems/echo/testcases/secret/{value}", user="admin")
    elif kind == "rule":
        reply = api.patch("contests/c/problems/echo", user="admin", json={"rule": value})
    else:
        selected = {"team": value} if kind == "team" else {}
        reply = api.post("contests/c/rejudgings", user="admin", json={"reason": "why", **selected})
    # 404: the case has been deleted before; 409: it is the last one of its group
    assert reply.status_code in {200, 201, 202, 400, 404, 409}, reply.text
    found: dict[str, Any] = reply.json()
    return found if "selection" in found else None


def seen(api: Api) -> dict[tuple[str, str | None], bytes]:
    """What everyone sees."""
    return {
        (path, user): api.get(f"contests/c/{path}", user=user).content
        for path in SEEN
        for user in ("judge", "team", None)
    }


def places(api: Api, user: str | None) -> dict[str, dict[str, Any]]:
    """Rank and points of each team."""
    rows = api.get("contests/c/scoreboard", user=user).json()["rows"]
    return {row["team_id"]: {"rank": row["rank"], "points": row["score"]["score"]} for row in rows}


@pytest.mark.parametrize("frozen", [False, True])
@settings(
    max_examples=examples(2, 40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(rule=rules, sent=st.lists(submitted, min_size=1, max_size=6), steps=st.lists(changes, min_size=1, max_size=2))
def test_the_preview_is_what_applying_makes_of_it_and_undoing_leaves_no_trace(
    sqlite_url: str, frozen: bool, rule: dict[str, Any], sent: list[Any], steps: list[tuple[str, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(sqlite_url.removeprefix("sqlite:///"), Path(folder) / "db.sqlite")
        with open_api(f"sqlite:///{folder}/db.sqlite", Path(folder) / "home") as api:
            add_problem(api.service)
            add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR if frozen else None, rule=rule)
            with_checkers(api)
            for each in sent:
                files = {case: each["files"][case] for case in each["scores"]}
                add_submission(api.service, each["scores"], team=each["team"], minute=each["minute"], files=files)
            story(api, steps)


def story(api: Api, steps: list[tuple[str, Any]]) -> None:
    """Begin, look, cancel; begin again, apply; at the end undo all of them, the last first."""
    done: list[tuple[dict[str, Any], dict[tuple[str, str | None], bytes]]] = []
    for step in steps:
        before = seen(api)
        first = start(api, step)
        if first is None:
            continue
        judge(api.service)
        assert api.post(f"{first['href']}/cancel", user="admin").status_code == 200
        assert seen(api) == before
        again = start(api, step)
        assert again is not None
        judge(api.service)
        assert seen(api) == before
        preview = api.get(f"{again['href']}/difference?all=true", user="judge").json()
        assert api.post(f"{again['href']}/apply", user="admin").status_code == 200
        for user, key in (("judge", "after"), (None, "public_after")):
            assert places(api, user) == {team["team_id"]: team[key] for team in preview["teams"]}
        after = api.get(f"{again['href']}/difference?all=true", user="judge").json()
        assert (after["submissions"], after["teams"]) == (preview["submissions"], preview["teams"])
        done.append((again, before))
    for rejudging, before in reversed(done):
        assert api.post(f"{rejudging['href']}/undo", user="admin").status_code == 200
        assert seen(api) == before

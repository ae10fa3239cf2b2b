"""Odd values in every property of every body: refused with a reason and nothing kept, or taken and then readable.

A good body of each route is sent again and again, each time with one odd value in the place of one of its values: with
each by `make test-long`, with some, which differ from place to place, by `make test`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.packages.zips import zip_bytes
from app.tables import ProblemRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.examples import every
from tests.builders.scoring import share
from tests.builders.service import Api

JSON = {"Content-Type": "application/json"}
HERE = "@here@"
STEP = 9
"""`make test` tries each so many-th of the odd values of a place, and begins with another one at the next."""
TIME, DURATION = "2036-01-01T00:00:00.000Z", "2:00:00.000"
FILE = {"filename": "a.png", "mime": "image/png", "href": "http://x/", "width": 1, "height": 1, "tag": ["x"]}
PLACE = {"latitude": 1.5, "longitude": 2.5}
LIMITS = {"max_submissions": 5, "interval_seconds": 5, "per_window": {"count": 5, "seconds": 60}}
RULE = {"kind": "absolute", "counting": "last", "carry": "best", "reference_counts": True, "max_points": 5}
ENTRY = {"id": "echo", "label": "X", "ordinal": 3, "rgb": "#fff", "color": "red", "rule": RULE, "limits": LIMITS}
SETTINGS: dict[str, Any] = {
    "partly_correct_as": "PC",
    "rejections": "position",
    "answer_pattern": "{case}.a",
    "final_minutes": 5,
    "practice": True,
    "limits": LIMITS,
    "awards": {"gold": 1, "ranks": 1},
}
TIMES_OF_IT: dict[str, Any] = {
    "start_time": TIME,
    "duration": DURATION,
    "scoreboard_freeze_duration": "1:00:00",
    "scoreboard_thaw_time": "2036-01-02T00:00:00.000Z",
}
CONTEST: dict[str, Any] = {
    **TIMES_OF_IT,
    "name": "Contest",
    "open_to_all": True,
    "main_scoreboard_group_id": "g",
    "banner": [FILE],
    "location": PLACE,
    "settings": SETTINGS,
}
TEAM = {
    "id": "late",
    "name": "Late",
    "label": "L",
    "display_name": "Late!",
    "hidden": True,
    "organization_id": "o",
    "group_ids": ["g"],
    "location": {"x": 1.5, "y": 2.5, "rotation": 3.5},
    "photo": [FILE],
}
ACCOUNT = {"id": "x", "username": "x", "password": "long enough", "name": "X", "type": "judge", "person_id": "p"}
GROUP = {"id": "g", "icpc_id": "1", "name": "Group", "type": "site", "location": PLACE}
ORGANIZATION = {"id": "o", "name": "Org", "country": "AUT", "url": "http://x/", "location": PLACE, "logo": [FILE]}
PERSON = {"id": "p", "team_ids": ["team"], "name": "P", "sex": "male", "role": "contestant", "photo": [FILE]}
AWARD = {"id": "a", "citation": "For all", "team_ids": ["team"]}
QUESTION = {"from_team_id": "team", "reply_to_id": "1", "problem_id": "echo", "text": "Why?"}
NOTICE = {
    "id": "k",
    "to_team_ids": ["team"],
    "to_group_ids": ["g"],
    "text": "So!",
    "time": "2026-01-01T00:00:01.000Z",  # not in the future, where a submission has no time
    "contest_time": "0:00:01",
}
COMMENT = {"message": "Oh", "tags": ["t"], "team_ids": ["team"], "problem_ids": ["echo"], "submission_ids": ["1"]}
ZIP = base64.b64encode(zip_bytes({"02.out": b"2\n"})).decode()
SUBMISSION = {
    "id": "s",
    "language_id": "answers",
    "problem_id": "echo",
    "team_id": "team",
    "time": "2026-01-01T00:00:01.000Z",  # no submission has a time in the future
    "contest_time": "0:00:01",
    "files": [{"data": ZIP, "mime": "application/zip", "filename": "a.zip"}],
    "comment": "c",
}
WEBHOOK = {"url": "http://hooks.invalid/", "token": "t", "contest_ids": ["c"], "endpoints": ["teams"]}
SOLVE = {"testcases": ["02"], "method": "m", "seconds": 1.5, "seed": 1}
AGAIN = {"reason": "R", "problem": "echo", "team": "team", "submissions": ["1"]}

ROUTES: dict[str, list[tuple[str, str, str, Any]]] = {
    "contests": [
        ("POST", "contests", "admin", CONTEST),
        ("PATCH", "contests/soon", "admin", {"id": "soon", **TIMES_OF_IT}),
        ("PATCH", "contests/soon", "admin", {"id": "soon", "scoreboard_thaw_time": None}),
        ("PATCH", "contests/soon", "admin", {"id": "soon", "start_time": None, "countdown_pause_time": "0:00:01"}),
        ("PATCH", "contests/soon", "admin", {"settings": {"final_release": TIME, "final_minutes": None}}),
        ("POST", "contests/own/participation", "team", {"kind": "personal"}),
        ("PATCH", "contests/own", "admin", {"settings": {"personal_duration": DURATION}}),
        ("POST", "contests/over/reveal", "admin", {"step": "all"}),
        ("PATCH", "contests/c", "admin", {"duration": DURATION, "settings": SETTINGS}),
        ("PATCH", "contests/c", "admin", {"scoreboard_freeze_duration": "1:00:00", "finalized": False}),
    ],
    "problems": [
        ("PUT", "contests/c/problems/echo/chosen", "team", {"submission_id": "1"}),
        ("POST", "contests/c/problems", "admin", {**ENTRY, "id": "spare", "label": "Y"}),
        ("PATCH", "contests/c/problems/echo", "admin", ENTRY),
        ("POST", "problems/echo/reference-runs", "admin", SOLVE),
    ],
    "teams": [
        ("POST", "teams?replace=true", "admin", [{"id": "late", "name": "Late", "hidden": True}]),
        ("PUT", "teams/late", "admin", TEAM),
        ("PATCH", "teams/late", "admin", {"label": "L", "hidden": True, "group_ids": ["g"]}),
        ("POST", "contests/c/teams", "admin", {"team_ids": ["team"]}),
        ("PATCH", "contests/c/teams/team", "admin", {"id": "team", "disqualified": False}),
    ],
    "accounts": [
        ("POST", "accounts?replace=true", "admin", [ACCOUNT]),
        ("PUT", "accounts/x", "admin", ACCOUNT),
        ("PATCH", "accounts/x", "admin", ACCOUNT),
        ("POST", "account/tokens", "judge", {"label": "L", "expires": TIME}),
    ],
    "directory": [
        ("POST", "contests/c/groups?replace=true", "admin", [GROUP]),
        ("PATCH", "contests/c/groups/g", "admin", {"name": "Group", "location": PLACE}),
        ("PUT", "contests/c/organizations/o", "admin", ORGANIZATION),
        ("PATCH", "contests/c/organizations/o", "admin", {"name": "Org", "country": "AUT"}),
        ("PUT", "contests/c/persons/p", "admin", PERSON),
        ("PATCH", "contests/c/persons/p", "admin", {"team_ids": ["team"], "role": "contestant"}),
    ],
    "submissions": [
        ("POST", "contests/c/submissions", "admin", {k: v for k, v in SUBMISSION.items() if k != "id"}),
        ("PUT", "contests/c/submissions/s", "admin", SUBMISSION),
        ("POST", "contests/c/rejudgings", "admin", AGAIN),
        ("POST", "contests/c/rejudgings", "admin", {"reason": "R", "problem": "echo", "changes": {"rule": RULE}}),
        ("POST", "contests/c/rejudgings/1/apply", "admin", {"judge_errors": True}),
    ],
    "words": [
        ("PUT", "contests/c/awards/a", "admin", AWARD),
        ("PATCH", "contests/c/awards/a", "admin", AWARD),
        ("POST", "contests/c/clarifications", "admin", QUESTION),
        ("PUT", "contests/c/clarifications/k", "admin", NOTICE),
        ("POST", "contests/c/commentary", "admin", COMMENT),
        ("POST", "webhooks", "admin", WEBHOOK),
        ("PATCH", "webhooks/1", "admin", {"active": False}),
    ],
}
LONG = '"' + "9" * 1_000_000 + '"'
DEEP = "[" * 100_000 + "]" * 100_000
NUMBERS = ["NaN", "-Infinity", "1e400", "9" * 20, "9" * 4000, "-1", "1.5", "true", '"1"', "null", "[]"]
TEXTS = ['""', r'"\ud800"', r'"x\u0000"', LONG, "1", "true", "[]", "{}", "null"]
YEARS = [f'"{year}-12-31T23:59:59.999Z"' for year in ("0000", "1969", "2999", "9999", "10000")]
ZONES = [f'"2036-01-01T00:00:00{zone}"' for zone in ("+23:59", "+99:99", "-24:00", "")]
TIMES = [*YEARS, *ZONES, '""', "0", "null"]
DURATIONS = ['"9999999:59:59.999"', '"-9999999:00:00"', '"0:00:00.001"', '"10000000:00:00"', '""', "0", "null"]
LISTS = ["[null]", "[[]]", "{}", r'["\ud800"]', "null", LONG]
OBJECTS = ["[]", '""', "null", r'{"\ud800": 1}', '{"' + "x" * 10_000 + '": 1}', DEEP]
WHOLE = ["", "null", "NaN", "1", '""', "[1]", "9" * 5000, DEEP, r'{"\ud800": 1}', r'{"x\u0000": 1}', f'{{"x": {DEEP}}}']
FOR_DATABASES = {r'"x\u0000"', r'"\ud800"', "9" * 20, "9" * 4000, YEARS[2], DURATIONS[0], DURATIONS[1], "null"}
NEVER = {
    int: {"NaN", "-Infinity", "1e400", "1.5", "true", '"1"', "[]"},
    float: {"NaN", "-Infinity", "1e400", "true", '"1"', "[]"},
    str: {'"x\\u0000"', r'"\ud800"', LONG, "0", "1", "true", "[]", "{}", *YEARS[:2], *YEARS[4:], *ZONES[1:]},
    bool: {"1", '"true"', "[]"},
    list: {"[null]", "[[]]", "{}", LONG},
    dict: {*OBJECTS} - {"null"},
    type(None): {"1", "true", LONG},
}
SHOWN = ("", "/state", "/scoreboard", "/event-feed?stream=false")
MORE = ("/teams", "/accounts", "/groups", "/organizations", "/persons", "/awards", "/clarifications", "/commentary")
MORE += (
    "/problems",
    "/submissions",
    "/judgements",
    "/runs",
    "/rejudgings",
    "/access",
    "/scores/history",
    "/package.zip",
)


@pytest.fixture
def odd(api: Api) -> Api:
    """A contest `c` that runs, one in which teams have their `own` time, one that comes `soon`, one that is `over`.

    And one of each thing that can be changed.
    """
    add_problem(api.service)
    add_problem(api.service, slug="spare")
    add_contest(api.service, settings={"choose": True})
    add_contest(api.service, "own", settings={"personal_duration": "1:00:00.000"})
    add_contest(api.service, "over", started=6 * HOUR, freeze=HOUR)
    add_contest(api.service, "soon", started=-HOUR)
    add_submission(api.service, {"02": share(1)})
    with api.service.database.write() as session:
        echo = session.get_one(ProblemRow, "echo")
        echo.settings = {**echo.settings, "reference": {"method": "copy", "seconds": 1, "seed": 1, "memory": 1}}
    for path, body in (
        ("contests/c/groups", GROUP),
        ("contests/c/organizations", ORGANIZATION),
        ("contests/c/persons", PERSON),
        ("teams", TEAM),
        ("accounts", ACCOUNT),
        ("contests/c/clarifications", QUESTION | {"reply_to_id": None}),
        ("contests/c/rejudgings", {"reason": "none"}),
        ("webhooks", {"id": "1", **WEBHOOK}),
    ):
        reply = api.post(path, user="admin", json=body)
        assert reply.status_code == 201, reply.text
    # A webhook that is called has its contest's feed published after each change: more work than all the requests.
    assert api.patch("webhooks/1", user="admin", json={"active": False}).status_code == 200
    return api


@pytest.mark.parametrize("routes", ROUTES.values(), ids=list(ROUTES))
def test_what_is_sent_is_refused_with_a_reason_or_can_be_read_afterwards(
    odd: Api, routes: list[tuple[str, str, str, Any]]
) -> None:
    wrong = []
    for method, path, user, body in routes:
        good = odd.request(method, path, user=user, json=body)
        wrong += [] if good.is_success or good.status_code == 409 else [f"{method} {path}: {good.text}"]
        for text, never in bodies(body, FOR_DATABASES if on_postgresql(odd) else None):
            fault = send(odd, method, path, user, text, never=never)
            wrong += [f"{method} {path} {excerpt(text)}: {fault}"] if fault else []
    every = [f"contests/{contest}{tail}" for contest in ("c", "own", "soon", "over") for tail in (*SHOWN, *MORE)]
    wrong += [f"GET {each}: {code}" for each in every if (code := read(odd, each)) != 200]
    assert not wrong, "\n".join(wrong)


def send(api: Api, method: str, path: str, user: str, text: str, *, never: bool) -> str | None:
    """Send one body, to be refused if it is `never` good, and read what it has changed; returns what is wrong."""
    before = api.service.database.generation
    reply = api.request(method, path, user=user, content=text.encode(), headers=JSON)
    if reply.status_code >= 500 or len(reply.content) > 100_000:
        return f"{reply.status_code} {reply.text[:300]}"
    if reply.status_code >= 400:
        kept = api.service.database.generation != before
        named = reply.json()["code"] == reply.status_code and reply.json()["message"]
        return None if named and not kept else f"kept: {kept}; {reply.text[:300]}"
    if never:
        return f"taken: {reply.text[:300]}"
    made = reply.headers.get("Location", path).removeprefix("/api/")
    tails = SHOWN if made.count("/") == 1 and made.startswith("contests/") else ("",)
    codes = {f"{made}{tail}": read(api, f"{made}{tail}") for tail in tails}
    return next((f"taken, and GET {each} says {code}" for each, code in codes.items() if code >= 500), None)


def read(api: Api, path: str) -> int:
    """What an admin is answered who reads this."""
    return api.get(path, user="admin").status_code


def on_postgresql(api: Api) -> bool:
    """Only some values are tried there: what is refused before anything is kept has been tried on SQLite."""
    return api.service.settings.database.startswith("postgresql")


def bodies(good: Any, among: set[str] | None) -> Iterator[tuple[str, bool]]:
    """Texts that are like this body but for one value, or are no such body at all, and whether that is never good.

    `among` are the only odd values to be tried.
    """
    yield from ((text, True) for text in every(STEP, WHOLE, len(good) % STEP))
    for at, (place, value) in enumerate(places(good)):
        text = json.dumps(place)
        tried = [odd for odd in odd_values(value) if among is None or odd in among]
        for odd in every(STEP, tried, at % min(STEP, len(tried) or 1)):
            yield text.replace(f'"{HERE}"', odd), odd in NEVER[type(value)]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every value within this one: the whole with HERE in its place, and the value itself."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        for place, found in [(HERE, each), *places(each)]:
            copy = value.copy()
            copy[key] = place
            yield copy, found


def odd_values(good: Any) -> list[str]:
    """What might be sent in place of a good value."""
    if isinstance(good, str):
        return TIMES if good.endswith("Z") else DURATIONS if good.count(":") == 2 else TEXTS
    if isinstance(good, bool):
        return ["1", '"true"', "null", "[]"]
    kinds = ((int | float, NUMBERS), (list, LISTS), (dict, OBJECTS))
    return next((values for kind, values in kinds if isinstance(good, kind)), TEXTS)  # type: ignore[arg-type]


def excerpt(text: str) -> str:
    """A body, short enough to be read."""
    return text if len(text) < 300 else f"{text[:150]} ... {text[-100:]}"

"""A course assistant runs a whole contest over HTTP without being the server's admin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.builders.contests import HOUR, PROBLEM, add_problem, pass_time, with_checkers
from tests.builders.judging import judge
from tests.builders.service import Api

CLASS = "name,username,password,team\nAna,ana,{0},Ants\nBea,bea,{0},Bees\n"
SECRET = "correct horse battery"
HALF = timedelta(minutes=30)


def made(reply: httpx.Response) -> Any:
    """The reply of a request that must succeed."""
    assert reply.status_code < 300, (reply.request.url, reply.status_code, reply.text)
    return reply.json() if reply.content else None


def submit(api: Api, username: str, answers: dict[str, bytes]) -> str:
    """Send answers as a team's member."""
    files = [("files", (f"{name}.out", data)) for name, data in answers.items()]
    sent = api.post("contests/algo/submissions", auth=(username, SECRET), data={"problem_id": PROBLEM}, files=files)
    return str(made(sent)["id"])


def test_from_the_first_request_to_the_last_award(api: Api) -> None:
    add_problem(api.service)
    with_checkers(api)
    made(api.put("organisers/staff", user="admin"))
    made(api.put(f"problems/{PROBLEM}/roles/staff", user="admin", json={"role": "judge"}))

    def do(method: str, path: str, **body: Any) -> Any:
        return made(api.request(method, path, user="staff", **body))

    start = (datetime.now(UTC) - HOUR).isoformat(timespec="milliseconds")
    times = {"start_time": start, "duration": "2:00:00", "scoreboard_freeze_duration": "0:30:00"}
    do("POST", "contests", json={"id": "algo", "name": "Algorithms", **times})
    do("POST", "contests/algo/problems", json={"id": PROBLEM})
    table = CLASS.format(SECRET)
    do("POST", "people?contest_id=algo", content=table, headers={"Content-Type": "text/csv"})
    do("PUT", "contests/algo/roles/judge", json={"role": "judge"})
    assert [each["name"] for each in do("GET", "contests/algo/teams")] == ["Ants", "Bees"]

    first = submit(api, "ana", {"02": b"2\n"})
    question = made(api.post("contests/algo/clarifications", auth=("bea", SECRET), json={"text": "May I?"}))
    do(
        "POST",
        "contests/algo/clarifications",
        json={"text": "Yes.", "reply_to_id": question["id"], "to_team_ids": None},
    )
    judge(api.service)
    assert do("GET", f"contests/algo/submissions/{first}/report")["submission_id"] == first
    opened = do("POST", "contests/algo/rejudgings", json={"problem": PROBLEM, "reason": "to be sure"})
    judge(api.service)
    do("POST", f"{opened['href']}/apply", json={})
    do("POST", "contests/algo/pause")
    do("POST", "contests/algo/resume")

    pass_time(api.service, HALF + timedelta(minutes=5), "algo")
    submit(api, "bea", {"02": b"2\n", "03": b"3\n"})
    judge(api.service)
    public, seen = (api.get("contests/algo/scoreboard", user=user).json()["rows"] for user in (None, "staff"))
    assert [row["score"]["score"] for row in public] != [row["score"]["score"] for row in seen], "the board is frozen"

    pass_time(api.service, HOUR, "algo")
    while do("GET", "contests/algo/reveal")["left"]:
        do("POST", "contests/algo/reveal", json={"step": "row"})
    assert api.get("contests/algo/scoreboard").json()["rows"] == do("GET", "contests/algo/scoreboard")["rows"]
    award = {"id": "best-question", "citation": "Best question", "team_ids": [question["from_team_id"]]}
    do("PUT", "contests/algo/awards/best-question", json=award)
    do("PATCH", "contests/algo", json={"finalized": True})
    winner = {each["id"]: each["team_ids"] for each in api.get("contests/algo/awards").json()}
    assert winner["best-question"] == [question["from_team_id"]]
    assert winner["winner"] == [question["from_team_id"]]
    assert api.get("contests/algo/package.zip", user="staff").content[:2] == b"PK"
    log = {each["operation"]: each["role"] for each in do("GET", "contests/algo/audit?limit=100")}
    assert set(log.values()) == {"owner", "staff"}
    assert {"apply_rejudging", "reveal_places", "put_award", "import_people", "put_contest_role"} <= set(log)
    for path in ("accounts", "teams", "audit", "organisers", "webhooks"):
        assert api.get(path, user="staff").status_code == 403, path

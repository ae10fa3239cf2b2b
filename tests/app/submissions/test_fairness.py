"""A team may have only so many submissions that wait for their verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.builders.contests import PROBLEM, add_contest, add_problem
from tests.builders.judging import judge
from tests.builders.service import Api, open_api


def send(api: Api, user: str, **fields: Any) -> Any:
    """Submit one file."""
    form = {"problem_id": PROBLEM, **fields}
    return api.post("contests/c/submissions", user=user, data=form, files={"files": ("02.out", b"7\n")})


def test_a_team_with_many_unjudged_submissions_gets_429_until_one_is_judged(database_url: str, tmp_path: Path) -> None:
    """Other teams, and an admin who acts for the team, are not held back; a refused one stores and counts nothing."""
    with open_api(database_url, tmp_path, most_unjudged=2) as api:
        add_problem(api.service)
        add_contest(api.service)
        codes = [send(api, "team").status_code for _ in range(4)]
        refused = send(api, "team")
        others = [send(api, "other").status_code, send(api, "admin", team_id="team").status_code]
        judge(api.service)
        again = send(api, "team").status_code
        kept = len(api.get("contests/c/submissions", user="admin").json())
    assert codes == [201, 201, 429, 429]
    assert refused.json()["message"] == "your team has 2 submissions that are not judged yet: send the next ones later"
    assert refused.headers["Retry-After"] == "1"
    assert (others, again, kept) == ([201, 201], 201, 5)


def test_what_is_refused_for_another_reason_takes_no_place(database_url: str, tmp_path: Path) -> None:
    """A submission without a problem, and a repeated one, leave the team the room it had."""
    with open_api(database_url, tmp_path, most_unjudged=2) as api:
        add_problem(api.service)
        add_contest(api.service)
        codes = [send(api, "team", problem_id="none").status_code for _ in range(3)]
        key = {"Idempotency-Key": "once"}
        form = {"data": {"problem_id": PROBLEM}, "files": {"files": ("02.out", b"7\n")}, "headers": key}
        codes += [api.post("contests/c/submissions", user="team", **form).status_code for _ in range(3)]
        codes.append(send(api, "team").status_code)
    assert codes == [404] * 3 + [201] * 4

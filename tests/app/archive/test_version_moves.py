"""A contest that stays with an earlier version of a problem: on another server, in another database, in a freeze."""

from __future__ import annotations

from pathlib import Path

from app.archive.queries.database_copy import copy_rows
from app.core.db.database import Database
from tests.app.archive.test_contest_moves import another_server, exported
from tests.app.archive.test_contest_packages import bring_in, play
from tests.app.authoring.test_versions import PLACE, RIGHT, numbers, pin, put
from tests.app.judging.test_rejudgings import do, everything
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, with_checkers
from tests.builders.judging import judge
from tests.builders.packages import JURADO
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.builders.zips import unzipped

RELATIVE = {"jurado.yaml": JURADO.replace("kind: absolute", "kind: relative")}


def test_a_pin_goes_along_to_another_server_with_clocks_finals_and_choices(quick_api: Api, tmp_path: Path) -> None:
    """The problem is changed behind the contest's back; what comes in is what the contest was judged with."""
    here = with_checkers(quick_api)
    with another_server(tmp_path) as there:
        play(there)
        assert put(there, "secret/a/04", b"4\n", "?contests=keep").status_code == 201
        assert numbers(there) == {2: [], 1: ["c"]}
        package = exported(there)
        rows = there.get("contests/c/scoreboard?cases=true", user="judge").json()["rows"]
    made = bring_in(here, package, "?replace=true")
    assert made.status_code == 201, made.text
    imported = made.json()["imported"]
    assert [(each["id"], each["how"], each["test_cases"]) for each in imported["problems"]] == [("echo", "new", 3)]
    judge(here.service)
    assert here.get("contests/c/scoreboard?cases=true", user="judge").json()["rows"] == rows
    inner = [unzipped(each)["problems/echo/echo.zip"] for each in (package, exported(here))]
    assert inner[0] == inner[1]
    assert put(here, "secret/a/04", b"4\n", "?contests=keep").status_code == 201
    again = bring_in(here, package, "?replace=true&id=again").json()["imported"]
    assert [(each["id"], each["how"]) for each in again["problems"]] == [("echo", "equal")]
    assert numbers(here) == {2: [], 1: ["again", "c"]}


def test_a_pin_moves_with_the_database_and_can_be_moved_there(
    quick_api: Api, tmp_path: Path, postgresql_url: str
) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    add_submission(quick_api.service, {"02": share(1), "03": share(1)}, files=RIGHT, judgement_type="AC")
    here = with_checkers(quick_api)
    assert put(here, "secret/04", b"4\n", "?contests=keep").status_code == 201
    seen, versions = everything(here), here.get(PLACE, user="judge").json()
    target = Database(postgresql_url)
    copy_rows(here.service.database, target)
    target.close()
    with open_api(postgresql_url, here.service.settings.home, again=True) as there:
        assert everything(with_checkers(there)) == seen
        assert there.get(PLACE, user="judge").json() == versions
        moved = pin(there, None, 202)
        judge(there.service)
        do(there, "apply", moved)
        assert numbers(there) == {2: [], 1: []}
        do(there, "undo", moved)
        assert everything(there) == seen


def test_a_pin_that_moves_in_a_freeze_tells_nothing_of_hidden_answers_and_is_undone_to_the_byte(
    quick_api: Api,
) -> None:
    """Relative points: the other team's answers came after the freeze, and stay hidden whatever is judged again."""
    api = with_checkers(quick_api)
    add_problem(api.service, RELATIVE)
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, settings={"virtual": True})
    add_submission(api.service, {"02": share(1), "03": share(1)}, files=RIGHT, judgement_type="AC", minute=5)
    add_submission(api.service, {"02": share(1)}, team="other", files={"02": b"2\n"}, minute=200)
    assert put(api, "secret/04", b"4\n", "?contests=keep").status_code == 201
    before = everything(api)
    moved = pin(api, None, 202)
    judge(api.service)
    assert everything(api) == before
    do(api, "apply", moved)
    rows = {
        user: api.get("contests/c/scoreboard", user=user).json()["rows"] for user in ("judge", "team", "other", None)
    }
    shown = {user: {row["team_id"]: row["score"]["score"] for row in of}["other"] for user, of in rows.items()}
    assert shown["judge"] > 0
    assert shown["team"] == shown[None] == 0
    do(api, "undo", moved)
    assert everything(api) == before

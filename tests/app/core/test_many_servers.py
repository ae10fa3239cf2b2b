"""Several servers on one database show the same, whichever of them has written it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from app import main
from app.accounts.service.grants import GUESSES_FREE
from app.accounts.service.registration import keep_an_admin
from app.archive.queries import scrub
from app.archive.queries.scrub import Scrub
from app.contests import queries as contests_queries
from app.contests.queries import choose
from app.core.db import by_id
from app.core.db.by_id import Kind
from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.db.migrate import schema_of, schemas, upgrade
from app.core.files.open_files import LocalFiles
from app.core.settings import Settings
from app.games.service import ending
from app.submissions.queries.submissions import Accepted, LimitReached, NewAnswer, NewSubmission, accept
from app.submissions.queries.usage import Allowance
from app.tables import AccountRow, ContestRow, GameRow, GroupRow, TeamRow
from tests.app.archive.test_contest_packages import bring_in
from tests.builders.clocks import wall_clock
from tests.builders.contests import HOUR, add_contest, add_problem, with_checkers
from tests.builders.games import add_games, document, limit, move, start
from tests.builders.grading import NOW
from tests.builders.judging import judge
from tests.builders.service import PASSWORD, Api
from tests.builders.streams import fold, open_stream, read_feed, shown
from tests.builders.two import BROKER, two_apis, waits_for_a_lock
from tests.builders.waiting import until


@pytest.fixture
def two(postgresql_url: str, tmp_path: Path) -> Iterator[tuple[Api, Api]]:
    """Two servers with a contest `c` that is running."""
    with open_two(postgresql_url, tmp_path) as both:
        yield both


@contextmanager
def open_two(postgresql_url: str, home: Path, **settings: Any) -> Iterator[tuple[Api, Api]]:
    with two_apis(postgresql_url, home, feed_coalesce_seconds=0, **settings) as (one, other):
        add_problem(one.service)
        add_contest(one.service, started=HOUR)
        until(lambda: other.get("contests/c").status_code == 200)
        yield one, other


def send(api: Api, user: str = "team", data: bytes = b"2\n", **headers: str) -> httpx.Response:
    """Submit an answer to case 02."""
    files = {"files": ("02.out", data)}
    body = {"problem_id": "echo"}
    return api.post("contests/c/submissions", user=user, data=body, files=files, headers=headers)


def submit(api: Api, user: str = "team", data: bytes = b"2\n", **headers: str) -> str:
    """Submit an answer to case 02; returns the submission's id."""
    reply = send(api, user, data, **headers)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


def board(api: Api) -> list[tuple[int, str, float]]:
    rows = api.get("contests/c/scoreboard").json()["rows"]
    return [(row["rank"], row["team_id"], row["score"]["score"]) for row in rows]


def test_a_verdict_is_on_the_boards_of_both_wherever_it_was_submitted_and_judged(two: tuple[Api, Api]) -> None:
    one, other = two
    before = board(other)
    submit(one)
    until(lambda: len(other.get("contests/c/submissions").json()) == 1)
    judge(one.service)
    until(lambda: board(other) != before)
    assert board(other) == board(one)
    generations = [api.service.database.generation for api in two]
    submit(other, "other")
    judge(other.service)
    until(lambda: board(one) == board(other) and board(one)[0][2] == board(one)[1][2])
    assert [api.service.database.generation for api in two] == generations, "only what changed is read again"


def test_what_an_admin_writes_on_one_holds_on_the_other(two: tuple[Api, Api]) -> None:
    one, other = two
    submit(other)
    start_time = (other.get("contests/c").json()["start_time"],)
    assert one.patch("contests/c", user="admin", json={"name": "Renamed"}).status_code == 200
    until(lambda: other.get("contests/c").json()["name"] == "Renamed")
    assert (other.get("contests/c").json()["start_time"],) == start_time


def test_a_token_taken_back_and_a_password_changed_on_one_are_refused_by_the_other(two: tuple[Api, Api]) -> None:
    one, other = two
    made = one.post("account/tokens", user="team", json={}).json()
    header = {"Authorization": f"Bearer {made['token']}"}
    assert other.get("account", headers=header).status_code == 200
    assert one.delete(f"account/tokens/{made['id']}", user="team").status_code == 204
    until(lambda: other.get("account", headers=header).status_code == 401)
    assert other.get("account", user="other").status_code == 200
    body = {"password": "another long enough one", "old_password": PASSWORD}
    assert one.patch("account", user="other", json=body).status_code == 200, one.patch("account", json=body).text
    until(lambda: other.get("account", user="other").status_code == 401)


def test_both_send_the_same_feed_whichever_publishes(two: tuple[Api, Api]) -> None:
    one, other = two
    with (
        open_stream(one, "contests/c/event-feed", user="judge") as first,
        open_stream(other, "contests/c/event-feed", user="judge") as second,
    ):
        for at in range(6):
            submit(two[at % 2], ("team", "other")[at % 2], str(at).encode())
            judge(two[(at // 2) % 2].service)
        first.wait(lambda: fold(first.events()) == shown(one, "c", "judge"))  # which hears of the others' verdicts soon
        expected = shown(one, "c", "judge")
        second.wait(lambda: fold(second.events()) == expected)
        assert "runs" in expected
    tokens = [event["token"] for event in first.events() if "token" in event]
    whole = [read_feed(api, user="judge") for api in two]
    assert whole[0] == whole[1]
    for at, api in enumerate((other, one)):
        token = tokens[len(tokens) // 2]
        rest = read_feed(api, user="judge", token=token)
        assert rest == read_feed(two[at], user="judge", token=token), "a token is good on both servers"


def test_the_whole_feed_is_read_where_nobody_follows_while_another_server_publishes(two: tuple[Api, Api]) -> None:
    one, other = two
    with open_stream(one, "contests/c/event-feed", user="judge") as stream:
        stream.wait_for(5)
        submit(other)
        judge(other.service)
        assert fold(read_feed(other, user="judge")) == shown(other, "c", "judge")
    assert read_feed(other, user="judge") == read_feed(one, user="judge")


def test_a_server_that_has_not_heard_of_a_change_publishes_nothing_older(postgresql_url: str, tmp_path: Path) -> None:
    """A team is hidden on one server. The other one compares only once it has heard of that."""
    heard = threading.Event()
    with open_two(postgresql_url, tmp_path, notice_seconds=60.0) as (one, other):
        assert other.service.listener is not None
        with open_stream(one, "contests/c/event-feed") as first, open_stream(other, "contests/c/event-feed") as second:
            first.wait(lambda: "other" in fold(first.events()).get("teams", {}))
            second.wait(lambda: "other" in fold(second.events()).get("teams", {}))
            other.service.listener.hear(Kind.ACCOUNT, lambda _game_id: heard.wait(60))
            one.service.writer.submit(by_id.send, (Kind.ACCOUNT.value, "x")).result()
            hidden = {"id": "other", "name": "Other", "hidden": True}
            assert one.put("teams/other", user="admin", json=hidden).is_success
            first.wait(lambda: "other" not in fold(first.events())["teams"])
            looks = other.app.state.hub.publisher.looks
            submit(other)
            until(lambda: other.app.state.hub.publisher.looks > looks)
            assert "submissions" not in fold(second.events())
            heard.set()
            second.wait(lambda: fold(second.events()) == shown(one, "c", None))
        of_team = [
            event["data"] is None for event in second.events() if (event["type"], event["id"]) == ("teams", "other")
        ]
        assert of_team == [False, True]


def test_a_server_publishes_when_another_one_is_gone(two: tuple[Api, Api]) -> None:
    one, other = two
    with open_stream(other, "contests/c/event-feed", user="judge") as stream:
        with open_stream(one, "contests/c/event-feed", user="judge") as first:
            first.wait_for(5)
            stream.wait_for(5)
            submit(one)
            stream.wait(lambda: "submissions" in fold(stream.events()))
        one.service.locks.close()  # as its end does
        submit(other, "other")
        judge(other.service)
        expected = shown(other, "c", "judge")
        stream.wait(lambda: fold(stream.events()) == expected)
        tokens = [event["token"] for event in stream.events() if "token" in event]
        assert len(tokens) == len(set(tokens))


def test_a_submission_that_is_seen_after_a_later_one_is_told_nevertheless(two: tuple[Api, Api]) -> None:
    """The ids of two servers are given before their commits, and may be seen in another order."""
    one, other = two
    with open_stream(one, "contests/c/event-feed", user="judge") as stream:
        stream.wait_for(5)
        with other.service.database.transaction() as slow:
            new = NewSubmission("c", "echo", "other", "other", NOW, 1000, [])
            (late,) = accept(slow, [new])
            early = submit(one)
            stream.wait(lambda: early in fold(stream.events()).get("submissions", {}))
        stream.wait(lambda: str(late.submission_id) in fold(stream.events())["submissions"])
        assert late.submission_id < int(early)


def test_a_game_goes_on_on_either_server(postgresql_url: str, tmp_path: Path) -> None:
    with two_apis(postgresql_url, tmp_path) as (one, other):
        add_games(one.service)
        until(lambda: other.get("contests/c").status_code == 200)
        game = document(start(one, testcase="03"))
        first = document(move(one, game["id"], 1))
        assert first["next_move"] == 3
        second = document(move(other, game["id"], 3))
        assert second["next_move"] == 5
        assert document(move(one, game["id"], 5))["over"]
        until(lambda: document(other.get(f"games/{game['id']}", user="team"))["over"])


def test_the_next_server_ends_games_on_time_when_the_one_that_looked_at_clocks_has_died(
    postgresql_url: str, tmp_path: Path
) -> None:
    with wall_clock() as wall, two_apis(postgresql_url, tmp_path) as (one, other):
        add_games(one.service)
        limit(one.service, move_seconds=60)
        until(lambda: other.get("contests/c").status_code == 200)
        game = document(start(one, testcase="03"))
        assert one.service.locks.take(ending.LOCK)
        wall.step(timedelta(minutes=2))
        other.app.state.keeper.start()
        try:
            assert not other.service.locks.take(ending.LOCK)
            one.service.locks.close()  # as a kill does
            until(lambda: not in_play(other, game["id"]))
        finally:
            other.app.state.keeper.close()
        ended = document(other.get(f"games/{game['id']}", user="team"))
        assert (ended["winner"], ended["ending"]) == ("opponent", "clock")
        assert not one.service.locks.take(ending.LOCK)


def in_play(api: Api, game_id: str) -> bool:
    """Whether the row of a game says so; a request for it would end it itself."""
    with api.service.database.read() as session:
        return session.get_one(GameRow, game_id).ended is None


def test_one_server_reads_all_files_and_the_next_one_does_when_it_has_died(postgresql_url: str, tmp_path: Path) -> None:
    database, files = Database(postgresql_url), LocalFiles(tmp_path)
    locks = [Locks(postgresql_url), Locks(postgresql_url)]
    first, second = (Scrub(database, files, 0.01 / 3600, locks=each) for each in locks)
    first.start()
    until(lambda: first.last.ended is not None)
    second.start()
    until(lambda: not locks[1].take(scrub.LOCK))
    ended = first.last.ended
    until(lambda: first.last.ended != ended)
    assert second.last.ended is None
    first.close()
    locks[0].close()
    until(lambda: second.last.ended is not None)
    second.close()
    locks[1].close()
    database.close()


def test_of_servers_that_start_at_once_one_migrates_and_the_other_waits(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(postgresql_url)
    with database.engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    taken: list[Locks] = []
    inside, together = 0, 0

    class Kept(Locks):
        def __init__(self, url: str | None = None) -> None:
            super().__init__(url)
            taken.append(self)

    def initialise(settings: Settings) -> None:
        """Migrate, and die: its lock is free then."""
        nonlocal inside, together
        inside += 1
        together = max(together, inside)
        mine = next(each for each in taken if each.take(main.START))
        upgrade(settings.database, settings.timeouts)
        inside -= 1
        mine.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "Locks", Kept)
    monkeypatch.setattr(main, "initialise", initialise)

    def serve(home: str) -> None:
        settings = Settings(home=tmp_path / home, database_url=postgresql_url, broker_url=BROKER)
        with pytest.raises(KeyboardInterrupt):
            main.open_service(settings)

    with ThreadPoolExecutor(2) as pool:
        for each in [pool.submit(serve, home) for home in ("one", "two")]:
            each.result(120)
    assert (together, inside) == (1, 0)
    assert schema_of(database.engine) == schemas()[0]
    database.close()


def test_a_server_that_does_not_hear_the_others_is_not_ready(two: tuple[Api, Api]) -> None:
    one, other = two
    until(lambda: [api.get("/health/ready").status_code for api in two] == [200, 200])
    assert one.service.listener is not None
    one.service.listener.close()  # as while its network is cut
    one.service.listener._proven -= 60
    assert one.get("/health/ready").status_code == 503
    until(lambda: other.get("/health/ready").status_code == 200)


def test_a_team_may_have_as_many_unjudged_submissions_as_one_server_allows(postgresql_url: str, tmp_path: Path) -> None:
    with two_apis(postgresql_url, tmp_path, most_unjudged=2) as (one, other):
        add_problem(one.service)
        add_contest(one.service, settings={"team_bytes": 3})
        for api in (one, other):
            submit(api, data=b"2")
        for api in (one, other):
            reply = send(api, data=b"2")
            assert (reply.status_code, reply.headers["retry-after"]) == (429, "1"), reply.text
        judge(one.service)
        assert send(one, data=b"22").status_code == 413, "both servers' bytes count"
        assert send(other, data=b"2").status_code == 201


def test_two_servers_that_take_the_last_bytes_of_a_team_at_once_take_one(two: tuple[Api, Api]) -> None:
    one, other = two
    allowance = Allowance(unjudged=100, team_bytes=3)
    new = NewSubmission("c", "echo", "team", "team", NOW, 1000, [NewAnswer(1, "01.out", 2, data=b"1\n")])
    with one.service.database.transaction() as first:
        (stored,) = accept(first, [replace(new, allowance=allowance)])
        writing = other.service.writer.submit(accept, replace(new, allowance=allowance))
    assert isinstance(stored, Accepted)
    refused = writing.result(30)
    assert isinstance(refused, LimitReached)
    assert (refused.too_large, "found 2 already and 2" in str(refused.message)) == (True, True)


def test_a_team_that_another_server_has_locked_keeps_no_other_team_waiting(two: tuple[Api, Api]) -> None:
    one, other = two
    allowance = Allowance(unjudged=100, team_bytes=3)
    new = NewSubmission("c", "echo", "team", "team", NOW, 1000, [NewAnswer(1, "01.out", 1, data=b"1")])
    with one.service.database.transaction() as frozen:
        accept(frozen, [replace(new, allowance=allowance)])
        waiting = other.service.writer.submit(accept, replace(new, allowance=allowance))
        assert send(other, "other").status_code == 201
        assert "lock timeout" in str(waiting.exception(30))
    again = other.service.writer.submit(accept, replace(new, allowance=allowance))
    assert isinstance(again.result(30), Accepted)


def test_bytes_of_all_teams_count_wherever_they_were_sent(postgresql_url: str, tmp_path: Path) -> None:
    with two_apis(postgresql_url, tmp_path) as (one, other):
        add_problem(one.service)
        add_contest(one.service, settings={"contest_bytes": 4})
        submit(other, data=b"1")
        submit(one, data=b"22")
        assert send(other, "other", b"22").status_code == 413
        assert send(other, "other", b"2").status_code == 201


def test_bytes_that_come_with_an_import_count_where_another_contest_had_its_id(
    postgresql_url: str, tmp_path: Path
) -> None:
    with two_apis(postgresql_url, tmp_path) as (one, other):
        add_problem(one.service)
        add_contest(one.service, settings={"contest_bytes": 4})
        submit(one, data=b"22")
        judge(one.service)
        package = one.get("contests/c/package.zip", user="admin").content
        add_contest(one.service, "d", settings={"contest_bytes": 0})

        def sent(data: bytes) -> int:
            files = {"files": ("02.out", data)}
            reply = other.post("contests/d/submissions", user="team", data={"problem_id": "echo"}, files=files)
            return reply.status_code

        until(lambda: sent(b"2") == 413)
        assert one.delete("contests/d", user="admin").status_code == 204
        made = bring_in(with_checkers(one), package, "?id=d&replace=true")
        assert made.status_code == 201, made.text
        until(lambda: other.get("contests/d/limits", user="judge").json()["bytes_used"] == 2)
        assert (sent(b"222"), sent(b"22")) == (413, 201)


def test_the_zip_of_all_inputs_has_one_etag_on_both_so_that_a_download_goes_on_at_the_other(
    two: tuple[Api, Api],
) -> None:
    one, other = two
    path = "contests/c/problems/echo/inputs.zip"
    whole = one.get(path)
    headers = {"Range": "bytes=10-", "If-Range": whole.headers["etag"]}
    rest = other.get(path, headers=headers)
    assert (rest.status_code, rest.headers["etag"]) == (206, whole.headers["etag"])
    assert rest.content == whole.content[10:]


def test_the_board_of_a_contest_that_has_not_begun_has_one_version_on_both(two: tuple[Api, Api]) -> None:
    one, other = two
    add_contest(one.service, "later", started=-HOUR)
    until(lambda: other.get("contests/later").status_code == 200)
    etags = [one.get("contests/later/scoreboard").headers["etag"]]
    for api in (other, one):
        api.service.database.changed()  # all is read again
        reply = api.get("contests/later/scoreboard", headers={"If-None-Match": etags[0]})
        assert reply.status_code == 304, (reply.headers["etag"], etags)


def test_an_idempotency_key_gives_the_first_submission_on_both(two: tuple[Api, Api]) -> None:
    one, other = two
    first = submit(one, **{"Idempotency-Key": "once"})
    assert submit(other, **{"Idempotency-Key": "once"}) == first


def test_two_servers_that_insert_one_key_at_once_keep_one(two: tuple[Api, Api]) -> None:
    """Each looks before the other has committed: the second waits for the first, and finds its key taken."""
    one, other = two
    new = NewSubmission("c", "echo", "team", "team", NOW, 1000, [], idempotency_key="k")
    with one.service.database.transaction() as first:
        (stored,) = accept(first, [new])
        writing = other.service.writer.submit(accept, new)
    assert isinstance(stored, Accepted)
    outcome = writing.result(30)
    assert isinstance(outcome, Accepted)
    assert (outcome.submission_id, outcome.repeated) == (stored.submission_id, True)


def test_games_open_at_once_count_on_both(postgresql_url: str, tmp_path: Path) -> None:
    with two_apis(postgresql_url, tmp_path, most_games_of_one=2) as (one, other):
        add_games(one.service)
        until(lambda: other.get("contests/c").status_code == 200)
        parameters = {"a": 3, "b": 0, "k": 1}
        codes = [start(api, parameters=parameters).status_code for api in (one, other, one, other)]
        assert codes == [201, 201, 429, 429]


def test_wrong_passwords_make_guessing_dear_on_both(two: tuple[Api, Api]) -> None:
    one, other = two
    guesses = other.app.state.authenticator.guesses

    def guess() -> bool:
        assert one.get("account", auth=("judge", "a wrong one")).status_code in {401, 429}
        return bool(guesses.failures.reach(("account", "judge"), GUESSES_FREE))

    until(guess)  # what was guessed before the other server listened is not counted there
    until(lambda: guesses.servers() == 2)


def test_registrations_of_an_address_count_on_both(two: tuple[Api, Api]) -> None:
    one, other = two
    one.app.state.registration_pace.asked.add(("registration", "10.0.0.1"), 1)
    until(lambda: other.app.state.registration_pace.asked.reach(("registration", "10.0.0.1"), 1))


def test_one_server_at_a_time_has_a_lock_and_the_next_gets_it(two: tuple[Api, Api]) -> None:
    one, other = two
    assert one.service.locks.take("a")
    assert one.service.locks.take("a")
    assert not other.service.locks.take("a")
    one.service.locks.give_back("a")
    assert other.service.locks.take("a")
    with one.service.database.transaction() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'jurado locks' AND datname = current_database()"
        )
    until(lambda: one.service.locks.take("a"))


def test_everything_counts_as_changed_once_notices_may_be_lost(two: tuple[Api, Api]) -> None:
    one, other = two
    generation = other.service.database.generation
    with one.service.database.transaction() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'jurado notices' AND datname = current_database()"
        )
    until(lambda: other.service.database.generation > generation)
    submit(one)
    until(lambda: len(other.get("contests/c/submissions").json()) == 1)


FORGED = (
    "garbage",
    "",
    "7",
    "[]",
    "{}",
    '["x", 7, null, [], {}, [["board"]], ["board"], ["board", [], {}], ["nothing", 1]]',
    '["x", ["board", "c", "one"], ["closed", 1, 2], ["events", {}], ["account", ["a"]]]',
    "[" * 3000,
)


def test_notices_that_no_process_sends_are_passed_over(two: tuple[Api, Api]) -> None:
    one, other = two
    with one.service.database.transaction() as connection:
        for payload in FORGED:
            connection.execute(text("SELECT pg_notify('jurado', :payload)"), {"payload": payload})
    submit(one)
    until(lambda: len(other.get("contests/c/submissions").json()) == 1)
    assert other.service.listener is not None
    until(lambda: other.service.listener.behind < 10)


def test_of_two_choices_at_once_the_later_one_holds(two: tuple[Api, Api]) -> None:
    one, other = two
    numbers = [int(submit(one)) for _ in range(2)]
    place = ("c", "team", "echo")

    def choose_later() -> None:
        with other.service.database.write() as session:
            choose(session, place, numbers[1], NOW)

    with ThreadPoolExecutor(1) as pool:
        with one.service.database.write() as first:
            choose(first, place, numbers[0], NOW)
            writing = pool.submit(choose_later)
            until(lambda: waits_for_a_lock(one.service.database))
        writing.result(30)
    with one.service.database.read() as session:
        assert contests_queries.choices(session, "c") == {("team", "echo"): numbers[1]}


def test_of_two_admins_who_give_up_their_rights_at_once_one_is_refused(two: tuple[Api, Api]) -> None:
    one, other = two
    boss = {"id": "boss", "username": "boss", "password": "a long enough one", "type": "admin"}
    assert one.post("accounts", user="admin", json=boss).status_code == 201
    with ThreadPoolExecutor(1) as pool:
        with one.service.database.write() as session:
            session.get_one(AccountRow, "boss").type = "judge"
            keep_an_admin(session)
            giving_up = pool.submit(other.patch, "accounts/admin", user="admin", json={"type": "judge"})
            until(lambda: giving_up.done() or waits_for_a_lock(one.service.database))
        reply = giving_up.result()
    assert reply.status_code == 409, reply.text
    assert "the last admin" in reply.json()["message"]


def test_roles_end_on_both_with_the_contest_or_the_problem_that_they_were_of(two: tuple[Api, Api]) -> None:
    one, other = two
    contest = {"id": "made", "name": "Made", "start_time": None, "duration": "5:00:00"}

    def make() -> None:
        assert one.post("contests", user="admin", json=contest).is_success
        add_problem(one.service, slug="made")

    make()
    assert one.put("contests/made/roles/staff", user="admin", json={"role": "owner"}).status_code == 200
    assert one.put("problems/made/roles/staff", user="admin", json={"role": "owner"}).status_code == 200
    until(lambda: other.patch("contests/made", user="staff", json={"name": "Mine"}).status_code == 200)
    assert other.get("problems/made/roles", user="staff").status_code == 200
    for path in ("contests/made", "problems/made"):
        assert one.delete(path, user="admin").status_code == 204
    until(lambda: other.get("contests/made").status_code == 404)
    make()
    until(lambda: other.get("contests/made", user="admin").status_code == 200)
    for api in two:
        assert api.patch("contests/made", user="staff", json={"name": "Mine"}).status_code == 403
        assert api.get("problems/made/roles", user="staff").status_code == 403


ICPC_ID = {"icpc_id": "7"}
LOCATION = {"location": {"latitude": 1.0, "longitude": 2.0}}


def changed(stored: Any, change: dict[str, Any]) -> Any:
    """The stored settings or details with some of them changed."""
    return {**stored, **change} if isinstance(stored, dict) else stored.model_copy(update=change)


@pytest.mark.parametrize(
    ("row", "column", "first", "path", "second"),
    [
        ((TeamRow, "team"), "details", ICPC_ID, "teams/team", {"location": {"x": 1, "y": 2, "rotation": 3}}),
        ((GroupRow, "g"), "details", ICPC_ID, "contests/c/groups/g", LOCATION),
        ((ContestRow, "c"), "settings", {"virtual": True}, "contests/c", {"settings": {"show_best": False}}),
    ],
    ids=["team", "group", "contest"],
)
def test_of_two_changes_of_one_thing_at_once_both_hold(
    two: tuple[Api, Api], row: tuple[Any, str], column: str, first: Any, path: str, second: Any
) -> None:
    one, other = two
    assert one.post("contests/c/groups", user="admin", json=[{"id": "g", "name": "G"}]).is_success
    with ThreadPoolExecutor(1) as pool:
        with one.service.database.write() as session:
            known = session.get_one(*row)
            setattr(known, column, changed(getattr(known, column), first))
            session.flush()
            changing = pool.submit(other.patch, path, user="admin", json=second)
            until(lambda: changing.done() or waits_for_a_lock(one.service.database))
        assert changing.result().status_code == 200, changing.result().text
    with one.service.database.read() as session:
        stored = getattr(session.get_one(*row), column)
        changes = {**first, **second.get("settings", second)}
        assert changed(stored, changes) == stored

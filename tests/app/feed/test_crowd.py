"""How many streams may be open at once, of one account or address and of the process, and that places become free."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api, open_api
from tests.builders.streams import open_stream

FEED, BOARD, OWN = "contests/c/event-feed", "contests/c/scoreboard/stream", "contests/c/submissions/stream"


@pytest.fixture
def small(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A service with a contest `c` that keeps four streams open, two of them of one account or address."""
    with open_api(sqlite_url, tmp_path / "home", most_streams=4, most_streams_of_one=2) as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


def status(api: Api, path: str, user: str | None = None) -> int:
    """What someone gets who opens one stream more, and closes it if that was granted."""
    with open_stream(api, path, user=user) as stream:
        return stream.status


@pytest.mark.parametrize("paths", [(FEED, FEED), (BOARD, BOARD), (OWN, OWN), (FEED, BOARD)])
def test_who_closes_a_stream_may_open_another(small: Api, paths: tuple[str, str]) -> None:
    user = None if OWN not in paths else "team"
    with open_stream(small, paths[0], user=user), ExitStack() as second:
        second.enter_context(open_stream(small, paths[1], user=user))
        refused = small.get(paths[0], user=user)
        assert (refused.status_code, refused.json()["code"]) == (429, 429)
        assert "2 streams open" in refused.json()["message"]
        assert int(refused.headers["Retry-After"]) > 0
        second.close()
        assert status(small, paths[1], user) == 200
        assert status(small, paths[0], user) == 200


def test_accounts_are_counted_by_themselves_and_take_nothing_from_their_address(small: Api) -> None:
    with open_stream(small, FEED), open_stream(small, BOARD):
        assert status(small, FEED) == 429
        assert status(small, FEED, "team") == 200
        with open_stream(small, FEED, user="team"), open_stream(small, OWN, user="team"):
            assert status(small, BOARD, "team") == 429


def test_a_full_server_says_so_to_everybody(small: Api) -> None:
    users = ("team", "other", "team", "other")
    with ExitStack() as all_four:
        for user in users:
            all_four.enter_context(open_stream(small, FEED, user=user))
        refused = small.get(BOARD, user="judge")
        assert (refused.status_code, refused.json()["code"]) == (503, 503)
        assert int(refused.headers["Retry-After"]) > 0
    assert status(small, BOARD, "judge") == 200


def test_a_place_is_free_again_however_a_stream_ends(small: Api) -> None:
    for _ in range(3):
        assert small.get(f"{FEED}?stream=false").status_code == 200
        assert small.get(f"{FEED}?since_token=x").status_code == 400
        assert small.get("contests/none/event-feed").status_code == 404
    small.post("accounts", user="admin", json={"username": "gone", "password": "open sesame", "type": "judge"})
    with open_stream(small, FEED, user="gone") as first, open_stream(small, OWN, user="gone") as second:
        assert small.delete("accounts/gone", user="admin").status_code == 204
        first.wait(lambda: first.ended and second.ended)
    with open_stream(small, FEED) as first, open_stream(small, BOARD) as second:
        assert small.delete("contests/c", user="admin").status_code == 204
        first.wait(lambda: first.ended)
        second.wait(lambda: second.ended)
    assert not small.app.state.hub.clients


def test_a_share_of_the_streams_is_for_accounts(sqlite_url: str, tmp_path: Path) -> None:
    """However many addresses ask, those who are not logged in get three of four."""
    with open_api(sqlite_url, tmp_path / "home", most_streams=4) as api, ExitStack() as strangers:
        add_problem(api.service)
        add_contest(api.service)
        for _ in range(3):
            strangers.enter_context(open_stream(api, FEED))
        assert api.get(FEED).status_code == 503
        assert status(api, FEED, "team") == 200
        strangers.close()
        assert status(api, FEED) == 200
    assert not api.app.state.hub.clients

"""What someone tries who wants to know more than they may, or to keep the service from the others."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import groupby

from app.core.commands.output import harmless, plain
from app.tables import TeamRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.scoring import raw, share
from tests.builders.service import Api


def test_a_hidden_team_leaves_no_trace_on_the_board_that_everybody_sees(quick_api: Api) -> None:
    api = quick_api
    add_problem(api.service)
    add_contest(api.service, rule={"kind": "relative"})
    with api.service.database.write() as session:
        session.get_one(TeamRow, "other").hidden = True
    add_submission(api.service, {"02": raw(2)}, minute=1)
    before = api.get("contests/c/scoreboard")
    add_submission(api.service, {"02": raw(9)}, minute=5, team="other")
    assert api.get("contests/c/scoreboard").content == before.content


def test_tokens_of_a_feed_do_not_tell_how_many_events_others_get(quick_api: Api) -> None:
    api = quick_api
    add_problem(api.service)
    add_contest(api.service, started=HOUR * 4.5, freeze=HOUR, rule={"kind": "relative"})
    add_submission(api.service, {"02": raw(2)}, minute=1)
    lines = api.get("contests/c/event-feed?stream=false").text.splitlines()
    tokens = [str(json.loads(line)["token"]) for line in lines]
    assert len(set(tokens)) == len(tokens)
    assert {len(token) for token in tokens} == {67}
    again = api.get("contests/c/event-feed?stream=false").text.splitlines()
    assert again == lines  # the same place, the same token
    forged = tokens[-1][:-1] + ("0" if tokens[-1][-1] != "0" else "1")
    assert api.get(f"contests/c/event-feed?stream=false&since_token={forged}").status_code == 400
    assert api.get(f"contests/c/event-feed?stream=false&since_token={tokens[-1]}", user="judge").status_code == 400


def test_nothing_is_kept_of_contests_that_are_not_there(quick_api: Api) -> None:
    for at in range(5):
        assert quick_api.get(f"contests/none{at}/event-feed?stream=false").status_code == 404
    assert not quick_api.app.state.hub.publisher._contests


def test_a_team_may_ask_only_so_often_a_minute(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    sent = [quick_api.post("contests/c/clarifications", user="team", json={"text": "why?"}) for _ in range(11)]
    assert [reply.status_code for reply in sent] == [201] * 10 + [429]
    assert 1 <= int(sent[-1].headers["Retry-After"]) <= 60
    assert quick_api.post("contests/c/clarifications", user="other", json={"text": "why?"}).status_code == 201


def test_tokens_of_one_account_cost_the_others_nothing(quick_api: Api) -> None:
    quick_api.get("account", user="team")
    quick_api.get("account", user="other")
    authenticator = quick_api.app.state.authenticator
    generation = quick_api.service.database.generation
    assert quick_api.delete("account/tokens", user="team").status_code == 204
    holding = filter(authenticator._holds, authenticator._known.values())
    assert {each.viewer.account_id for each in holding} == {"other"}
    assert quick_api.service.database.generation == generation


def test_few_different_histories_are_computed_however_many_are_asked_for(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    for at in range(1, 12):
        add_submission(quick_api.service, {"02": share(Fraction(at, 12))}, minute=at)
    replies = [quick_api.get(f"contests/c/scores/history?steps={steps}") for steps in range(1, 60)]
    assert {reply.status_code for reply in replies} == {200}
    assert [len(list(group)) for _, group in groupby(reply.text for reply in replies)] == [9, 40, 10]


def test_what_others_write_does_not_steer_a_terminal() -> None:
    assert harmless("a\x1b[2J\x9b1mb\u202e\n") == "a\u241b[2J\ufffd1mb\ufffd\n"
    assert "\x1b" not in plain("\x1b]0;title\x07")

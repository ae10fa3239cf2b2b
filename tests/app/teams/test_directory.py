"""Groups, organizations and persons are made, changed and deleted, and nothing ever refers to what is not there."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.builders import lively
from tests.builders.contests import HOUR, add_contest, pass_time
from tests.builders.service import Api
from tests.builders.streams import fold, read_feed

BASE = "contests/c"
YAML = {"Content-Type": "application/yaml"}
TSV = {"Content-Type": "text/tab-separated-values"}


@pytest.fixture
def contest(quick_api: Api) -> Api:
    """A contest that only `team` takes part in, and another one that is open to all."""
    add_contest(quick_api.service, problem_id=None)
    add_contest(quick_api.service, "open", problem_id=None)
    quick_api.patch(BASE, user="admin", json={"open_to_all": False})
    quick_api.post(f"{BASE}/teams", user="admin", json={"team_ids": ["team"]})
    return quick_api


def dump(api: Api) -> list[Any]:
    """All that an admin sees of it."""
    paths = ("groups", "organizations", "persons", "teams", "accounts")
    return [api.get(f"{BASE}/{path}", user="admin").json() for path in paths]


def make(api: Api, collection: str, body: Any, code: int = 201) -> Any:
    """Send what must go well."""
    made = api.post(f"{BASE}/{collection}", user="admin", json=body)
    assert made.status_code == code, made.text
    return made.json()


def test_an_object_without_an_id_gets_one_from_its_name(contest: Api) -> None:
    made = contest.post(f"{BASE}/groups", user="admin", json={"name": "The North!"})
    assert made.json() == {"id": "the-north", "name": "The North!"}
    assert made.headers["Location"] == f"/api/{BASE}/groups/the-north"
    assert [each["id"] for each in make(contest, "groups", [{"name": "A"}, {"name": "a"}])] == ["a", "a-2"]


def test_groups_come_as_yaml_and_as_tab_separated_lines(contest: Api) -> None:
    text = "- {id: g1, name: One}\n- {id: '2', name: Two, type: site}\n"
    assert contest.post(f"{BASE}/groups", user="admin", content=text, headers=YAML).status_code == 201
    lines = "File_Version\t1\n24\tNorth America\n"
    assert contest.post(f"{BASE}/groups", user="admin", content=lines, headers=TSV).status_code == 201
    assert [each["id"] for each in contest.get(f"{BASE}/groups").json()] == ["2", "24", "g1"]
    assert contest.post(f"{BASE}/persons", user="admin", content=lines, headers=TSV).status_code == 400


def test_a_teams_tsv_names_groups_that_are_there(contest: Api) -> None:
    make(contest, "groups", {"id": "24", "name": "North America"})
    lines = "teams\t1\n7\t200433\t24\tTigers\n8\t\t25\tLions\n"
    made = contest.post("teams", user="admin", content=lines, headers=TSV).json()
    assert [(each["group_ids"], each.get("icpc_id")) for each in made] == [(["24"], "200433"), ([], None)]


def test_a_contest_shows_what_it_brought_and_what_its_teams_refer_to(contest: Api) -> None:
    contest.post("contests/open/groups", user="admin", json=[{"id": "a", "name": "A"}, {"id": "b", "name": "B"}])
    make(contest, "groups", {"id": "own", "name": "Own"})
    contest.patch("teams/team", user="admin", json={"group_ids": ["a"]})
    assert [each["id"] for each in contest.get(f"{BASE}/groups").json()] == ["a", "own"]
    assert [each["id"] for each in contest.get("contests/open/groups").json()] == ["a", "b", "own"]
    assert contest.get(f"{BASE}/groups/b").status_code == 404


def test_who_takes_part_in_a_contest_is_not_known_before_it_begins(api: Api) -> None:
    """Neither in the contest itself nor in one that is open to all; judges know."""
    add_contest(api.service, "open", problem_id=None)
    add_contest(api.service, "soon", problem_id=None, started=-HOUR)
    api.patch("contests/soon", user="admin", json={"open_to_all": False})
    api.post("contests/soon/teams", user="admin", json={"team_ids": ["team"]})
    for role, teams in (("contestant", ["team"]), ("staff", [])):
        body = {"id": role, "name": "Somebody", "role": role, "team_ids": teams}
        assert api.post("contests/soon/persons", user="admin", json=body).status_code == 201
    for user in (None, "team", "other", "judge"):
        for contest_id in ("soon", "open"):
            seen = [each["id"] for each in api.get(f"contests/{contest_id}/persons", user=user).json()]
            assert seen == (["contestant", "staff"] if user == "judge" else []), (user, contest_id)
            one = api.get(f"contests/{contest_id}/persons/staff", user=user)
            assert one.status_code == (200 if user == "judge" else 404)
            assert set(fold(read_feed(api, contest_id, user=user)).get("persons", {})) == set(seen)
    pass_time(api.service, 2 * HOUR, "soon")
    api.service.database.changed()
    assert [each["id"] for each in api.get("contests/soon/persons").json()] == ["contestant", "staff"]
    assert set(fold(read_feed(api, "soon"))["persons"]) == {"contestant", "staff"}


def test_persons_of_a_contest_that_has_not_started_are_in_no_other_contest(api: Api) -> None:
    """A team of both contests and an account without a team lead to them."""
    for contest_id, started in (("now", 6 * HOUR), ("soon", -HOUR)):
        add_contest(api.service, contest_id, problem_id=None, started=started)
        assert api.patch(f"contests/{contest_id}", user="admin", json={"open_to_all": False}).status_code == 200
        assert api.post(f"contests/{contest_id}/teams", user="admin", json={"team_ids": ["team"]}).status_code == 200
    add_contest(api.service, "open", problem_id=None)
    for role, teams in (("contestant", ["team"]), ("staff", [])):
        body = {"id": role, "name": "Somebody", "role": role, "team_ids": teams}
        assert api.post("contests/soon/persons", user="admin", json=body).status_code == 201
    assert api.patch("accounts/staff", user="admin", json={"person_id": "staff"}).status_code == 200
    for user in (None, "team", "other"):
        for contest_id in ("now", "open"):
            assert api.get(f"contests/{contest_id}/persons", user=user).json() == []
            assert api.get(f"contests/{contest_id}/persons/staff", user=user).status_code == 404
            assert "persons" not in fold(read_feed(api, contest_id, user=user))


@pytest.mark.parametrize(
    ("kind", "link"), [("groups", {"group_ids": ["g"]}), ("organizations", {"organization_id": "g"})]
)
def test_what_only_hidden_teams_are_in_is_not_known_either(api: Api, kind: str, link: dict[str, Any]) -> None:
    add_contest(api.service, "c", problem_id=None)
    assert api.post(f"contests/c/{kind}", user="admin", json={"id": "g", "name": "G"}).status_code == 201
    api.patch("teams/other", user="admin", json={"hidden": True, **link})
    for user in (None, "team", "other", "judge"):
        knows = user in {"other", "judge"}
        assert [each["id"] for each in api.get(f"contests/c/{kind}", user=user).json()] == (["g"] if knows else [])
        assert api.get(f"contests/c/{kind}/g", user=user).status_code == (200 if knows else 404)
        assert set(fold(read_feed(api, user=user)).get(kind, {})) == ({"g"} if knows else set())
        if kind == "groups":
            for board in ("scoreboard", "scoreboard.csv"):
                asked = [api.get(f"contests/c/{board}?group_id={group}", user=user) for group in ("g", "h")]
                unknown = asked[1].json()["message"]
                assert asked[0].status_code == (200 if knows else 400), board
                assert knows or asked[0].json()["message"] == unknown.replace("'h'", "'g'")
    api.patch("teams/team", user="admin", json=link)
    assert [each["id"] for each in api.get(f"contests/c/{kind}").json()] == ["g"]


def test_an_image_is_measured_kept_and_sent_back(contest: Api) -> None:
    data = lively.png(56, 40)
    made = make(contest, "organizations", {"id": "u", "name": "U", "logo": [{"data": base64.b64encode(data).decode()}]})
    (logo,) = made["logo"]
    assert (logo["filename"], logo["width"], logo["height"], logo["mime"]) == ("logo.56x40.png", 56, 40, "image/png")
    sent = contest.get(logo["href"])
    assert (sent.content, sent.headers["content-type"]) == (data, "image/png")
    assert "sandbox" in sent.headers["content-security-policy"]
    again = contest.put(f"{BASE}/organizations/u", user="admin", json=made)
    assert (again.status_code, again.json()) == (200, made)
    assert "logo" not in contest.put(f"{BASE}/organizations/u", user="admin", json={"id": "u", "name": "U"}).json()
    assert contest.get(logo["href"]).status_code == 404


@pytest.mark.parametrize("size", ["9" * 400, "9" * 20, "0"])
def test_a_drawing_of_no_possible_size_is_refused(contest: Api, size: str) -> None:
    for sides in (f'width="{size}" height="1"', f'viewBox="0 0 1 {size}"'):
        logo = base64.b64encode(f"<svg {sides}></svg>".encode()).decode()
        body = {"id": "u", "name": "U", "logo": [{"data": logo}]}
        assert contest.put(f"{BASE}/organizations/u", user="admin", json=body).status_code == 400


DOCTYPE = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n'
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 6"><path/></svg>'


@pytest.mark.parametrize(
    ("text", "is_image"),
    [
        (f'\ufeff<?xml version="1.0"?>\n{DOCTYPE}<!-- drawn --><?pi?>\n{DRAWING}', True),
        (f"<html><body>{DRAWING}</body></html>", False),
        (f"<!-- {DRAWING} --><html/>", False),
        (f"plain text {DRAWING}", False),
        (f'<html xmlns="http://www.w3.org/1999/xhtml">{DRAWING}</html>', False),
        ('<svg xmlns="http://www.w3.org/1999/xhtml" width="8" height="6"/>', False),
        (f'<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>{DRAWING}', False),
        ('<svg width="8" height="6"', False),
    ],
)
def test_a_drawing_is_a_document_whose_root_is_svg(contest: Api, text: str, is_image: bool) -> None:
    """HTML with a drawing in it is none, nor is a document with entities, which may grow without bound."""
    body = {"id": "u", "name": "U", "logo": [{"data": base64.b64encode(text.encode()).decode()}]}
    reply = contest.put(f"{BASE}/organizations/u", user="admin", json=body)
    assert (reply.status_code < 300) is is_image, reply.text
    if is_image:
        logo = reply.json()["logo"][0]
        assert (logo["mime"], logo["width"], logo["height"]) == ("image/svg+xml", 8, 6)
    else:
        assert "expected a PNG, JPEG or SVG image" in reply.json()["message"]


def test_what_is_left_out_of_a_patch_stays(contest: Api) -> None:
    make(contest, "organizations", {"id": "u", "name": "U", "country": "MEX", "logo": lively.picture(5, 5)})
    changed = contest.patch(f"{BASE}/organizations/u", user="admin", json={"formal_name": "The U", "country": None})
    assert set(changed.json()) == {"id", "name", "formal_name", "logo"}


def test_what_is_referred_to_stays(contest: Api) -> None:
    make(contest, "groups", {"id": "g", "name": "G"})
    make(contest, "organizations", {"id": "u", "name": "U"})
    make(contest, "persons", {"id": "p", "name": "P", "role": "coach", "team_ids": ["team"]})
    contest.patch("teams/team", user="admin", json={"group_ids": ["g"], "organization_id": "u"})
    contest.patch("accounts/team", user="admin", json={"person_id": "p"})
    for path in ("groups/g", "organizations/u", "persons/p"):
        assert contest.delete(f"{BASE}/{path}", user="admin").status_code == 409
    contest.patch("teams/team", user="admin", json={"group_ids": [], "organization_id": None})
    contest.patch("accounts/team", user="admin", json={"person_id": None})
    for path in ("groups/g", "organizations/u", "persons/p"):
        assert contest.delete(f"{BASE}/{path}", user="admin").status_code == 204
        assert contest.delete(f"{BASE}/{path}", user="admin").status_code == 404


def test_teams_are_filtered_by_their_organization(contest: Api) -> None:
    make(contest, "organizations", {"id": "u", "name": "U"})
    contest.patch("teams/team", user="admin", json={"organization_id": "u"})
    assert [each["id"] for each in contest.get("contests/open/teams?organization_id=u").json()] == ["team"]
    assert [each["id"] for each in contest.get("contests/open/teams?organization_id=").json()] == ["other"]


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("POST", "groups", {"id": "g"}, 400),
        ("POST", "groups", {"id": "-g", "name": "G"}, 400),
        ("POST", "groups", {"id": "g", "name": None}, 400),
        ("POST", "groups", {"id": "g", "name": "G", "colour": "red"}, 400),
        ("POST", "groups", {"id": "g", "name": "G", "location": {"latitude": 91, "longitude": 0}}, 400),
        ("POST", "groups", [{"id": "old", "name": "G"}], 409),
        ("POST", "groups", [{"id": "g", "name": "G"}, {"id": "g", "name": "G"}], 409),
        ("POST", "groups", [{"id": "g", "name": "G"}, 7], 400),
        ("POST", "groups", "text", 400),
        ("PUT", "groups/g", {"id": "h", "name": "G"}, 409),
        ("PUT", "groups/g", {"name": "G"}, 400),
        ("PUT", "groups/g", [{"id": "g", "name": "G"}], 400),
        ("PATCH", "groups/none", {"name": "G"}, 404),
        ("PATCH", "groups/old", {"name": None}, 400),
        ("PATCH", "groups/old", {"id": "g"}, 409),
        ("DELETE", "groups/none", None, 404),
        ("POST", "organizations", {"id": "o", "name": "O", "country": "Mexico"}, 400),
        ("POST", "organizations", {"id": "o", "name": "O", "country_subdivision": "PA"}, 400),
        ("POST", "organizations", {"id": "o", "name": "O", "logo": [{"data": "?"}]}, 400),
        ("POST", "organizations", {"id": "o", "name": "O", "logo": [{"data": "aGk="}]}, 400),
        ("POST", "organizations", {"id": "o", "name": "O", "logo": lively.picture(1, 1) * 2}, 400),
        ("POST", "organizations", {"id": "o", "name": "O", "logo": [{"filename": "../x", "data": "aGk="}]}, 400),
        ("POST", "persons", {"id": "p", "name": "P", "role": "king"}, 400),
        ("POST", "persons", {"id": "p", "name": "P", "role": "contestant"}, 400),
        ("POST", "persons", {"id": "p", "name": "P", "role": "coach", "team_ids": ["none"]}, 400),
        ("POST", "persons", {"id": "p", "name": "P", "role": "staff", "sex": "other"}, 400),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(contest: Api, method: str, path: str, body: Any, code: int) -> None:
    make(contest, "groups", {"id": "old", "name": "Old"})
    before = dump(contest)
    refused = contest.request(method, f"{BASE}/{path}", user="admin", json=body)
    assert (refused.status_code, refused.json()["code"]) == (code, code), refused.text
    assert refused.json()["message"]
    assert dump(contest) == before


@pytest.mark.parametrize(
    "body",
    [
        {"group_ids": ["none"]},
        {"organization_id": "none"},
        {"location": {"x": 1, "y": 2, "rotation": 400}},
        {"photo": [{"data": "aGk="}]},
        {"group_ids": "g"},
    ],
)
def test_a_team_refers_only_to_what_is_there(contest: Api, body: Any) -> None:
    before = dump(contest)
    assert contest.patch("teams/team", user="admin", json=body).status_code == 400
    assert contest.put("teams/team", user="admin", json={"id": "team", "name": "T", **body}).status_code == 400
    assert dump(contest) == before

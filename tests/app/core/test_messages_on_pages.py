"""Messages of services and games are in the reader's language on pages, and in English in the API."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from app.accounts.service.tokens import Who
from app.core.messages import N_, BadRequest, Message, NotFound, did_you_mean
from app.core.pages import languages
from app.core.pages.languages import in_words_of, translate
from app.tables import ProblemRow
from games.catalog import games
from tests.app.contests.test_contest_pages import text_of
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api, open_api

OTHERS = [each for each in languages.LANGUAGES if each != languages.SOURCE]
SPANISH = {"Accept-Language": "es"}


@pytest.mark.parametrize("spoken", OTHERS)
def test_a_refusal_is_translated_with_the_messages_inside_it(spoken: str) -> None:
    unknown = Message(N_("no problem %(problem)r in contest %(contest)r"), problem="ecco", contest="c")
    refusal = NotFound(did_you_mean(unknown, "ecco", ["echo"]))
    least = Message(N_("at least %(count)s characters"), count=10)
    fault = BadRequest(N_("expected %(expected)s, found a secret"), where="password", expected=least)
    with languages.speaking(spoken):
        shown, named = translate(refusal.message), translate(fault.message)
    assert "'ecco'" in shown
    assert "'echo'" in shown
    for english in ("problem ", "did you mean", "expected", "found", "characters", "a secret"):
        assert english not in shown + named
    assert named.startswith("password")
    assert str(refusal) == "no problem 'ecco' in contest 'c': did you mean 'echo'?"
    assert str(fault) == "password: expected at least 10 characters, found a secret"


@pytest.mark.parametrize("spoken", OTHERS)
@pytest.mark.parametrize("name", sorted(games()))
def test_all_that_a_game_says_is_translated(name: str, spoken: str) -> None:
    rules = games()[name]
    position, draws = rules.start(rules.sample), Random(1)
    said = {rules.title, *(side for side in rules.sides if len(side) > 1), *rules.opponents}
    said |= {opponent.summary for opponent in rules.opponents.values()}
    while not rules.over(position):
        said |= {rules.legal(position).rule, rules.outlook(position).note}
        position = rules.apply(position, rules.opponents["random"].choose(position, draws))
    with languages.speaking(spoken):
        assert [each for each in said if in_words_of(each) == each] == []


@pytest.mark.parametrize("spoken", OTHERS)
def test_each_kind_of_reader_of_a_refusal_has_its_words(spoken: str) -> None:
    with languages.speaking(spoken):
        for who in Who:
            if who not in {Who.EVERYBODY}:
                shown = translate(Message(who.value))
                assert not re.search(r"\b(only|may|an|a) ", shown.replace("a la ", "")) or spoken == "es", shown
                assert who.value not in shown


def test_pages_refuse_in_the_readers_language_and_the_api_in_english(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        _refusals(api)
        _organisers(api)


def _refusals(api: Api) -> None:
    page = api.get("/c/nothing/scoreboard", headers=SPANISH)
    assert (page.status_code, "No hay concurso 'nothing'" in page.text.replace("&#39;", "'")) == (404, True)
    assert api.get("contests/nothing", headers=SPANISH).json()["message"].startswith("no contest 'nothing'")
    organiser = api.get("/admin/health", user="team", headers=SPANISH)
    assert organiser.status_code == 403
    assert "puede" in organiser.text


def _organisers(api: Api) -> None:
    health = text_of(api.get("/admin/health", user="admin", headers=SPANISH).text)
    assert "Base de datos" in health
    assert not re.search(r"\b(Database|Graders|Clock|Disk|Waiting|(?<!/)files)\b", health)
    contest = text_of(api.get("/admin/contests/c", user="admin", headers=SPANISH).text)
    assert "La clasificación no se congela" in contest
    people = text_of(api.get("/admin/users", user="admin", headers=SPANISH).text)
    assert "cuenta de equipo" in people


NAMED = ("/c/c", "/c/c/problems", "/c/c/problems/echo", "/c/c/scoreboard", "/c/c/teams/team", "/c/c/questions")
ORGANIZED = ("/admin/problems", "/admin/problems/echo", "/admin/contests/c/problems", "/c/c/projector")


def test_problems_are_named_in_the_readers_language_on_every_page(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        with api.service.database.write() as session:
            session.get_one(ProblemRow, "echo").names = {"en": "Echo name", "es": "El eco"}
        add_contest(api.service)
        for page, user in [*((page, "team") for page in NAMED), *((page, "admin") for page in ORGANIZED)]:
            for spoken, name, other in (("es", "El eco", "Echo name"), ("sk", "Echo name", "El eco")):
                shown = api.get(page, user=user, headers={"Accept-Language": spoken}).text
                assert (name in shown, other in shown) == (True, False), (page, spoken)

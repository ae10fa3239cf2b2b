"""Sentences of services and games stand in the reader's language on pages, and in English in the API."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from app.accounts.service.rights import Who
from app.contests.pages.checklist_words import sentence
from app.contests.service import checklist
from app.core.pages import languages
from app.core.pages.game_words import WORDS
from app.core.pages.known_sentences import PLACE, KnownSentences
from app.core.pages.refusal_words import REFUSALS, in_words
from games.catalog import games
from tests.app.web.test_contest_pages import text_of
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api, open_api

ROOT = Path(__file__).parents[3]
OTHERS = [each for each in languages.LANGUAGES if each != languages.SOURCE]
LIMIT = "expected at least 60 s between two submissions to this problem"
FAULTS = "password: expected at least 10 characters, found a secret; name: expected a value, found nothing"
SPANISH = {"Accept-Language": "es"}


def texts_of_sources() -> str:
    """All texts of the rooms that refuse, each f-string as one with a mark where a value goes."""
    texts = []
    for folder in ("app", "games"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "refusal_words.py":
                texts += _texts(ast.parse(path.read_text()))
    return "\n".join(texts)


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "\0" for each in node.values)


def test_each_known_refusal_is_one_that_the_sources_make() -> None:
    sources = texts_of_sources()
    for each in (*REFUSALS.whole, *REFUSALS.with_places):
        for words in PLACE.split(each)[::2]:
            parts = [
                part
                for part in re.split(r": expected |, found | to this problem|all | places are|the only place is", words)
                if part
            ]
            assert all(part in sources for part in parts), each


@pytest.mark.parametrize("spoken", OTHERS)
def test_a_refusal_is_translated_with_the_sentences_inside_it(spoken: str) -> None:
    said = "no problem 'ecco' in contest 'c': did you mean 'echo'?"
    with languages.speaking(spoken):
        shown = in_words(said)
        limit, faults = in_words(f"{LIMIT}: your team may submit again in 5 s"), in_words(FAULTS)
    assert "'ecco'" in shown
    assert "'echo'" in shown
    for english in ("problem ", "did you mean", "expected", "found", "characters", "submit", "a secret"):
        assert english not in shown + limit + faults
    assert faults.startswith("password")
    assert "; name" in faults


def test_what_is_not_known_stays_as_it_is_and_english_is_left_alone() -> None:
    with languages.speaking("ru"):
        assert in_words("the moon is full") == "the moon is full"
        assert in_words("x" * 10_000) == "x" * 10_000
    assert in_words("no contest 'x'") == "no contest 'x'"


def test_a_value_is_never_taken_for_a_sentence() -> None:
    known = KnownSentences(("no team %(team)s", "an admin"), within=("who",))
    with languages.speaking("es"):
        assert known.in_words("no team an admin").endswith("an admin")


@pytest.mark.parametrize("spoken", OTHERS)
@pytest.mark.parametrize("name", sorted(games()))
def test_all_that_a_game_says_is_known(name: str, spoken: str) -> None:
    rules = games()[name]
    position, draws = rules.start(rules.sample), Random(1)
    said = {rules.title, *(side for side in rules.sides if len(side) > 1), *rules.opponents}
    said |= {opponent.summary for opponent in rules.opponents.values()}
    while not rules.over(position):
        said |= {rules.legal(position).rule, rules.outlook(position).note}
        position = rules.apply(position, rules.opponents["random"].choose(position, draws))
    with languages.speaking(spoken):
        assert [each for each in said if WORDS.in_words(each) == each] == []


@pytest.mark.parametrize("spoken", OTHERS)
def test_each_kind_of_reader_of_a_refusal_has_its_words(spoken: str) -> None:
    with languages.speaking(spoken):
        for who in Who:
            if who not in {Who.EVERYBODY}:
                shown = in_words(f"only {who.value} may do this")
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
    people = text_of(api.get("/admin/people", user="admin", headers=SPANISH).text)
    assert "cuenta de equipo" in people


def test_each_point_of_the_checklist_has_a_sentence() -> None:
    tree = ast.parse(Path(checklist.__file__).read_text())
    keys = {
        each.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Point"
        for each in ast.walk(node.args[1])
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    } | {"started", "starts"}
    values: dict[str, str | int] = {"num": 2, "label": "A", "time": "1:00", "state": "failed", "names": "x", "more": 1}
    for key in keys:
        shown = sentence(checklist.Point(checklist.Mark.OPEN, key, checklist.Part.TIMES, values))
        assert shown.endswith("."), key
        assert "%" not in shown, key

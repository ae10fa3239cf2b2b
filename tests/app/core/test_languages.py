"""Pages speak five languages: no word escapes the catalogues, counts have their forms, readers get their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from gettext import NullTranslations
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import nodes

from app.core.pages import languages, wording
from app.core.pages.languages import in_words
from app.core.pages.pages import APP, ENVIRONMENT, PATHS, script_of
from app.domain.contests import Carry, Counting, Direction, Kind, ScoringRule
from app.domain.participation import Telling, reduced
from app.judging.queries.judging_tasks import too_large
from app.judging.service.grader import message_json
from app.judging.service.judging import JUDGE_ERROR
from app.submissions.service.reports import EMBARGOED, NOTHING, WAITING
from checkers.doors import Message, Phrase, Rejected
from scripts import messages
from tests.app.contests.test_contest_pages import OWN, PAGES, RIGHT, WRONG
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.scripts import opened_with
from tests.builders.service import Api, open_api

OTHERS = [each for each in languages.LANGUAGES if each != languages.SOURCE]
ORIGIN = {"Origin": "http://jurado.test"}
ORGANISERS = (
    *("/admin", "/admin/new", "/admin/problems", "/admin/problems/echo/case/02", "/admin/jobs", "/admin/users"),
    *("/admin/problems/new", "/admin/problems/echo"),
    *(f"/admin/problems/echo/{each}" for each in ("statement", "cases", "checker", "scoring", "samples", "preview")),
    *(
        f"/admin/contests/c{each}"
        for each in ("", "/times", "/rules", "/problems", "/teams", "/live", "/rejudgings", "/questions", "/roles")
    ),
    *("/admin/contests/c/ceremony", "/admin/contests/c/similarity"),
)
"""Pages of organisers whose data are few; those of health and the audit log show paths and names of operations."""
SHOWN = (*PAGES, *OWN, "/", "/p/comesolo/board", "/c/c/compare?a=1&b=2", "/c/c/scoreboard?find=nobody")
PHRASE = re.compile(r"[A-Za-z]{2,}")
OPEN, CLOSE = "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}", "\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}"
UNTRANSLATED = {"code", "pre", "script", "style", "symbol", "textarea", "option"}
"""Elements whose texts are commands, data or drawings."""
SPOKEN = {"aria-label", "title", "placeholder", "alt", "aria-valuetext"}


DATA = """
Jurado API CLICS UTC KB cc by sa openapi json inputs zip in out html jurado admin Contest Team team other case Echo echo
take part py secret sample easy copy package accepted nobody admin judge staff
comesolo Comesolo Rolling Balls Lazy Piglets The Last Treat Optimiza Net Game
"""
"""Names, units and what a checker said, in the pages that are looked at."""


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest with two teams' submissions, frozen in half an hour."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, settings={"practice": True, "virtual": True, "show_best": False, "choose": True})
        add_submission(api.service, {"02": RIGHT, "03": WRONG}, minute=1)
        add_submission(api.service, {"02": RIGHT}, minute=2)
        add_submission(api.service, {"02": RIGHT, "03": RIGHT}, team="other", minute=2)
        for user in ("team", "admin"):
            assert api.post("contests/c/clarifications", user=user, json={"text": "1?"}).status_code == 201
        yield api


@pytest.fixture(scope="module")
def source() -> messages.Catalog:
    """All messages that stand in templates, Python and scripts."""
    return messages.extracted()


class Texts(HTMLParser):
    """The texts of a page that its reader sees or hears, without those in a language of their own."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._left: list[tuple[str, bool]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        fields = dict(attrs)
        other = tag in UNTRANSLATED or (tag != "html" and "lang" in fields)
        if tag not in {"meta", "link", "input", "br", "img", "use", "path", "rect"}:
            self._left.append((tag, other))
        if not other and not any(each for _, each in self._left):
            self.texts += [value or "" for name, value in attrs if name in SPOKEN]

    def handle_endtag(self, tag: str) -> None:
        while self._left and self._left.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and not any(other for _, other in self._left):
            self.texts.append(data)


class Marked(NullTranslations):
    """A catalogue that puts every message of the sources between marks, and leaves all others as they are."""

    def __init__(self, source: messages.Catalog) -> None:
        super().__init__()
        self._known = {message.id if isinstance(message.id, str) else message.id[0] for message in source}

    def gettext(self, message: str) -> str:
        return f"{OPEN}{message}{CLOSE}" if message in self._known else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        text = msgid1 if n == 1 else msgid2
        return f"{OPEN}{text}{CLOSE}" if msgid1 in self._known else text


def unmarked(html: str) -> list[str]:
    """The words of a page that came by no message."""
    text = "\n".join(Texts(html).texts)
    return PHRASE.findall(_without_marks(text))


def _without_marks(text: str) -> str:
    while (shorter := re.sub(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}", "", text)) != text:
        text = shorter
    return text


def test_every_word_of_contestants_pages_comes_by_a_message(
    api: Api, source: messages.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but names, ids, units and the program's own name, whatever template or function it is made in."""
    monkeypatch.setattr(languages, "translations", lambda _language: Marked(source))
    data = set(re.findall(r"\w+", DATA))
    faults = {}
    for page in SHOWN:
        words = set(unmarked(api.get(page, user="team", headers={"Accept-Language": "ja"}).text)) - data
        if words:
            faults[page] = sorted(words)
    assert faults == {}


def test_every_word_of_organisers_pages_comes_by_a_message(
    api: Api, source: messages.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages, "translations", lambda _language: Marked(source))
    data = set(re.findall(r"\w+", DATA))
    pages = {each: api.get(each, user="admin", headers={"Accept-Language": "ja"}) for each in ORGANISERS}
    assert {each.status_code for each in pages.values()} == {200}
    faults = {page: words for page, reply in pages.items() if (words := sorted(set(unmarked(reply.text)) - data))}
    assert faults == {}


def test_no_message_begins_or_ends_with_a_blank_that_translations_would_lose(source: messages.Catalog) -> None:
    """Two words that are put together in a template are one message with a placeholder."""
    ids = [each for message in source for each in ([message.id] if isinstance(message.id, str) else message.id)]
    assert [each for each in ids if each != each.strip()] == []


def test_templates_have_no_text_outside_of_messages() -> None:
    """All templates of contestants and organisers: a text node or a spoken attribute with words is a message."""
    faults = []
    for name in sorted(ENVIRONMENT.list_templates()):
        assert ENVIRONMENT.loader is not None
        text = ENVIRONMENT.loader.get_source(ENVIRONMENT, name)[0]
        text = re.sub(r"\{%-? trans.*?\{% endtrans %\}|\{\{.*?\}\}", "\0", text, flags=re.DOTALL)
        text = re.sub(r"\{%.*?%\}", " ", text, flags=re.DOTALL)
        text = text.replace("?next=\0", "")  # where a form leads back to
        for each in Texts(re.sub(r"<title>.*?</title>", "", text)).texts:
            rest = each.replace("Jurado", "").replace("CLICS", "").replace("API", "").replace("openapi.json", "")
            if PHRASE.search(re.sub(r"\S*/\S*", "", rest)):
                faults.append((name, " ".join(each.split())))
    assert not [fault for fault in faults if not _is_example(fault)], faults


EXAMPLES = {"UTC", "page_set_times", "1042 1043", "inputs.zip", "take_part.py", "username"}
"""Attributes that show what is typed, as it is typed."""


def _is_example(fault: tuple[str, str]) -> bool:
    return fault[1] in EXAMPLES


def test_templates_show_no_word_of_an_expression_that_is_no_message() -> None:
    """A constant that an expression puts out, `{{ "team" if one else "teams" }}`, stands in a call of gettext."""
    faults = []
    for name in sorted(ENVIRONMENT.list_templates()):
        assert ENVIRONMENT.loader is not None
        tree = ENVIRONMENT.parse(ENVIRONMENT.loader.get_source(ENVIRONMENT, name)[0])
        for output in tree.find_all(nodes.Output):
            faults += [
                (name, word)
                for node in output.nodes
                for word in _shown(node)
                if " " in word.strip() and word != "light dark"
            ]
    assert not faults


def _shown(node: nodes.Node) -> Iterator[str]:
    """The constants that the value of an expression may be."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, nodes.CondExpr):
        yield from _shown(node.expr1)
        if node.expr2 is not None:
            yield from _shown(node.expr2)
    elif isinstance(node, nodes.Or | nodes.And | nodes.BinExpr):
        yield from _shown(node.left)
        yield from _shown(node.right)
    elif isinstance(node, nodes.Concat):
        for each in node.nodes:
            yield from _shown(each)


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_is_complete_as_the_sources_have_it(language: str, source: messages.Catalog) -> None:
    """Nothing is missing, fuzzy or left over, and placeholders and tags agree; `make messages` brings it up to them."""
    path = messages.CATALOGUES / f"{language}.po"
    catalogue = messages.read(path)
    messages.update(catalogue, source)
    assert messages.faults_of(catalogue) == []
    assert messages.written(catalogue) == path.read_bytes()


def test_a_catalogue_with_a_lost_placeholder_or_tag_is_told() -> None:
    catalogue = messages.Catalog(locale="sk")
    catalogue.add("<b>%(name)s</b> won", "%(nam)s vyhral")
    catalogue.add(
        ("%(num)s team of %(all)s", "%(num)s teams of %(all)s"), ("jeden tím", "%(num)s tímy", "%(num)s z %(all)s")
    )
    catalogue.add("points", "body", flags=["fuzzy"])
    catalogue.add("team", "")
    faults = messages.faults_of(catalogue)
    assert [fault.split(":")[0] for fault in faults] == [
        "'<b>%(name)s</b> won'",
        "'%(num)s team of %(all)s'",
        "'%(num)s team of %(all)s'",
        "'points'",
        "'team'",
    ]


@pytest.mark.parametrize("language", OTHERS)
def test_pages_are_in_the_language_that_the_browser_asks_for(api: Api, language: str) -> None:
    for page in SHOWN:
        reply = api.get(page, user="team", headers={"Accept-Language": f"de, {language}-XX;q=0.9, en;q=0.1"})
        assert f'<html lang="{language}"' in reply.text, page
        assert reply.headers["Content-Language"] == language
        assert {"Cookie", "Accept-Language"} <= set(reply.headers["Vary"].split(", "))
        with languages.speaking(language):
            assert languages.gettext("Skip to content") in reply.text
            assert languages.gettext("Skip to content") != "Skip to content"


@pytest.mark.parametrize(
    ("kept", "accepted", "default", "expected"),
    [
        ("", "", "sk", "sk"),
        ("", "de, fr;q=0.5", "ru", "ru"),
        ("", "es-MX,es;q=0.9", "en", "es"),
        ("", "RU", "en", "ru"),
        ("", ";;;,=,q=1", "en", "en"),
        ("es", "ja", "en", "es"),
        ("xx", "ja", "en", "ja"),
    ],
)
def test_the_kept_language_goes_before_the_browsers_and_that_before_the_settings(
    kept: str, accepted: str, default: str, expected: str
) -> None:
    assert languages.chosen(kept, accepted, default) == expected


def test_a_language_is_kept_by_a_plain_form_and_leads_back(api: Api) -> None:
    reply = api.post("/preferences", data={"language": "sk", "next": "/c/c"}, headers=ORIGIN)
    assert (reply.status_code, reply.headers["Location"]) == (303, "/c/c")
    html = api.get("/c/c", headers={"Accept-Language": "ja"}).text
    assert '<html lang="sk"' in html
    assert 'lang="sk" aria-current="true">Slovenčina</button>' in html
    api.post("/preferences", data={"language": "tlh"}, headers=ORIGIN)
    assert '<html lang="ja"' in api.get("/c/c", headers={"Accept-Language": "ja"}).text, "none of ours"


def test_a_board_is_kept_apart_by_language(api: Api) -> None:
    """Rows are written once a snapshot: a reader of another language must not get them."""
    spanish = api.get("/c/c/scoreboard", headers={"Accept-Language": "es"}).text
    english = api.get("/c/c/scoreboard").text
    assert '<td class="tot">100,0</td>' in spanish
    assert '<td class="tot">100.0</td>' in english
    assert '<td class="tot">100,0</td>' in api.get("/c/c/scoreboard", headers={"Accept-Language": "es"}).text


@pytest.mark.parametrize(
    ("language", "count", "expected"),
    [
        ("en", 1, "1 team"),
        ("en", 0, "0 teams"),
        ("es", 2, "2 equipos"),
        ("sk", 1, "1 tím"),
        ("sk", 3, "3 tímy"),
        ("sk", 5, "5 tímov"),
        ("sk", 22, "22 tímov"),
        ("ru", 1, "1 команда"),
        ("ru", 22, "22 команды"),
        ("ru", 11, "11 команд"),
        ("ru", 101, "101 команда"),
        ("ja", 2, "2チーム"),
    ],
)
def test_counts_have_the_plural_of_their_language_on_the_server_and_in_scripts(
    language: str, count: int, expected: str
) -> None:
    with languages.speaking(language):
        assert languages.ngettext("%(num)s team", "%(num)s teams", count) == expected
    ask = opened_with("" if language == "en" else script_of(language))
    files = ask(f'ngettext("%(num)s file", "%(num)s files", {count})')
    with languages.speaking(language):
        assert files == languages.ngettext("%(num)s file", "%(num)s files", count)


@pytest.mark.parametrize("language", OTHERS)
def test_scripts_get_every_message_of_theirs(api: Api, language: str, source: messages.Catalog) -> None:
    reply = api.get(f"/static/messages/{language}.js")
    assert (reply.status_code, reply.headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert (
        api.get(f"/static/messages/{language}.js", headers={"If-None-Match": reply.headers["ETag"]}).status_code == 304
    )
    texts = json.loads(opened_with(reply.text)("JSON.stringify(juradoMessages.texts)"))
    wanted = {
        message.id if isinstance(message.id, str) else message.id[0]
        for message in source
        if any(str(path).endswith(".js") for path, _ in message.locations)
    }
    assert set(texts) == wanted
    assert len(wanted) > 100


def test_english_needs_no_texts_and_other_languages_are_not_found(api: Api) -> None:
    assert "messages/" not in api.get("/c/c").text
    assert api.get("/static/messages/en.js").status_code == 404
    assert api.get("/static/messages/..%2Fes.js").status_code == 404


def test_numbers_and_moments_are_written_as_the_language_does() -> None:
    moment = datetime(2026, 11, 22, 15, 40, tzinfo=UTC)
    expected = {
        "en": ("99.9", "2026-11-22 15:40"),
        "es": ("99,9", "22 nov 2026, 15:40"),
        "sk": ("99,9", "22. 11. 2026, 15:40"),
        "ru": ("99,9", "22 нояб. 2026\N{NARROW NO-BREAK SPACE}\N{CYRILLIC SMALL LETTER GHE}., 15:40"),
        "ja": ("99.9", "2026年11月22日 15:40"),
    }
    for language, (number, written) in expected.items():
        with languages.speaking(language):
            assert wording.points(99.96) == number
            assert languages.moment(moment, "UTC") == written, language


def test_rules_of_problems_and_contests_are_sentences_in_every_language() -> None:
    rules = [
        ScoringRule(kind=kind, direction=direction, counting=counting, carry=carry)
        for kind in Kind
        for direction in Direction
        for counting in Counting
        for carry in Carry
    ]
    english = {sentence for rule in rules for sentence in wording.problem_rules(rule)}
    for language in OTHERS:
        with languages.speaking(language):
            sentences = {sentence for rule in rules for sentence in wording.problem_rules(rule)}
        assert len(sentences) == len(english)
        assert not sentences & english


@pytest.mark.parametrize(
    ("message", "language", "expected"),
    [
        (
            Rejected.at(
                Phrase("jump %(number)s (%(line)s)", number=3, line=Phrase("line %(number)s", number=4)),
                expected=Phrase("a piece to jump over"),
                found=Phrase("an empty cell at %(cell)s", cell=(1, 2)),
            ).message,
            "es",
            "salto 3 (línea 4): se esperaba una pieza sobre la que saltar, se encontró una casilla vacía en (1, 2)",
        ),
        (
            Rejected.at(Phrase("line %(number)s", number=7), expected=Phrase("a rare thing"), found='"zebra"').message,
            "sk",
            'riadok 7: očakávané: a rare thing, nájdené: "zebra"',
        ),
        (Message("rejected", "rejected"), "ru", "отклонено"),
        (Message("comesolo-eaten", "3 of 9 pieces eaten", {"eaten": 3, "pieces": 9}), "ja", "駒9個中3個を取得"),
        (Message("rejected", "no: see line 4"), "ru", "no: see line 4"),
        (Message("expected-found", "a: expected b, found c", {"where": "a"}), "es", "a: expected b, found c"),
        (Message("my-own", "1 peg is left", {"pegs": 1}), "ja", "1 peg is left"),
        (Rejected.at("line 1", expected="<b>%(x)s", found="5 %").message, "en", "line 1: expected <b>%(x)s, found 5 %"),
    ],
)
def test_a_checkers_message_is_translated_only_where_its_key_and_values_say_all_of_it(
    message: Message, language: str, expected: str
) -> None:
    with languages.speaking(language):
        assert in_words(message_json(message)) == expected


def test_every_sentence_of_a_key_is_the_one_that_the_server_writes() -> None:
    """Keys of the server's own messages, whose English is made elsewhere."""
    made = [JUDGE_ERROR, too_large(1000), reduced(JUDGE_ERROR, Telling.VERDICT)]
    for message in (*made, WAITING, EMBARGOED, NOTHING):
        with languages.speaking("es"):
            assert in_words(message) != message["text"]


def test_all_scripts_and_templates_are_looked_into(source: messages.Catalog) -> None:
    places = {str(path) for message in source for path, _ in message.locations}
    scripts = {
        str(path.relative_to(APP))
        for name, path in PATHS.items()
        if name.endswith(".js") and re.search(r"\b(_|ngettext)\(\"", path.read_text())
    }
    assert scripts - {"core/pages/static/text.js", "core/pages/static/swagger-ui/swagger-ui-bundle.js"} <= places

"""Messages have an English id and values: the API formats them in English, pages in the reader's language."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.contests.schemas import Limits, PerWindow
from app.core.faults import MORE, PackageError, mismatch
from app.core.messages import N_, BadRequest, Message, all_in_words, joined, message_of
from app.core.pages import languages
from app.core.pages.languages import in_words, translate
from app.domain.documents import MessageDocument
from app.domain.participation import quota
from app.judging.service.grader import message_json
from app.submissions.queries.usage import why_not
from checkers.doors import Phrase, Rejected

APP = Path(__file__).parents[2] / "app"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PLACES = re.compile(r"%\((\w+)\)[sr]")
OPTIONS = {"where", "errors", "retry_after", "too_large"}
"""Keywords of errors that are no values."""


def ago(*seconds: float) -> list[datetime]:
    """Times so many seconds before now."""
    return [NOW - timedelta(seconds=each) for each in seconds]


def ids_and_values() -> Iterator[tuple[str, str, set[str]]]:
    """Every call with marked ids, other than of an alternative: where it is, its ids, and the names of its values."""
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or any(isinstance(each, ast.IfExp) for each in node.args):
                continue
            if marked := "".join(map(_marked, node.args)):
                is_plain = isinstance(node.func, ast.Name) and node.func.id == "Message"
                names = {str(each.arg) for each in node.keywords} - (set() if is_plain else OPTIONS)
                yield f"{path}:{node.lineno}", marked, names


def _marked(argument: ast.expr) -> str:
    """The id that an argument marks; "" for none."""
    if isinstance(argument, ast.Call) and isinstance(argument.func, ast.Name) and argument.func.id == "N_":
        assert isinstance(argument.args[0], ast.Constant), "an id is a constant"
        return str(argument.args[0].value)
    return ""


def test_each_placeholder_has_a_value_and_each_value_a_placeholder() -> None:
    found = list(ids_and_values())
    assert len(found) > 300
    assert [(at, id_) for at, id_, names in found if set(PLACES.findall(id_)) != names] == []


def test_a_message_is_formatted_in_english_with_those_inside_it() -> None:
    who = Message(N_("the scoreboard"))
    assert str(Message(N_("a new %(noun)s"), noun=Message(N_("group")))) == "a new group"
    assert str(Message("100 %")) == "100 %"
    assert str(joined([who, "x"], "; ")) == "the scoreboard; x"


def test_pages_translate_ids_and_never_values() -> None:
    error = BadRequest(N_("no team %(team)r"), where="group", team="group")
    with languages.speaking("es"):
        assert translate(error.message) == "group: no hay equipo 'group'"
        assert translate(Message(N_("only an admin may do this"))) == "solo un administrador puede hacer esto"
    assert str(error) == "group: no team 'group'"


def test_a_rejected_move_is_a_message_with_its_phrases() -> None:
    rejected = Rejected.at(Phrase("move"), expected=Phrase("at most %(count)s from a pile", count=3), found="5")
    message = message_of(rejected)
    assert str(message) == "move: expected at most 3 from a pile, found 5"
    with languages.speaking("es"):
        assert translate(message) == "jugada: se esperaba como máximo 3 de un montón, se encontró 5"


def test_a_checkers_message_reaches_a_page_with_its_phrases() -> None:
    where = Phrase("jump %(number)s (%(line)s)", number=3, line=Phrase("line %(number)s", number=4))
    rejected = Rejected.at(where, expected=Phrase("a piece to jump over"), found="x")
    stored = json.loads(json.dumps(message_json(rejected.message)))
    assert stored["args"] == {"where": "jump 3 (line 4)", "expected": "a piece to jump over", "found": "x"}
    with languages.speaking("es"):
        assert in_words(stored) == "salto 3 (línea 4): se esperaba una pieza sobre la que saltar, se encontró x"


def test_a_fault_of_a_package_is_translated_with_what_was_expected_and_found() -> None:
    document = PackageError("a.in", "line 3", mismatch(N_("at most %(most)s bytes"), MORE, most="%s")).as_data()
    assert document["message"] == "expected at most %s bytes, found more"
    assert (document["line"], document["expected"], document["found"]) == (3, "at most %s bytes", "more")
    with languages.speaking("es"):
        assert translate(document["message"]) == "se esperaba como máximo %s bytes, se encontró más"
        assert (translate(document["expected"]), translate("more")) == ("como máximo %s bytes", "more")


def test_a_packages_checker_cannot_bring_texts_of_its_own() -> None:
    phrases = {"where": {"source": "%(x)9999999d", "values": {"x": 1}}}
    args = {"where": "a", "expected": "b", "found": "c"}
    message: MessageDocument = {
        "key": "expected-found",
        "text": "a: expected b, found c",
        "args": args,
        "phrases": phrases,
    }
    with languages.speaking("es"):
        assert in_words(message) == "a: se esperaba b, se encontró c"


def test_many_faults_are_listed_up_to_a_number() -> None:
    faults = [{"where": f"[{at}]", "expected": "a value", "found": "nothing"} for at in range(30)]
    assert (
        str(all_in_words(faults[:2], 2)) == "[0]: expected a value, found nothing; [1]: expected a value, found nothing"
    )
    assert str(all_in_words(faults, 30)).endswith("; and 10 more")


@pytest.mark.parametrize(
    ("limits", "times", "expected"),
    [
        (Limits(max_submissions=2), ago(1, 2), "expected at most 2 submissions to this problem, found 2 already"),
        (
            Limits(interval_seconds=10),
            ago(1.5),
            "expected at least 10 s between two submissions to this problem: your team may submit again in 9 s",
        ),
        (
            Limits(interval_seconds=10, per_window=PerWindow(count=2, seconds=60)),
            ago(20, 50),
            "expected at least 10 s between two submissions and at most 2 submissions in any 60 s to this problem:"
            " your team may submit again in 10 s",
        ),
    ],
)
def test_the_refusal_of_a_submission_names_the_limit(limits: Limits, times: list[datetime], expected: str) -> None:
    assert str(why_not(limits, quota(limits, times, NOW), NOW)) == expected

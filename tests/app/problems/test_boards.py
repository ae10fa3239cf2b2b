"""The boards play answers as the checkers do: each module is run by itself over every example answer of its problem."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from app.core.pages import languages
from app.core.pages.pages import PATHS
from app.daily.service import KINDS
from app.packages.read import read_package
from app.problems.pages.contest import TITLES
from app.problems.pages.frames_of_boards import BOARDS
from checkers.doors import AnyChecker, Phrase, Rejected, open_checker
from games.catalog import games, open_game
from games.doors import FIRST
from games.match import Computer, Match
from games.transcript import write
from tests.builders.scripts import Ask, open_module, written

ROOT = Path(__file__).parents[3]
PROBLEMS = ("comesolo", "lasttreat", "lazypiglets", "netgame", "optimiza", "rollingballs")
JUDGED = {"lasttreat", "netgame"}
"""Problems whose right answers are their whole point: their boards, which everyone may read, do not know them."""
PARSE = """
(() => {
  const parsed = board.parse(%s, %s);
  if (%s) parsed.stop ??= board.judged?.(parsed, %s);
  const all = board.frames(parsed);
  const said = [...new Set([0, all.count >> 1, all.count])].map((step) => board.say(all.seek(step)));
  const stop = parsed.stop ?? null;
  return JSON.stringify({ raw: parsed.raw, stop, steps: parsed.steps.length, count: all.count, said });
})()
"""


@cache
def module(name: str) -> Ask:
    """The board of a problem."""
    return open_module(PATHS[f"boards/{name}.js"])


def parsed(name: str, given: bytes, sent: bytes, where: str = "") -> Mapping[str, Any]:
    """What a board makes of an answer; `where` is the place that the server's rejection names."""
    place = json.dumps(where)
    return dict(json.loads(module(name)(PARSE % (written(given), written(sent), place, place))))


def answers(problem: str) -> Iterator[tuple[Path, Path]]:
    """The inputs of a problem, each with the answers of its example submissions, and its good and bad outputs.

    Answers to the same input come one after the other: a board works out once what they share.
    """
    folder = ROOT / "problems" / problem
    inputs = {path.stem: path for path in (folder / "data").rglob("*.in")}
    for path in sorted((folder / "submissions").rglob("*.out"), key=lambda path: (path.stem, path)):
        yield inputs[path.stem], path
    for kind in ("valid_output", "invalid_output"):
        for path in sorted((folder / "data" / kind).glob("*.out")):
            yield path.with_suffix(".in"), path


def judged(checker: AnyChecker, given: bytes, sent: bytes) -> tuple[int | None, str | None, str]:
    """The raw score of an answer without a reference, the words of its rejection, and the place that they name."""
    instance = checker.read_instance(given)
    try:
        return int(checker.score_answer(instance, checker.read_answer(sent, instance)).raw), None, ""
    except Rejected as rejected:
        return None, str(rejected), str(rejected.message.args.get("where", ""))


def test_each_of_the_six_problems_has_a_board() -> None:
    assert set(PROBLEMS) <= BOARDS
    assert all((ROOT / "problems" / name).is_dir() for name in PROBLEMS)


@pytest.mark.parametrize("problem", sorted(JUDGED))
def test_a_board_does_not_tell_a_right_answer_from_a_wrong_one_where_that_is_the_problem(problem: str) -> None:
    """It refuses what is no answer in the checker's words, and shows the step that the server's rejection names."""
    checker, steps = open_checker(problem), []
    for given, sent in answers(problem):
        texts = given.read_bytes(), sent.read_bytes()
        _, refusal, where = judged(checker, *texts)
        shown, with_place = parsed(problem, *texts), parsed(problem, *texts, where=where)
        assert (shown["raw"], with_place["raw"]) == (None, None), sent
        assert all(shown["said"] + with_place["said"]), sent
        place = re.fullmatch(r"position (\d+)|answer", where)
        if place is None:
            assert (shown["stop"] or {}).get("text") == refusal, sent
            assert with_place == shown
        else:
            step = int(place[1]) if place[1] else shown["steps"]
            assert (shown["stop"], with_place["stop"]["at"]) == (None, step), sent
            steps.append(step)
    assert {*steps} >= ({1, 2} if problem == "lasttreat" else {0, 1})


def test_no_script_of_the_pages_works_out_who_wins() -> None:
    """The words of closed forms and tables of positions: whoever adds one hands it to everyone during a contest."""
    scripts = [path for name, path in PATHS.items() if name.endswith(".js") and not name.startswith("swagger-ui/")]
    words = re.compile(r"sqrt\(5|golden|wythoff|k \+ 1n|% side|\bwonSets\b|\bisLost\b|\bwins\(", re.IGNORECASE)
    assert [path.name for path in scripts if words.search(path.read_text())] == []
    assert len(scripts) > 10


@pytest.mark.parametrize("problem", sorted({*PROBLEMS} - JUDGED))
def test_a_board_scores_and_rejects_every_example_answer_in_the_words_of_the_checker(problem: str) -> None:
    checker = open_checker(problem)
    kinds = set()
    for given, sent in answers(problem):
        raw, refusal, _ = judged(checker, given.read_bytes(), sent.read_bytes())
        shown = parsed(problem, given.read_bytes(), sent.read_bytes())
        stop = (shown["stop"] or {}).get("text")
        assert (shown["raw"], stop) == (raw, refusal), sent
        assert all(shown["said"]), sent
        kinds.add(refusal is None)
    assert kinds == {True, False}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_example_of_a_board_is_accepted(problem: str) -> None:
    example = json.loads(module(problem)("JSON.stringify(board.EXAMPLE)"))
    raw, refusal, _ = judged(open_checker(problem), example["input"].encode(), example["answer"].encode())
    assert (refusal, raw is not None and raw > 0) == (None, True)


STARTS = {
    "lasttreat": ["7 9 4\n", "13 5 3\nsecond to move\n"],
    "netgame": [open_game("netgame").sample],
    "optimiza": [open_game("optimiza").sample, "3 hex\n3\n1 2\n2 1 1\n"],
}


@pytest.mark.parametrize("name", STARTS)
def test_a_game_on_its_board_has_the_rules_of_the_referee(name: str) -> None:
    rules, ask = open_game(name), module(name)
    for number, instance in enumerate(STARTS[name] * 4):
        position, random = rules.start(instance), Random(number)
        ask(f"var position = board.game.start({json.dumps(instance)}); 0")
        while True:
            legal = rules.legal(position).moves
            state = json.loads(ask("JSON.stringify([board.game.turn(position), board.game.over(position)])"))
            shown = json.loads(ask("JSON.stringify(board.game.over(position) ? [] : board.game.moves(position))"))
            assert state[1] == rules.over(position)
            assert shown == (None if legal is None else list(legal))
            assert ask("board.game.say(position)")
            if rules.over(position):
                break
            assert state[0] == rules.to_move(position)
            move = random.choice(shown)
            position = rules.apply(position, move)
            ask(f"position = board.game.apply(position, {json.dumps(move)}); 0")


@pytest.mark.parametrize("name", STARTS)
def test_a_transcript_is_replayed_on_the_board_to_its_end(name: str) -> None:
    rules = open_game(name)
    players = (Computer(rules.opponents["optimal"], 3), Computer(rules.opponents["random"], 4))
    transcript = Match(rules, STARTS[name][0], players, FIRST, None, 5).play()
    text = write(transcript)
    shown = parsed("game", b"", text.encode())
    assert transcript.end is not None
    assert (shown["steps"], shown["stop"]) == (len(transcript.moves), None)
    assert shown["raw"] == (1 if transcript.end.winner == FIRST else None)
    assert f"The end: over, {rules.sides[transcript.end.winner or 0]} won." in shown["said"][-1]
    forged = parsed("game", b"", text.replace(transcript.moves[-1].text, "9 9").encode())
    assert forged["steps"] < len(transcript.moves)
    assert forged["stop"]["text"].startswith("move ")


def test_pieces_that_can_jump_are_shown_at_every_step_where_that_is_asked_for() -> None:
    ask = module("comesolo")
    ask("var all = board.frames(board.parse(board.EXAMPLE.input, board.EXAMPLE.answer)); 0")
    ask("var told = (frame) => JSON.stringify([frame.able ?? null, board.say(frame)]); 0")
    said = [
        json.loads(ask(f"told(all.seek({step}, {shown}))")) for step in (0, 1, 2) for shown in ("{}", "{ able: true }")
    ]
    start, asked, *_, end, end_asked = said
    assert start[0] is None
    assert "can jump" not in start[1]
    assert f"{len(asked[0])} of them can jump." in asked[1]
    assert len(asked[0]) > 0
    assert end == end_asked, "at the end they are always shown"
    assert "still jump" in end[1]


def test_boards_and_daily_puzzles_have_the_names_of_their_problems() -> None:
    for names in (TITLES, KINDS):
        for slug, name in names.items():
            assert read_package(ROOT / "problems" / slug).problem.name["en"] == name
    assert all(TITLES[slug] in game.title for slug, game in games().items())


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_part_of_a_rejection_of_the_example_answers_can_be_translated(problem: str) -> None:
    """A message with a known sentence and an unknown phrase would be half English."""
    checker = open_checker(problem)
    unknown: set[str] = set()
    for given, sent in answers(problem):
        instance = checker.read_instance(given.read_bytes())
        try:
            checker.score_answer(instance, checker.read_answer(sent.read_bytes(), instance))
        except Rejected as rejected:
            texts = [value for value in rejected.message.args.values() if isinstance(value, str)]
            unknown.update(*map(unknown_phrases, texts))
    assert unknown == set()


def unknown_phrases(text: str) -> set[str]:
    """The parts of a text that no catalogue has; numbers and quotations of the answer need none."""
    if isinstance(text, Phrase):
        values = [value for value in text.values.values() if isinstance(value, str)]
        with languages.speaking("es"):
            known = languages.gettext(text.source) != text.source
        return set().union(*map(unknown_phrases, values)) if known else {text.source}
    return {text} if re.search("[A-Za-z]{2}", text) and not text.startswith('"') else set()

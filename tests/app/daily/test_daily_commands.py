"""`jurado daily`: puzzles without a server, for any day, as inputs, drawings and JSON."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from typer.testing import CliRunner

from app.commands.main import app
from app.daily.service import READER
from checkers.optimiza import read_answer, read_instance

RUN = CliRunner()
AHEAD = "2030-01-01"


def test_a_puzzle_is_an_input_a_drawing_and_json_with_its_answer() -> None:
    one = ["daily", "--date", AHEAD, "--kind", "optimiza", "--size", "small"]
    text, drawn, document = (RUN.invoke(app, [*one, *more]) for more in ([], ["--svg"], ["--json"]))
    instance = read_instance(text.stdout_bytes)
    assert instance.size == 5
    assert ElementTree.fromstring(drawn.stdout).tag == "{http://www.w3.org/2000/svg}svg"
    puzzle = json.loads(document.stdout)
    assert puzzle["date"] == AHEAD
    assert read_answer(puzzle["answer"].encode(), instance).total == puzzle["z"]


def test_all_puzzles_of_a_day_are_listed() -> None:
    listed = RUN.invoke(app, ["daily", "--date", AHEAD, "--json"])
    assert len(READER.validate_json(listed.stdout).puzzles) == 9


def test_what_it_cannot_make_is_said() -> None:
    expected = {
        ("--date", "tomorrow"): "expected a day such as",
        ("--kind", "optimisa", "--size", "small"): "did you mean 'optimiza'?",
        ("--kind", "optimiza"): "expected --kind and --size together",
        ("--svg",): "expected --kind and --size together",
    }
    for words, sentence in expected.items():
        done = RUN.invoke(app, ["daily", *words])
        assert done.exit_code == 2, words
        assert sentence in " ".join(done.stderr.split()), (words, done.stderr)

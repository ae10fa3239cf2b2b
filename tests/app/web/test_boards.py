"""The boards play answers as the checkers do: each module is run by itself and asked for frames of real answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import JSUndefined, MiniRacer

from app.web.answers import BOARDS
from app.web.pages import HERE
from checkers import comesolo, rollingballs

ROOT = Path(__file__).parents[3]
Ask = Callable[[str], Any]


def module(name: str) -> Ask:
    """Load a board's module, without what needs a page; the result evaluates an expression with its functions."""
    source = (HERE / f"static/boards/{name}.js").read_text()
    source = re.sub(r"^import .*$", "", source, flags=re.MULTILINE)
    context = MiniRacer()
    context.eval(re.sub(r"^export ", "", source, flags=re.MULTILINE))

    def ask(expression: str) -> Any:
        value = context.eval(expression)
        return None if value is JSUndefined else value

    return ask


def cases(problem: str) -> list[tuple[Path, Path]]:
    """The inputs of a problem with the answers of its example submission."""
    folder = ROOT / "problems" / problem
    answers = sorted((folder / "submissions/accepted/reference").glob("*.out"))
    inputs = {path.stem: path for path in (folder / "data").rglob("*.in")}
    return [(inputs[path.stem], path) for path in answers]


def test_every_board_belongs_to_a_checker() -> None:
    assert {"comesolo", "rollingballs"} <= BOARDS
    assert all((ROOT / "problems" / name).is_dir() for name in BOARDS)


@pytest.mark.parametrize("paths", cases("comesolo"), ids=lambda paths: paths[1].stem)
def test_the_board_of_comesolo_ends_with_as_many_pieces_as_the_checker_counts(paths: tuple[Path, Path]) -> None:
    given, sent = (path.read_text() for path in paths)
    ask = module("comesolo")
    instance = comesolo.read_instance(given.encode())
    eaten = comesolo.read_answer(sent.encode(), instance).count
    ask(f"var parsed = parse({json.dumps(given)}, {json.dumps(sent)}); var all = frames(parsed); 0")
    assert ask("parsed.stop") is None
    assert ask("all.count") == eaten
    assert ask("all.seek(all.count).cells.reduce((sum, cell) => sum + cell, 0)") == instance.pieces - eaten
    middle = eaten // 2
    assert ask(f"all.seek({middle}).left") == instance.pieces - middle
    assert ask(f"say(all.seek({middle}))").endswith(f"{instance.pieces - middle} pieces left.") or middle == 0


@pytest.mark.parametrize(
    ("jumps", "fault"),
    [
        ("0 0 1 0", "a jump goes two cells"),
        ("2 2 0 0", "no piece stands where it begins"),
        ("0 0 2 0", "the cell between is empty"),
        ("0 1 0 3", "it leaves the board"),
        ("0 0 0 2", ""),
    ],
)
def test_the_board_of_comesolo_stops_where_the_checker_rejects(jumps: str, fault: str) -> None:
    ask = module("comesolo")
    stop = ask(f'var parsed = parse("3\\noo.\\n...\\n...\\n", "1\\n{jumps}\\n"); parsed.stop')
    assert (stop is None) if not fault else fault in stop


@pytest.mark.parametrize("paths", cases("rollingballs"), ids=lambda paths: paths[1].stem)
def test_the_board_of_rollingballs_ends_with_the_points_of_the_checker(paths: tuple[Path, Path]) -> None:
    given, sent = (path.read_text() for path in paths)
    ask = module("rollingballs")
    instance = rollingballs.read_instance(given.encode())
    score = rollingballs.score_answer(instance, rollingballs.read_answer(sent.encode(), instance))
    ask(f"var parsed = parse({json.dumps(given)}, {json.dumps(sent)}); var all = frames(parsed); 0")
    assert ask("parsed.stop") is None
    assert ask("all.seek(all.count).points") == int(score.raw)
    assert f"{int(score.raw)} points2" in ask("say(all.seek(all.count))")

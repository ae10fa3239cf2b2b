"""What the documents say is so."""

from __future__ import annotations

import itertools
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

from app.commands.main import app

PROJECT = Path(__file__).resolve().parents[1]
MAKEFILE = (PROJECT / "Makefile").read_text()
VERBS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")])
CURRENT = [page for page in PAGES if page.name != "CHANGELOG.md" and page.parent.name != "decisions"]
"""Pages that describe the present; the others quote commands of their time."""


SOURCES = [
    path
    for folder, endings in (
        ("app", "*.py *.html *.js *.txt"),
        ("deploy", "*.yaml *.json *.service *.timer *.conf *.env"),
    )
    for ending in endings.split()
    for path in sorted((PROJECT / folder).rglob(ending))
    if "jurado " in path.read_text()
]


@cache
def whole_command() -> object:
    """`jurado` with all its commands, put together once."""
    return typer.main.get_command(app)


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The names GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ +(.+?) *$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_help_explains_every_verb() -> None:
    told = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    explained = dict(re.findall(r"^make ([a-z-]+) +(\S.*)$", told.stdout, re.MULTILINE))
    assert set(explained) == VERBS


def test_every_verb_is_phony_so_that_no_file_of_its_name_hides_it() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == VERBS


@pytest.mark.parametrize("script", sorted(set(re.findall(r"scripts/\w+\.(?:py|sh)", MAKEFILE))))
def test_the_scripts_behind_the_verbs_exist(script: str) -> None:
    assert (PROJECT / script).exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_pages_name_only_verbs_that_exist(page: Path) -> None:
    named = set(re.findall(r"`make ([a-z][a-z-]*)", page.read_text()))
    named |= set(re.findall(r"^ *(?:\$ )?make ([a-z][a-z-]*)", page.read_text(), re.MULTILINE))
    assert named <= VERBS


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: str(page.relative_to(PROJECT)))
def test_files_that_pages_name_exist(page: Path) -> None:
    named = set(re.findall(r"`((?:app|ops|scripts|tests/app)/[a-z0-9_/.]+)`", page.read_text()))
    assert {path for path in named if not (PROJECT / path).exists()} == set()


def quoted_commands(text: str) -> list[str]:
    """The commands in backticks and `<code>`, placeholders of templates and f-strings as the word X."""
    plain = re.sub(r"\{\{.*?\}\}|\{[^{}\s]*\}|%\(\w+\)s", "X", text)
    found = re.findall(r"`(?:[A-Z_]+=\S+ +)*jurado ([a-z][^`\n]*)`|<code>jurado ([a-z][^<\n]*)</code>", plain)
    return [first or second for first, second in found]


def split_command(words: list[str]) -> tuple[object, list[str]]:
    """The command that the first words name, and the words that are left for it."""
    command = whole_command()
    while isinstance(command, TyperGroup) and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    return command, words


def alternatives(line: str) -> Iterator[list[str]]:
    """The words of every command that `admin problem versions|diff` or `backup | restore` stands for."""
    for each in line.split(" | ") if re.fullmatch(r"[a-z]+( \| [a-z]+)+", line) else [line]:
        words = shlex.split(re.split(r" [<>|] ", each)[0])
        lowest = next((at for at, word in enumerate(words) if re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", word)), None)
        choices = words[lowest].split("|") if lowest is not None else [""]
        yield from (
            [*words[:lowest], choice, *words[lowest + 1 :]] if lowest is not None else words for choice in choices
        )


@pytest.mark.parametrize("page", [*CURRENT, *SOURCES], ids=lambda page: str(page.relative_to(PROJECT)))
def test_quoted_commands_exist_and_take_the_arguments_shown(page: Path) -> None:
    """A quotation without arguments names a command; one with arguments must work as it is."""
    for words in itertools.chain.from_iterable(map(alternatives, quoted_commands(page.read_text()))):
        command, rest = split_command(words)
        if isinstance(command, TyperGroup):
            assert not rest, f"no command {' '.join(words)}"
        elif rest and "--help" not in rest and "..." not in rest:
            assert isinstance(command, TyperCommand), words
            options = {name for param in command.params for name in param.opts}
            if rest[-1].startswith("--") and len(rest) == 1:  # the option itself is meant
                assert rest[0] in options, words
                continue
            with command.make_context(" ".join(words), rest):
                pass


@pytest.mark.parametrize("page", [*PAGES, *SOURCES], ids=lambda page: str(page.relative_to(PROJECT)))
def test_commands_in_running_text_exist(page: Path) -> None:
    mark = r"(?:^ *(?:\$ )?|bin/|run |see |next: |; |then |start )"
    for words in re.findall(rf"{mark}jurado ([a-z][a-z -]*)", page.read_text(), re.MULTILINE):
        command, rest = split_command(words.split())
        assert command is not whole_command(), f"jurado {words}"
        assert not (isinstance(command, TyperGroup) and rest), f"jurado {words}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_pages_give_commands_only_arguments_and_options_that_they_take(page: Path) -> None:
    for line in re.findall(r"^ *(?:\$ )?(?:\.venv/bin/)?jurado (.*)$", page.read_text(), re.MULTILINE):
        command, rest = split_command(shlex.split(re.split(r" [<>|] ", line)[0], comments=True))
        assert isinstance(command, TyperCommand), line
        with command.make_context("jurado", rest):
            pass


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


def test_every_decision_has_its_four_parts_and_is_listed() -> None:
    folder = PROJECT / "docs" / "decisions"
    listed = (folder / "README.md").read_text()
    for page in folder.glob("[0-9]*.md"):
        parts = re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE)
        assert parts == ["Context", "Decision", "Consequences", "Alternatives"], page.name
        assert f"({page.name})" in listed, page.name

"""What the documents say is so."""

from __future__ import annotations

import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

from app.cli.main import app

PROJECT = Path(__file__).resolve().parents[1]
MAKEFILE = (PROJECT / "Makefile").read_text()
VERBS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")])


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_pages_name_only_commands_that_exist(page: Path) -> None:
    for words in re.findall(r"(?:`|^ *(?:\$ )?|bin/)jurado ([a-z][a-z -]*)", page.read_text(), re.MULTILINE):
        command = whole_command()
        for word in words.split():
            if not isinstance(command, TyperGroup):
                break
            assert word in command.commands, f"jurado {words}"
            command = command.commands[word]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_pages_give_commands_only_arguments_and_options_that_they_take(page: Path) -> None:
    for line in re.findall(r"^ *(?:\$ )?(?:\.venv/bin/)?jurado (.*)$", page.read_text(), re.MULTILINE):
        words = shlex.split(re.split(r" [<>|] ", line)[0], comments=True)
        command = whole_command()
        while isinstance(command, TyperGroup) and words and words[0] in command.commands:
            command = command.commands[words.pop(0)]
        assert isinstance(command, TyperCommand), line
        with command.make_context("jurado", words):
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

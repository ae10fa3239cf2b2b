"""The pictures of the bundled statements are drawn from the samples that they explain."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from app.packages.catalog import bundled, bundled_games
from app.packages.markdown import image_links, parser
from app.packages.read import read_package
from scripts import figures

FOLDERS = {**bundled(), **bundled_games()}


def test_the_pictures_are_as_their_samples_are() -> None:
    assert figures.outdated() == []


@pytest.mark.parametrize("name", figures.FIGURES)
def test_a_picture_fetches_nothing_runs_nothing_and_follows_the_theme(name: str) -> None:
    text = (figures.PROBLEMS / name).read_text("utf-8")
    assert "prefers-color-scheme: dark" in text
    assert set(re.findall(r"[a-z]+://[^\"]+", text)) == {"http://www.w3.org/2000/svg"}
    names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}
    assert names <= {"svg", "style", "rect", "circle", "line", "path", "polygon", "text"}


@pytest.mark.parametrize("slug", FOLDERS)
def test_every_language_shows_the_same_pictures_each_with_a_description_in_that_language(slug: str) -> None:
    statements = read_package(FOLDERS[slug]).statements
    parts = [name.split("/") for name in figures.FIGURES]
    drawn = [name for *_, folder, _, name in parts if folder == slug]
    descriptions: dict[str, set[str]] = {}
    for language, statement in statements.items():
        assert [address for _, address in image_links(statement.text)] == drawn, language
        images = [child for token in parser().parse(statement.text) for child in token.children or ()]
        for image in (child for child in images if child.type == "image"):
            assert len(image.content) > 40, (language, image.content)
            descriptions.setdefault(str(image.attrs["src"]), set()).add(image.content)
    assert all(len(texts) == len(statements) for texts in descriptions.values())


@pytest.mark.parametrize("slug", FOLDERS)
def test_every_statement_names_the_authors_and_links_the_sources_of_its_problem(slug: str) -> None:
    package = read_package(FOLDERS[slug])
    credits = package.problem.credits
    named = [person.name for person in (*(credits.authors or ()), *(credits.contributors or ()))]
    linked = [source.url for source in package.problem.source if source.url]
    assert linked
    for language, statement in package.statements.items():
        text = " ".join(statement.text.split())
        assert [each for each in (*named, *linked) if each not in text] == [], language


@pytest.mark.parametrize("language", ["en", "es"])
def test_comesolo_describes_its_picture_and_the_first_jump_of_its_second_sample(language: str) -> None:
    given = figures.sample("comesolo", "02-sample.in").decode().split()
    jump = figures.sample("comesolo", "02-sample.out").decode().splitlines()[1]
    r1, c1, r2, c2 = map(int, jump.split())
    text = read_package(FOLDERS["comesolo"]).statements[language].text
    description = re.findall(r"!\[(.+?)\]", text)[0]
    size, pieces = int(given[0]), "".join(given[1:]).count("o")
    expected = [size, size, pieces, r1, c1, (r1 + r2) // 2, (c1 + c2) // 2, r2, c2]
    assert [int(number) for number in re.findall(r"\d+", description)] == expected
    samples = " ".join(text[text.index(f"`{jump}`") :].split())
    assert [int(number) for number in re.findall(r"\d+", samples)[:8]] == [r1, c1, r2, c2, r1, c1, r2, c2]

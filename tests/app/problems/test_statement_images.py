"""Images of statements, for exactly those who may read the statement."""

from __future__ import annotations

import re
from dataclasses import replace

from app.packages.markdown import local_image
from tests.builders.contests import HOUR, add_contest, add_problem
from tests.builders.service import Api, serve

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>\n'
PACKAGE = {
    "statement/problem.en.md": "![a cat](cat.png) ![a drawing](figures/d-one.svg#x)\n",
    "statement/problem.es.md": "![un gato](./gato.png)\n",
    "statement/cat.png": PNG,
    "statement/gato.png": PNG + b"2",
    "statement/figures/d-one.svg": SVG,
    "statement/unused.png": PNG,
}
PAGE = "contests/c/problems/echo/statement"


def test_a_statement_shows_its_images_by_addresses_that_lead_to_them(quick_api: Api) -> None:
    add_problem(quick_api.service, PACKAGE)
    add_contest(quick_api.service)
    page = quick_api.get(f"{PAGE}?lang=en").text
    assert re.findall(r'<img src="([^"]*)"', page) == ["statement/cat.png", "statement/figures/d-one.svg"]
    spanish = quick_api.get(f"{PAGE}?lang=es").text
    assert re.findall(r'<img src="([^"]*)"', spanish) == ["statement/gato.png"]
    for name, media_type, data in (
        ("cat.png", "image/png", PNG),
        ("figures/d-one.svg", "image/svg+xml", SVG),
        ("gato.png", "image/png", PNG + b"2"),
    ):
        image = quick_api.get(f"{PAGE}/{name}")
        assert (image.status_code, image.headers["content-type"], image.content) == (200, media_type, data)
        assert image.headers["x-content-type-options"] == "nosniff"
        assert image.headers["content-security-policy"].endswith("; sandbox")
        again = quick_api.get(f"{PAGE}/{name}", headers={"If-None-Match": image.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert quick_api.get("contests/c/problems/a/statement/cat.png").status_code == 200


def test_what_no_statement_shows_is_not_served(quick_api: Api) -> None:
    add_problem(quick_api.service, PACKAGE)
    add_contest(quick_api.service)
    for name in ("unused.png", "problem.en.md", "..%2Fproblem.yaml", "figures", "cat.gif"):
        assert quick_api.get(f"{PAGE}/{name}").status_code == 404, name


def test_before_the_start_only_judges_see_the_images(quick_api: Api) -> None:
    add_problem(quick_api.service, PACKAGE)
    add_contest(quick_api.service, started=-HOUR)
    replies = [quick_api.get(f"{PAGE}/cat.png", user=user).status_code for user in (None, "team", "judge")]
    assert replies == [404, 404, 200]


def test_an_address_that_leads_out_of_the_folder_is_no_image_of_it() -> None:
    away = ["../x.png", "/x.png", "a/../../x.png", "https://a.b/x.png", "//a.b/x.png", "data:image/png,x", "", "."]
    assert [local_image(address) for address in away] == [None] * len(away)
    assert local_image("a/../b.png?x#y") == "b.png"


def test_a_statement_as_markdown_has_whole_addresses_of_its_images_and_keeps_its_code(quick_api: Api) -> None:
    text = """![a cat](cat.png "Tom") and `![a cat](cat.png)` and ![far](https://a.b/x.png) ![with a title][drawing]

[drawing]: <figures/d-one.svg>

    ![a cat](cat.png)
"""
    add_problem(quick_api.service, {**PACKAGE, "statement/problem.en.md": text})
    add_contest(quick_api.service)
    asked = {"Accept": "text/markdown"}
    sent = quick_api.get(f"{PAGE}?lang=en", headers=asked)
    address = str(sent.url).partition("?")[0]
    written = text.replace('(cat.png "', f'({address}/cat.png "')
    assert written.replace("<figures/d-one.svg>", f"{address}/figures/d-one.svg") in sent.text
    for image in re.findall(rf"{address}/[a-z./-]+", sent.text):
        assert quick_api.get(image.partition("/api/")[2]).status_code == 200
    service = replace(quick_api.service, settings=quick_api.service.settings.model_copy(update={"root_path": "/judge"}))
    with serve(service) as behind:
        shown = behind.get(f"{PAGE}?lang=es", headers=asked).text
    assert "/judge/api/contests/c/problems/echo/statement/gato.png)" in shown

"""Marks of writing direction in texts of others end with the text, also within sentences that are translated."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from app.core.pages.pages import ENVIRONMENT, closed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\u202eb", "\u202eb\u202c"),
        ("\u2067\u202eb\u2069c", "\u2067\u202eb\u2069c"),
        ("\u2067\u202bb", "\u2067\u202bb\u202c\u2069"),
        ("a\u202c\u2069b", "ab"),
        ("\u2068\u05d0\u2069 ok", "\u2068\u05d0\u2069 ok"),
        (Markup("<b>\u202eb</b>"), Markup("<b>\u202eb</b>\u202c")),
    ],
)
def test_a_text_ends_what_it_begins_and_nothing_else(text: str, shown: str) -> None:
    assert closed(text) == shown
    assert isinstance(closed(text), Markup) == isinstance(text, Markup)


def test_a_template_closes_texts_alone_in_attributes_and_in_sentences() -> None:
    template = ENVIRONMENT.from_string('<i title="{{ name }}">{{ name }}</i>{{ _("by %(name)s", name=name) }}.')
    html = template.render(name="\u202e<b>")
    assert html == '<i title="\u202e&lt;b&gt;\u202c">\u202e&lt;b&gt;\u202c</i>by \u202e&lt;b&gt;\u202c.'

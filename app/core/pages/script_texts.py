"""The texts of the pages' scripts in one language, as a script that the pages load before theirs.

English has none: it stands in the scripts themselves.
"""

from __future__ import annotations

import json
from functools import cache

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from app.core.pages.languages import CATALOGUES


@cache
def script_of(language: str) -> str:
    """The script with the texts of a language; its plural rule is the catalogue's own, which is C and JavaScript."""
    with (CATALOGUES / f"{language}.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    texts = json.dumps(texts_of_scripts(catalogue), ensure_ascii=False, separators=(",", ":"))
    rule = f"(n) => Number({catalogue.plural_expr})"
    return f'"use strict";\nglobalThis.juradoMessages = {{ plural: {rule}, texts: {texts} }};\n'


def texts_of_scripts(catalogue: Catalog) -> dict[str, str | list[str]]:
    """The translated messages that stand in scripts: of those with a count every form, under the first."""
    texts: dict[str, str | list[str]] = {}
    for message in catalogue:
        if message.fuzzy or not any(str(path).endswith(".js") for path, _ in message.locations):
            continue
        forms = [message.string or ""] if isinstance(message.string, str | None) else list(message.string)
        if not all(forms):
            continue
        if isinstance(message.id, str):
            texts[message.id] = forms[0]
        else:
            texts[message.id[0]] = forms
    return texts

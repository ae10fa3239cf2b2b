"""Marks of writing direction in texts of others: each text closes its own, so that no word after it is turned round."""

from __future__ import annotations

import re

from markupsafe import Markup

MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")
EMBEDDINGS, POP_EMBEDDING = frozenset("\u202a\u202b\u202d\u202e"), "\u202c"
ISOLATES, POP_ISOLATE = frozenset("\u2066\u2067\u2068"), "\u2069"


def closed(value: object) -> object:
    """A value as a template shows it: a text without ends of what it has not begun, and with those that it lacks.

    Text with well-paired marks, as people write Arabic or Hebrew names, stays as it is. HTML is closed as a whole: a
    translated sentence comes as HTML with the texts that it names in it.
    """
    if not isinstance(value, str) or value.isascii() or not MARKS.search(value):
        return value
    shown: list[str] = []
    still_open: list[str] = []
    for each in value:
        if each in EMBEDDINGS:
            still_open.append(POP_EMBEDDING)
        elif each in ISOLATES:
            still_open.append(POP_ISOLATE)
        elif each == POP_ISOLATE and POP_ISOLATE in still_open:
            while still_open.pop() != POP_ISOLATE:  # it ends the embeddings within it too
                pass
        elif each == POP_EMBEDDING and still_open[-1:] == [POP_EMBEDDING]:
            still_open.pop()
        elif each in {POP_EMBEDDING, POP_ISOLATE}:
            continue
        shown.append(each)
    whole = "".join([*shown, *reversed(still_open)])
    return Markup(whole) if isinstance(value, Markup) else whole  # marks are no HTML

"""The walk of `make walk` asks every route that the service describes, with values for what its address names."""

from __future__ import annotations

import re

from ops.walk.record import FIXED, LISTS, OBJECTS
from tests.builders.described import document

BY_ITSELF = {"contest_id"}


def test_every_parameter_of_an_address_that_is_read_has_values_or_is_known_to_have_none() -> None:
    known = {*LISTS, *FIXED, *BY_ITSELF}
    missing = [
        f"{path}: {name}"
        for path, operations in document()["paths"].items()
        if "get" in operations
        for name in re.findall(r"\{(\w+)\}", path)
        if name not in known and not (name == "object_id" and OBJECTS.search(path))
    ]
    assert missing == []

"""Identifiers in packages: codes of languages, and the formats of other judges."""

import re
from typing import Literal, get_args

LANGUAGE_CODE = r"^[a-z]{2,3}(-[A-Z]{2})?$"
LANGUAGE = re.compile(LANGUAGE_CODE)


Format = Literal["kattis", "omegaup", "cms", "polygon"]
FORMATS: tuple[Format, ...] = get_args(Format)

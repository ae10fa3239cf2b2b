"""Identifiers in packages: codes of languages, the formats of other judges, and the names of answer files."""

import re
from typing import Literal

LANGUAGE_CODE = r"^[a-z]{2,3}(-[A-Z]{2})?$"
LANGUAGE = re.compile(LANGUAGE_CODE)


Format = Literal["kattis", "omegaup", "cms", "polygon"]

# The names of answer files where a problem has no pattern of its own; earlier ones win.
PATTERNS = ("{case}.out", "{case}.ans", "{case}.txt", "output_{case}.txt")

"""Codes of the languages of statements, such as en and pt-BR."""

from __future__ import annotations

import re

LANGUAGE_CODE = r"^[a-z]{2,3}(-[A-Z]{2})?$"
LANGUAGE = re.compile(LANGUAGE_CODE)

"""The names of the formats of other judges."""

from __future__ import annotations

from typing import Literal, get_args

Format = Literal["kattis", "omegaup", "cms", "polygon"]
FORMATS: tuple[Format, ...] = get_args(Format)

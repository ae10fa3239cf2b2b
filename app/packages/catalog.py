"""Which problems are bundled: every folder of `problems/` with a problem.yaml, found by walking, listed nowhere."""

from __future__ import annotations

import os
from pathlib import Path

from app.packages.errors import PackageError, PackageErrors

VARIABLE = "JURADO_PROBLEMS"
BESIDE_APP = Path(__file__).resolve().parents[2] / "problems"


def problems_folder() -> Path:
    """Find the folder of bundled packages: JURADO_PROBLEMS, else `problems/` beside the package `app` or below `.`.

    Raises PackageErrors naming the places looked at where there is none.
    """
    named = os.environ.get(VARIABLE)
    places = [Path(named)] if named else [BESIDE_APP, Path.cwd() / "problems"]
    for place in places:
        if place.is_dir():
            return place
    looked = ", ".join(map(str, places))
    raise PackageErrors([PackageError("", "", f"expected a folder of problem packages, found none at {looked}")])


def bundled() -> dict[str, Path]:
    """List the bundled packages: slug to folder, sorted by slug."""
    return {path.name: path for path in sorted(problems_folder().iterdir()) if (path / "problem.yaml").is_file()}

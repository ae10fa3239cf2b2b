"""Takes zips apart; `app.packages.zips` makes them."""

from __future__ import annotations

import io
import zipfile


def unzipped(archive: bytes) -> dict[str, bytes]:
    """What is in a zip, by path."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}

"""Finds the browser of this machine, without importing what drives it."""

from __future__ import annotations

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The path of a Chromium on this machine; None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path is not None), None)

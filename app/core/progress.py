"""Progress of long work, as routes hand it to whoever does the work."""

from __future__ import annotations

from app.core.steps import SILENT, Steps

__all__ = ["SILENT", "Steps"]

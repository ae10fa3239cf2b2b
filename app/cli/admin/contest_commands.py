"""All commands of `jurado admin contest`: importing this module adds those of the other modules to the group."""

from app.cli.admin import (
    contest_life,
    contest_packages,
    contest_reveal,
    contest_settings,
    contest_times,
    problem_versions,
    quota,
    roles,
)
from app.cli.admin.contests import contest

__all__ = [
    "contest",
    "contest_life",
    "contest_packages",
    "contest_reveal",
    "contest_settings",
    "contest_times",
    "problem_versions",
    "quota",
    "roles",
]

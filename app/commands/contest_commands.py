"""All commands of `jurado admin contest`: importing this module adds those of the other modules to the group."""

from app.accounts.commands import roles
from app.archive.commands import contest_packages
from app.authoring.commands import problem_versions
from app.contests.commands import contest_life, contest_settings, contest_times
from app.contests.commands.contests import contest
from app.scoreboard.commands import contest_reveal
from app.submissions.commands import quota

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

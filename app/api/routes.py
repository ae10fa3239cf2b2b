"""Every router below /api: first those asked most, because routes are tried in this order."""

from __future__ import annotations

from fastapi import APIRouter

from app.api import (
    access,
    accounts,
    awards,
    clarifications,
    commentary,
    contest_export,
    contest_import,
    contest_problems,
    contests,
    directory,
    jobs,
    judgements,
    judging,
    packages,
    problems,
    rejudgings,
    reports,
    scoreboard,
    similarity,
    sources,
    submissions_read,
    submit,
    teams,
    testcases,
    tokens,
)
from app.api.feed import boards, webhooks
from app.api.feed import routes as feed

ROUTERS: tuple[APIRouter, ...] = (
    submit.router,
    scoreboard.router,
    boards.router,
    feed.router,
    contests.router,
    contest_problems.router,
    access.router,
    judging.router,
    teams.router,
    accounts.router,
    directory.router,
    clarifications.router,
    awards.router,
    commentary.router,
    contest_export.router,
    contest_import.router,
    tokens.router,
    packages.router,
    problems.router,
    testcases.router,
    submissions_read.router,
    reports.router,
    sources.router,
    similarity.router,
    judgements.router,
    rejudgings.router,
    jobs.router,
    webhooks.router,
)

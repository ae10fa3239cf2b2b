"""Every router below /api, in the order of the documentation."""

from __future__ import annotations

from fastapi import APIRouter

from app.api import (
    access,
    accounts,
    contest_problems,
    contests,
    jobs,
    judgements,
    judging,
    packages,
    problems,
    reports,
    scoreboard,
    submissions_read,
    submit,
    teams,
    testcases,
    tokens,
)

ROUTERS: tuple[APIRouter, ...] = (
    contests.router,
    contest_problems.router,
    access.router,
    judging.router,
    teams.router,
    accounts.router,
    tokens.router,
    packages.router,
    problems.router,
    testcases.router,
    submit.router,
    submissions_read.router,
    reports.router,
    judgements.router,
    scoreboard.router,
    jobs.router,
)

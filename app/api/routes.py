"""Every router below /api, in the order of the documentation."""

from __future__ import annotations

from fastapi import APIRouter

from app.api import contests, jobs, scoreboard, submit

ROUTERS: tuple[APIRouter, ...] = (
    contests.router,
    submit.router,
    scoreboard.router,
    jobs.router,
)

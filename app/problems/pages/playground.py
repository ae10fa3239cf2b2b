"""The playground: any input and any answers from the reader's disk on a board. Nothing of it is sent to the server."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.contests.service.names import did_you_mean
from app.core.errors import NotFound
from app.core.messages import N_, Message
from app.core.pages.pages import page
from app.core.pages.visitor import Visitor
from games.catalog import games

TITLES = {
    "comesolo": "Comesolo",
    "rollingballs": "Rolling Balls",
    "lazypiglets": "Lazy Piglets",
    "lasttreat": "The Last Treat",
    "optimiza": "Optimiza",
    "netgame": "The Net Game",
}
"""The boards by the checkers that they belong to, each with its name."""


def playground(request: Request, viewer: Visitor, slug: str) -> HTMLResponse:
    """The playground of one board; two people may play there where it is one of a game."""
    if slug not in TITLES:
        raise NotFound(did_you_mean(Message(N_("no board %(board)r"), board=slug), slug, TITLES))
    return page("playground.html", request, viewer=viewer, slug=slug, titles=TITLES, game=games().get(slug))

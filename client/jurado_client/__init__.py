"""The client of Jurado: `Client` for programs and notebooks, `AsyncClient` for asyncio."""

from jurado_client.client import AsyncClient, Client
from jurado_client.connection import JuradoError, Refused, Unreachable
from jurado_client.models import CaseResult, Contest, Event, Game, History, Problem, Report, Row, Scoreboard

__all__ = [
    "AsyncClient",
    "CaseResult",
    "Client",
    "Contest",
    "Event",
    "Game",
    "History",
    "JuradoError",
    "Problem",
    "Refused",
    "Report",
    "Row",
    "Scoreboard",
    "Unreachable",
]

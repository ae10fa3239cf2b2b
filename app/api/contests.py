"""Contests: what they are called, when they run, what they consist of."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from app.api import clics, openapi

router = APIRouter(tags=["contests"])


class Provider(BaseModel):
    """Who answers."""

    name: str
    version: str


class ApiInformation(BaseModel):
    """Which API this is."""

    version: str
    version_url: str
    provider: Provider


@router.get("/", summary="Which API this is")
async def api_information() -> ApiInformation:
    """The version of the CLICS Contest API, and who provides it."""
    return ApiInformation(
        version=clics.VERSION,
        version_url=clics.VERSION_URL,
        provider=Provider(name="Jurado", version=openapi.version()),
    )

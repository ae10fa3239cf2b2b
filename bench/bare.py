"""The yardstick of acceptance: a FastAPI route that only commits one durable row a request."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request

CONNECTIONS = 32


def create_app() -> FastAPI:
    """Build the application; BARE_DATABASE names the file of its database, or a PostgreSQL as libpq wants it."""
    name = os.environ["BARE_DATABASE"]
    return _on_postgresql(name) if name.startswith("postgresql:") else _on_sqlite(name)


def _on_sqlite(name: str) -> FastAPI:
    app = FastAPI()
    connection = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, data BLOB)")

    @app.post("/answers", status_code=201)
    async def take(request: Request) -> dict[str, int]:
        data = await request.body()
        connection.execute("BEGIN IMMEDIATE")
        row = connection.execute("INSERT INTO answers (data) VALUES (?)", (data,))
        connection.execute("COMMIT")
        return {"id": row.lastrowid or 0}

    return app


def _on_postgresql(name: str) -> FastAPI:
    """Give each of the requests that run at once a connection and a commit of its own."""
    from psycopg import AsyncConnection

    free: asyncio.Queue[AsyncConnection[tuple[Any, ...]]] = asyncio.Queue()

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        for _ in range(CONNECTIONS):
            connection = await AsyncConnection.connect(name, autocommit=True)
            await connection.execute(TABLE)
            free.put_nowait(connection)
        yield

    app = FastAPI(lifespan=lifespan)

    @app.post("/answers", status_code=201)
    async def take(request: Request) -> dict[str, int]:
        data = await request.body()
        connection = await free.get()
        try:
            row = await (await connection.execute(INSERT, [data])).fetchone()
        finally:
            free.put_nowait(connection)
        return {"id": row[0] if row else 0}

    return app


TABLE = "CREATE TABLE IF NOT EXISTS bare (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, data BYTEA)"
INSERT = "INSERT INTO bare (data) VALUES (%s) RETURNING id"

"""The yardstick of acceptance: a FastAPI route that only commits one durable SQLite row a request."""

from __future__ import annotations

import os
import sqlite3

from fastapi import FastAPI, Request


def create_app() -> FastAPI:
    """Build the application; BARE_DATABASE names the file of its database."""
    app = FastAPI()
    connection = sqlite3.connect(os.environ["BARE_DATABASE"], isolation_level=None, check_same_thread=False)
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

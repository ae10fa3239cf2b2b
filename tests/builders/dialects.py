"""SQLite and PostgreSQL as SQLAlchemy speaks with them, with what it has compiled shared by all engines of a process.

A test opens a database of its own, thus three new engines, each of which would compile all its statements again.
"""

from __future__ import annotations

from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

STATEMENTS: LRUCache = LRUCache(5_000)


class _Shared(DefaultDialect):
    """A dialect that equals the others of its class, as keys of compiled statements hold it."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Give a new engine the statements of all others."""
        engine.update_execution_options(compiled_cache=STATEMENTS)


class SharedSQLite(_Shared, SQLiteDialect_pysqlite):
    """SQLite."""

    supports_statement_cache = True


class SharedPostgreSQL(_Shared, PGDialect_psycopg):
    """PostgreSQL."""

    supports_statement_cache = True


def share_statements() -> None:
    """Let the engines that are created from now on share what they compile."""
    for name, dialect in (("sqlite", SharedSQLite), ("postgresql.psycopg", SharedPostgreSQL)):
        registry.register(name, __name__, dialect.__name__)

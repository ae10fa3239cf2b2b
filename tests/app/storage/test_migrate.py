"""A database of an older version keeps what it holds when it is brought up to date."""

from __future__ import annotations

from alembic import command
from sqlalchemy import create_engine, text

from app.core.db.database import Database
from app.core.db.migrate import alembic_config, upgrade
from app.problems.queries.scoring_input import scored_contest
from app.tables import ContestRow

BEFORE = "83d68422ca6f"
"""The last version in which nobody was enrolled in a contest open to all."""


def test_the_board_of_a_final_contest_open_to_all_keeps_its_teams(database_url: str) -> None:
    command.downgrade(alembic_config(database_url), BEFORE)
    engine = create_engine(database_url)
    with engine.begin() as connection:
        teams = (
            "INSERT INTO teams (id, name, label, hidden) VALUES ('ants', 'Ants', '1', :no), ('bees', 'Bees', '2', :no)"
        )
        connection.execute(text(teams), {"no": False})
        connection.execute(
            text(
                "INSERT INTO contests (id, name, duration_ms, open_to_all, settings, finalized)"
                " VALUES ('c', 'C', 1, :yes, '{}', '2026-11-21 10:00:00')"
            ),
            {"yes": True},
        )
        connection.execute(text("INSERT INTO contest_teams (contest_id, team_id) VALUES ('c', 'bees')"))
    engine.dispose()
    upgrade(database_url)
    database = Database(database_url)
    with database.read() as session:
        contest = scored_contest(session, "c")
    assert contest is not None
    assert [team.id for team in contest.official_teams] == ["ants", "bees"]
    database.close()


def test_every_contest_gets_a_secret_and_keeps_that_of_its_feed(database_url: str) -> None:
    command.downgrade(alembic_config(database_url), "c41d0f7a2b68")
    engine = create_engine(database_url)
    with engine.begin() as connection:
        for id_, details in (("old", '{"feed_secret": "of-the-feed", "location": null}'), ("new", "{}")):
            connection.execute(
                text(
                    "INSERT INTO contests (id, name, duration_ms, open_to_all, settings, details)"
                    " VALUES (:id, 'Any', 1, :yes, '{}', :details)"
                ),
                {"id": id_, "yes": True, "details": details},
            )
    engine.dispose()
    upgrade(database_url)
    database = Database(database_url)
    with database.read() as session:
        old, new = session.get_one(ContestRow, "old"), session.get_one(ContestRow, "new")
    assert (old.secret, old.details) == ("of-the-feed", {"location": None})
    assert len(new.secret) == 32
    database.close()


def test_a_feed_told_to_accounts_goes_on_with_what_their_teams_were_told(database_url: str) -> None:
    """An event whose id is the last one stays: the log goes on behind it."""
    command.downgrade(alembic_config(database_url), "c7f21e5a9b04")
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(
            text("INSERT INTO teams (id, name, label, hidden) VALUES ('t', 'T', '1', :no)"), {"no": False}
        )
        now = {"now": "2026-11-21 10:00:00"}
        account = "INSERT INTO accounts (id, username, type, team_id, created) VALUES ('a', 'a', 'team', 't', :now)"
        connection.execute(text(account), now)
        contest = "INSERT INTO contests (id, name, duration_ms, open_to_all, settings) VALUES ('c', 'C', 1, :yes, '{}')"
        connection.execute(text(contest), {"yes": True})
        for id_, audience, owner, kind in (
            (1, "a", "a", "accounts"),
            (2, "a", "a", "submissions"),
            (3, "oj", "t", "submissions"),
            (4, "a", "a", "submissions"),
        ):
            connection.execute(
                text("INSERT INTO events VALUES ('c', :id, :audience, :owner, :kind, 'x', '{}', :now)"),
                {"id": id_, "audience": audience, "owner": owner, "kind": kind, **now},
            )
    upgrade(database_url)
    with engine.begin() as connection:
        rows = connection.execute(text("SELECT id, audience, owner, type FROM events ORDER BY id")).all()
    assert [tuple(row) for row in rows] == [
        (1, "a", "a", "accounts"),
        (3, "oj", "t", "submissions"),
        (4, "o", "t", "submissions"),
    ]
    engine.dispose()

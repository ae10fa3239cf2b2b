"""A database of an older version keeps what it holds when it is brought up to date."""

from __future__ import annotations

from alembic import command
from sqlalchemy import create_engine, text

from app.storage.database import Database
from app.storage.migrate import alembic_config, upgrade
from app.storage.scoring_input import scored_contest
from app.storage.tables import ContestRow

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
